// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{IdCounter, MemoryFault}
import chisel3._
import chisel3.util._

/** How many requests of the same id are under way ahead of one: reads, memory's and telemetry's alike, or writes.
  *
  * It is the difference of two counts an id: requests issued, and requests answered.
  *
  * Latency: [[SameIdTracker.latency]] cycles from `issue` to `ahead`, which takes into account the answers up to and including the
  * cycle in which it is there. An answer in a cycle before its request's was issued can't be.
  *
  * @param inFlight requests that may be under way, a power of two
  */
class SameIdTracker(idBits: Int, inFlight: Int) extends Module {
  private val countBits = log2Ceil(inFlight) + 1
  val io = IO(new Bundle {

    /** Ids may be counted. */
    val ready = Output(Bool())
    val issue = Flipped(Valid(UInt(idBits.W)))

    /** What is issued is itself ahead of others. */
    val counts = Input(Bool())
    val answer = Flipped(Valid(UInt(idBits.W)))
    val ahead = Output(UInt(countBits.W))

    /** Of the counts of either kind. */
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

  // Answered since the look-up began.
  private val asked = Seq.iterate(io.issue.bits, SameIdTracker.latency + 1)(RegNext(_))
  private val since = asked.zipWithIndex.map { case (id, age) =>
    ShiftRegister(io.answer.valid && io.answer.bits === id, SameIdTracker.latency - age)
  }
  io.ahead := issued.io.before - answered.io.count.get - PopCount(since)
  io.ready := issued.io.ready && answered.io.ready
}

object SameIdTracker {
  val latency: Int = IdCounter.latency
}
