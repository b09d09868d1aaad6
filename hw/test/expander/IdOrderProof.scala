// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chisel3._
import chisel3.util._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** A [[IdOrder]] beside a plain count of what is under way of one id of the solver's choice. */
class IdOrderReference(idBits: Int, inFlight: Int) extends Module {
  private val order = Module(new IdOrder(idBits, inFlight))
  val io = IO(new Bundle {
    val issue = Flipped(Valid(UInt(idBits.W)))
    val counts = Input(Bool())
    val answer = Flipped(Valid(UInt(idBits.W)))
    val watched = Input(UInt(idBits.W))
  })
  private val watched = RegEnable(io.watched, reset.asBool)
  order.io.issue := io.issue
  order.io.issue.valid := io.issue.valid && order.io.ready
  order.io.counts := io.counts
  order.io.answer := io.answer
  order.io.inject := 0.U.asTypeOf(order.io.inject)
  order.io.inject := 0.U.asTypeOf(order.io.inject)

  private val issues = order.io.issue.valid && io.issue.bits === watched
  private val answers = io.answer.valid && io.answer.bits === watched
  private val underWay = RegInit(0.U(8.W))
  underWay := underWay + (issues && io.counts) - answers
  private val others = RegInit(0.U(8.W))
  others := others + (order.io.issue.valid && io.counts && !issues) - (io.answer.valid && !answers)
  assume(!io.answer.valid || Mux(answers, underWay, others) =/= 0.U)

  // Ahead: under way in the issue's cycle, less what is answered from then on.
  private val age = IdOrder.latency
  private val before = ShiftRegister(underWay, age)
  private val since = PopCount((0 to age).map(n => ShiftRegister(answers, n, false.B, true.B)))
  // The request itself is not answered before it is known what is ahead of it.
  when(ShiftRegister(issues, age, false.B, true.B) && since <= before) {
    assert(order.io.ahead === before - since, "a wrong number of requests ahead")
  }
}

class IdOrderProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "IdOrder"
  it should "know how many requests of an id are ahead, proved" in {
    verify(new IdOrderReference(idBits = 1, inFlight = 4), Seq(BoundedCheck(12)))
  }
}
