// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** Writes zero to every near line and its sideband after power-up: tag 0 is near, and tag t in far slot t - 1.
  *
  * A line a cycle. A warm reset starts it anew if it had not ended, and else does nothing.
  */
class TagInitialiser(p: FlatParams) extends Module {
  val io = IO(new Bundle {
    val powerOn = Input(Bool())
    val nearLines = Input(UInt((p.lineBits + 1).W))
    val write = Decoupled(new LineWrite(p, p.sidebandBits))
    val answered = Input(Bool())
    val done = Output(Bool())
  })
  private val done = withReset(io.powerOn) { RegInit(false.B) }
  private val asked, answers = RegInit(0.U((p.lineBits + 1).W))
  io.write.valid := !done && asked =/= io.nearLines
  io.write.bits := 0.U.asTypeOf(io.write.bits)
  io.write.bits.line := asked
  io.write.bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
  when(io.write.fire) { asked := asked + 1.U }
  when(!done && io.answered) { answers := answers + 1.U }
  when(answers === io.nearLines) { done := true.B }
  io.done := done
}
