// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Flips a bit or two, once, of the word that is stored next: to see that it is noticed. */
class BitFlipInjector extends Module {
  val io = IO(new Bundle {

    /** From the next cycle on; true: two bits. */
    val arm = Flipped(Valid(Bool()))
    val stores = Input(Bool())

    /** Of the word's lowest bits. */
    val flips = Output(UInt(2.W))
  })
  private val armed = RegInit(0.U(2.W))
  when(io.arm.valid) { armed := Cat(io.arm.bits, true.B) }.elsewhen(io.stores) { armed := 0.U }
  io.flips := armed
}
