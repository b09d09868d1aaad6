// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Who answers next where memory and a telemetry line both could: memory, as a line that waits costs nobody but its
  * reader, but after `run` of its beats the line. Where the host takes every answer this costs memory nothing: a
  * telemetry read took a request of its own.
  *
  * Combinational; `line` stays until it is `taken`.
  */
class AnswerTurns(run: Int) extends Module {
  val io = IO(new Bundle {
    val memory, line = Input(Bool())

    /** An answer is taken in this cycle. */
    val ready = Input(Bool())

    /** It is memory's, or else the line. */
    val passes = Output(Bool())
    val taken = Output(Bool())
  })
  private val beats = RegInit(0.U(log2Ceil(run + 1).W))
  io.passes := io.memory && beats =/= run.U
  io.taken := io.line && io.ready && !io.passes
  when(io.taken) { beats := 0.U }.elsewhen(io.line && io.passes && io.ready) { beats := beats + 1.U }
}
