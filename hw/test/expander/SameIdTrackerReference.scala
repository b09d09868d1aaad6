// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** A [[SameIdTracker]], and a plain count of the outstanding requests of one id of the checker's choice. */
class SameIdTrackerReference(idBits: Int, inFlight: Int) extends Module {
  private val order = Module(new SameIdTracker(idBits, inFlight))
  val io = IO(new Bundle {
    val issue = Flipped(Valid(UInt(idBits.W)))
    val counts = Input(Bool())

    /** A response to an outstanding request; otherwise it is ignored. */
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

  private val outstanding = RegInit(VecInit.fill(1 << idBits)(0.U(8.W)))
  private val answered = io.answer.valid && outstanding(io.answer.bits) =/= 0.U
  order.io.answer.valid := answered
  order.io.answer.bits := io.answer.bits
  for ((count, id) <- outstanding.zipWithIndex) {
    val issued = order.io.issue.valid && io.counts && io.issue.bits === id.U
    count := count + issued - (answered && io.answer.bits === id.U)
  }

  // Ahead: outstanding in the cycle of the issue, minus those answered since.
  private val age = SameIdTracker.latency
  private val issues = order.io.issue.valid && io.issue.bits === watched
  private val answers = answered && io.answer.bits === watched
  private val before = ShiftRegister(outstanding(watched), age)
  private val since = PopCount((0 to age).map(n => ShiftRegister(answers, n, false.B, true.B)))
  // The request itself is not answered before `ahead` is known.
  private val looked = ShiftRegister(issues, age, false.B, true.B) && since <= before
  io.wrong := judged && looked &&
    (order.io.ahead =/= before - since || order.io.noneAhead =/= (before === since))
}
