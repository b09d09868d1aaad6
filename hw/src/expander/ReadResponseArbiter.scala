// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._

/** Arbitrates between memory and a telemetry line that are both ready. Memory wins, because a waiting line delays only
  * its reader; after `run` memory beats the line wins. If the host never stalls responses this costs memory nothing,
  * because a telemetry read took the place of a request.
  *
  * `lineFirst` is a register, `taken` is combinational; `line` must stay until `taken`.
  */
class ReadResponseArbiter(run: Int) extends Module {
  val io = IO(new Bundle {

    /** Memory must not go. */
    val lineFirst = Output(Bool())

    /** Memory wins if a response is accepted; a line is ready. */
    val memory, line = Input(Bool())

    /** A response is accepted in this cycle. */
    val ready = Input(Bool())

    /** The accepted response is the line. */
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
