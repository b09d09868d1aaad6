// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Address arithmetic of AXI4 bursts. */
object BurstAddress {

  /** Address of the beat after the one at `addr`. */
  def next(transfer: Axi4Address, addr: UInt, p: Axi4Params): UInt = {
    val within = UIntToOH(transfer.size)(7, 0) - 1.U // mask of the address bits within a beat
    val following = ((addr | within) + 1.U)(p.addressBits - 1, 0)
    // A WRAP burst stays in an aligned block of its own size, since its number of beats is a power of two.
    val block = ((transfer.len << transfer.size) | within).pad(p.addressBits)
    val stays = Mux(
      transfer.burst === Axi4.Burst.Wrap.U,
      ~block,
      Fill(p.addressBits, transfer.burst === Axi4.Burst.Fixed.U)
    )
    (addr & stays) | (following & ~stays)
  }
}
