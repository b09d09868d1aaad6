// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** Writes zero to every near line, and beside it a sideband of zero in its code, after power-up: tag 0 is near, and tag t
  * in far slot t - 1.
  *
  * A line a cycle. When one is refused, no more are written until all are answered, and then all from the first refused
  * one on once more: answers come in order, for all writes have one id. So it is done when near has accepted every line,
  * and never while near refuses one. A warm reset starts it anew if it had not ended, and else does nothing.
  */
class NearInitialiser(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val nearLines = Input(UInt((p.lineBits + 1).W))
    val write = Decoupled(new LineWrite(p, p.sidebandBits))
    val answer = Flipped(Valid(new LineWriteAnswer(p)))
    val done = Output(Bool())
  })
  private val code = new SidebandCode(p)
  private val done = withReset(io.powerOn) { RegInit(false.B) }
  private val asked, answered = RegInit(0.U((p.lineBits + 1).W))

  /** Lines that are written for good, while a refused one is to be written again. */
  private val refused = RegInit(false.B)
  private val good = Reg(UInt((p.lineBits + 1).W))
  io.write.valid := !done && !refused && asked =/= io.nearLines
  io.write.bits := 0.U.asTypeOf(io.write.bits)
  io.write.bits.line := asked
  io.write.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
  io.write.bits.beside := code.word(0.U.asTypeOf(new Sideband(p)), code.seal(asked(p.lineBits - 1, 0)))
  when(io.write.fire) { asked := asked + 1.U }
  when(!done && io.answer.valid) {
    answered := answered + 1.U
    when(io.answer.bits.error && !refused) {
      refused := true.B
      good := answered
    }
  }
  when(refused && answered === asked) {
    refused := false.B
    asked := good
    answered := good
  }
  // In a reset nobody knows how many lines there are.
  when(!reset.asBool && !refused && answered === io.nearLines) { done := true.B }
  io.done := done
}
