// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util.log2Ceil

/** What [[ReadResponseArbiter]] promises, as a model checker takes it: a bit for each thing that is wrong, whatever memory, the
  * lines and the host do.
  */
class ReadResponseArbiterProof(run: Int) extends Module {
  private val turns = Module(new ReadResponseArbiter(run))
  val io = IO(new Bundle {
    val memory, line, ready = Input(Bool())

    /** More than `run` of memory's beats passed a line that could go. */
    val starves = Output(Bool())

    /** An answer is lost where there is one: nobody goes, or both do; or memory waits for a line that it need not. */
    val wrongOne = Output(Bool())
  })
  private val judged = JudgedRun()

  // A line stays until it is taken.
  private val waits = RegInit(false.B)
  private val line = io.line || waits
  waits := line && !turns.io.taken
  private val memory = io.memory && !turns.io.lineFirst
  turns.io.memory := memory
  turns.io.line := line
  turns.io.ready := io.ready

  private val passed = RegInit(0.U(log2Ceil(run + 2).W))
  private val passes = memory && io.ready
  when(!line || turns.io.taken) { passed := 0.U }.elsewhen(passes) { passed := passed + 1.U }
  io.starves := judged && line && passes && passed === run.U
  private val goes = passes || turns.io.taken
  io.wrongOne := judged &&
    ((io.ready && (io.memory || line)) =/= goes || (passes && turns.io.taken) ||
      (io.memory && io.ready && !passes && passed =/= run.U))
}
