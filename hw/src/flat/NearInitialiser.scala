// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** After power-up, writes zero to every near line, with a zero sideband in its code: tag 0 is near, and tag t is in far
  * slot t - 1.
  *
  * Throughput: one line per cycle. On an error it stops, waits for all outstanding responses, and restarts from the
  * first failed line; all writes have one id, so responses come in order. So `done` means that near accepted every
  * line, and never comes while near keeps refusing one. A warm reset restarts an unfinished run and otherwise does
  * nothing.
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
  private val issued, answered = RegInit(0.U((p.lineBits + 1).W))

  /** A write failed; `firstFailed` counts the lines before it, which are written. */
  private val failed = RegInit(false.B)
  private val firstFailed = Reg(UInt((p.lineBits + 1).W))
  io.write.valid := !done && !failed && issued =/= io.nearLines
  io.write.bits := 0.U.asTypeOf(io.write.bits)
  io.write.bits.line := issued
  io.write.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
  io.write.bits.sideband := code.word(0.U.asTypeOf(new Sideband(p)), code.seal(issued(p.lineBits - 1, 0)))
  when(io.write.fire) { issued := issued + 1.U }
  when(!done && io.answer.valid) {
    answered := answered + 1.U
    when(io.answer.bits.error && !failed) {
      failed := true.B
      firstFailed := answered
    }
  }
  when(failed && answered === issued) {
    failed := false.B
    issued := firstFailed
    answered := firstFailed
  }
  // During reset, `nearLines` is not valid yet.
  when(!reset.asBool && !failed && answered === io.nearLines) { done := true.B }
  io.done := done
}
