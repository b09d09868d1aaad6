// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{IdCounter, MemoryFault}
import chisel3._
import chisel3.util._

/** Number of outstanding requests of the same id ahead of a request: reads of memory and telemetry together, or writes.
  *
  * It is the difference of two counters per id: requests issued and requests answered.
  *
  * Latency: [[SameIdTracker.latency]] cycles from `issue` to `ahead`, which includes the responses up to the cycle in
  * which it appears. A request must not be answered before the cycle in which it is issued.
  *
  * @param inFlight most outstanding requests, a power of two
  * @param early    whether `answer` has the id that is looked up is known before, from a register
  */
class SameIdTracker(idBits: Int, inFlight: Int, early: Boolean = false) extends Module {
  private val countBits = log2Ceil(inFlight) + 1
  val io = IO(new Bundle {

    /** The counters are cleared and may be used. */
    val ready = Output(Bool())
    val issue = Flipped(Valid(UInt(idBits.W)))

    /** The issued request counts as ahead of later ones. */
    val counts = Input(Bool())
    val answer = Flipped(Valid(UInt(idBits.W)))

    /** `answer` is valid and of the id of the request that `ahead` is for. Right for requests whose `ahead` is used. */
    val answersAsked = Option.when(early)(Input(Bool()))
    val ahead = Output(UInt(countBits.W))

    /** `ahead` is zero. */
    val noneAhead = Output(Bool())

    /** Faults of both counters. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  private val issued = Module(new IdCounter(idBits, countBits, asks = false))
  private val answered = Module(new IdCounter(idBits, countBits, asks = true))
  issued.io.seen := io.issue
  issued.io.counts := io.counts
  answered.io.seen := io.answer
  answered.io.counts := true.B
  answered.io.ask.get := io.issue

  for (counter <- Seq(issued, answered)) counter.io.inject := io.inject
  io.fault.uncorrected := issued.io.fault.uncorrected || answered.io.fault.uncorrected
  io.fault.corrected := issued.io.fault.corrected || answered.io.fault.corrected

  // Requests answered since the look-up began.
  private val asked = Seq.iterate(io.issue.bits, SameIdTracker.latency + 1)(RegNext(_))
  private def isAnswered(id: UInt): Bool = io.answer.valid && io.answer.bits === id
  private val counted = IdCounter.latency
  private val since =
    asked.take(counted).foldLeft(0.U(log2Ceil(counted + 1).W))((sum, id) => RegNext(sum + isAnswered(id)))
  private val (before, gone) = (issued.io.before, answered.io.count.get + since)
  // The response of a cycle comes late in it, so both differences are ready.
  private val outstanding = RegNext(Mux(isAnswered(asked(counted)), before + ~gone, before - gone))
  private val isAnsweredNow = io.answersAsked.getOrElse(isAnswered(asked.last))
  io.ahead := Mux(isAnsweredNow, outstanding - 1.U, outstanding)
  io.noneAhead := Mux(isAnsweredNow, outstanding === 1.U, outstanding === 0.U)
  io.ready := RegNext(issued.io.ready && answered.io.ready, false.B)
}

object SameIdTracker {
  val latency: Int = IdCounter.latency + 1
}
