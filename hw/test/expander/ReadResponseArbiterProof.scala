// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util.log2Ceil

/** Properties of [[ReadResponseArbiter]] for a model checker, one output bit per kind of error, for any behaviour of
  * memory, the lines and the host.
  */
class ReadResponseArbiterProof(run: Int) extends Module {
  private val arbiter = Module(new ReadResponseArbiter(run))
  val io = IO(new Bundle {
    val memory, line, ready = Input(Bool())

    /** More than `run` memory beats passed a ready line. */
    val starves = Output(Bool())

    /** With a response ready, neither or both are granted, or memory waits for a line without need. */
    val wrongOne = Output(Bool())
  })
  private val judged = JudgedRun()

  // A line stays until it is accepted.
  private val waits = RegInit(false.B)
  private val line = io.line || waits
  waits := line && !arbiter.io.taken
  private val memory = io.memory && !arbiter.io.lineFirst
  arbiter.io.memory := memory
  arbiter.io.line := line
  arbiter.io.ready := io.ready

  private val passed = RegInit(0.U(log2Ceil(run + 2).W))
  private val passes = memory && io.ready
  when(!line || arbiter.io.taken) { passed := 0.U }.elsewhen(passes) { passed := passed + 1.U }
  io.starves := judged && line && passes && passed === run.U
  private val goes = passes || arbiter.io.taken
  io.wrongOne := judged &&
    ((io.ready && (io.memory || line)) =/= goes || (passes && arbiter.io.taken) ||
      (io.memory && io.ready && !passes && passed =/= run.U))
}
