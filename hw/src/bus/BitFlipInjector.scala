// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Flips one or two bits of the next stored word, once, to test that the error is detected. */
class BitFlipInjector extends Module {
  val io = IO(new Bundle {

    /** Armed from the next cycle on; true: two bits. */
    val arm = Flipped(Valid(Bool()))
    val stores = Input(Bool())

    /** Bits to flip, of the word's two lowest. */
    val flips = Output(UInt(2.W))
  })
  private val armed = RegInit(0.U(2.W))
  when(io.arm.valid) { armed := Cat(io.arm.bits, true.B) }.elsewhen(io.stores) { armed := 0.U }
  io.flips := armed
}
