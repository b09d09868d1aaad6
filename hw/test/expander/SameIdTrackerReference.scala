// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** An [[SameIdTracker]] beside a plain count of what is under way of one id of the checker's choice. */
class SameIdTrackerReference(idBits: Int, inFlight: Int) extends Module {
  private val order = Module(new SameIdTracker(idBits, inFlight))
  val io = IO(new Bundle {
    val issue = Flipped(Valid(UInt(idBits.W)))
    val counts = Input(Bool())

    /** Of a request that is under way; otherwise there is none. */
    val answer = Flipped(Valid(UInt(idBits.W)))
    val watched = Input(UInt(idBits.W))
    val wrong = Output(Bool())
  })
  private val judged = JudgedRun()
  private val watched = RegEnable(io.watched, reset.asBool)
  order.io.issue := io.issue
  order.io.issue.valid := io.issue.valid && order.io.ready
  order.io.counts := io.counts
  order.io.inject := 0.U.asTypeOf(order.io.inject)

  private val underWay = RegInit(VecInit.fill(1 << idBits)(0.U(8.W)))
  private val answered = io.answer.valid && underWay(io.answer.bits) =/= 0.U
  order.io.answer.valid := answered
  order.io.answer.bits := io.answer.bits
  for ((count, id) <- underWay.zipWithIndex) {
    val issued = order.io.issue.valid && io.counts && io.issue.bits === id.U
    count := count + issued - (answered && io.answer.bits === id.U)
  }

  // Ahead: under way in the issue's cycle, less what is answered from then on.
  private val age = SameIdTracker.latency
  private val issues = order.io.issue.valid && io.issue.bits === watched
  private val answers = answered && io.answer.bits === watched
  private val before = ShiftRegister(underWay(watched), age)
  private val since = PopCount((0 to age).map(n => ShiftRegister(answers, n, false.B, true.B)))
  // The request itself is not answered before it is known what is ahead of it.
  private val looked = ShiftRegister(issues, age, false.B, true.B) && since <= before
  io.wrong := judged && looked && order.io.ahead =/= before - since
}
