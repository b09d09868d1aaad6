// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Address arithmetic of AXI4 bursts. */
object Beats {

  /** The address of the beat behind one at `addr`. */
  def next(transfer: Axi4Address, addr: UInt, p: Axi4Params): UInt = {
    val bytes = (1.U << transfer.size)(7, 0)
    val aligned = addr & ~((1.U << transfer.size)(7, 0) - 1.U).pad(p.addressBits)
    val following = (aligned + bytes)(p.addressBits - 1, 0)
    // A wrapping burst stays in the block of its own size: the beats are a power of two.
    val block = ((transfer.len +& 1.U) << transfer.size).pad(p.addressBits) - 1.U
    MuxLookup(transfer.burst, following)(
      Seq(
        Axi4.Burst.Fixed.U -> addr,
        Axi4.Burst.Wrap.U -> ((addr & ~block) | (following & block))
      )
    )
  }
}
