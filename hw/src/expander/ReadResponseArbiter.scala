// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Who answers next where memory and a telemetry line both could: memory, as a line that waits costs nobody but its
  * reader, but after `run` of its beats the line. Where the host takes every answer this costs memory nothing: a
  * telemetry read took a request of its own.
  *
  * `lineFirst` is a register, `taken` combinational; `line` stays until it is `taken`.
  */
class ReadResponseArbiter(run: Int) extends Module {
  val io = IO(new Bundle {

    /** Memory must not go. */
    val lineFirst = Output(Bool())

    /** Memory goes when an answer is taken; a line is there. */
    val memory, line = Input(Bool())

    /** An answer is taken in this cycle. */
    val ready = Input(Bool())

    /** It is the line. */
    val taken = Output(Bool())
  })
  private val beats = RegInit(0.U(log2Ceil(run + 1).W))
  private val lineFirst = RegInit(false.B)
  io.lineFirst := lineFirst
  io.taken := io.line && io.ready && !io.memory
  when(io.taken) {
    beats := 0.U
    lineFirst := false.B
  }.elsewhen(io.line && io.memory && io.ready) {
    beats := beats + 1.U
    lineFirst := beats === (run - 1).U
  }
}
