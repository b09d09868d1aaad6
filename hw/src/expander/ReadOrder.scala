// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{IdCounter, MemoryFault}
import chisel3._
import chisel3.util._

/** How many reads of the same id are under way ahead of a read, memory's and telemetry's alike.
  *
  * It is the difference of two counts an id: reads issued, and reads answered.
  *
  * Latency: [[ReadOrder.latency]] cycles from `issue` to `ahead`, which takes into account the answers up to and
  * including the cycle in which it is there. An answer in a cycle before its read's was issued can't be.
  */
class ReadOrder(p: ExpanderParams) extends Module {
  private val countBits = log2Ceil(p.readsInFlight) + 1
  val io = IO(new Bundle {

    /** One more read may be issued. */
    val ready = Output(Bool())
    val issue = Flipped(Valid(UInt(p.memory.idBits.W)))
    val answer = Flipped(Valid(UInt(p.memory.idBits.W)))
    val ahead = Output(UInt(countBits.W))

    /** Of the counts of either kind. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  private val issued = Module(new IdCounter(p.memory.idBits, countBits))
  private val answered = Module(new IdCounter(p.memory.idBits, countBits))
  issued.io.seen := io.issue
  issued.io.ask := io.issue
  answered.io.seen := io.answer
  answered.io.ask := io.issue

  for (counter <- Seq(issued, answered)) counter.io.inject := io.inject
  io.fault.uncorrected := issued.io.fault.uncorrected || answered.io.fault.uncorrected
  io.fault.corrected := issued.io.fault.corrected || answered.io.fault.corrected

  // Answered since the look-up began.
  private val asked = Seq.iterate(io.issue.bits, ReadOrder.latency + 1)(RegNext(_))
  private val since = asked.zipWithIndex.map { case (id, age) =>
    ShiftRegister(io.answer.valid && io.answer.bits === id, ReadOrder.latency - age)
  }
  io.ahead := issued.io.count - answered.io.count - PopCount(since)

  private val underWay = RegInit(0.U(countBits.W))
  underWay := underWay + io.issue.valid - io.answer.valid
  io.ready := issued.io.ready && answered.io.ready && underWay < p.readsInFlight.U
}

object ReadOrder {
  val latency: Int = IdCounter.latency
}
