// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** How the address of a burst changes: the bits within a beat, and those that stay. */
class BurstMasks(p: Axi4Params) extends Bundle {
  val within = UInt(7.W)
  val stays = UInt(p.addressBits.W)
}

/** Address arithmetic of AXI4 bursts. */
object BurstAddress {
  def masks(transfer: Axi4Address, p: Axi4Params): BurstMasks = {
    val masks = Wire(new BurstMasks(p))
    masks.within := UIntToOH(transfer.size)(7, 0) - 1.U
    // A WRAP burst stays in an aligned block of its own size, since its number of beats is a power of two.
    val block = ((transfer.len << transfer.size) | masks.within).pad(p.addressBits)
    masks.stays := Mux(
      transfer.burst === Axi4.Burst.Wrap.U,
      ~block,
      Fill(p.addressBits, transfer.burst === Axi4.Burst.Fixed.U)
    )
    masks
  }

  /** Address of the beat after the one at `addr`. */
  def next(masks: BurstMasks, addr: UInt): UInt = {
    val following = (addr | masks.within) + 1.U
    (addr & masks.stays) | (following & ~masks.stays)
  }
  def next(transfer: Axi4Address, addr: UInt, p: Axi4Params): UInt = next(masks(transfer, p), addr)
}
