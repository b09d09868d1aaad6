// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import chisel3._
import chisel3.util._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** A [[ReadOrder]] beside a plain count of what is under way of one id of the solver's choice. */
class ReadOrderReference(p: ExpanderParams) extends Module {
  private val order = Module(new ReadOrder(p))
  val io = IO(new Bundle {
    val issue = Flipped(Valid(UInt(p.memory.idBits.W)))
    val answer = Flipped(Valid(UInt(p.memory.idBits.W)))
    val watched = Input(UInt(p.memory.idBits.W))
  })
  private val watched = RegEnable(io.watched, reset.asBool)
  order.io.issue := io.issue
  order.io.issue.valid := io.issue.valid && order.io.ready
  order.io.answer := io.answer
  order.io.inject := 0.U.asTypeOf(order.io.inject)

  private val issues = order.io.issue.valid && io.issue.bits === watched
  private val answers = io.answer.valid && io.answer.bits === watched
  private val underWay = RegInit(0.U(8.W))
  underWay := underWay + issues - answers
  private val others = RegInit(0.U(8.W))
  others := others + (order.io.issue.valid && !issues) - (io.answer.valid && !answers)
  assume(!io.answer.valid || Mux(answers, underWay, others) =/= 0.U)

  // Ahead: under way in the issue's cycle, less what is answered from then on.
  private val age = ReadOrder.latency
  private val before = ShiftRegister(underWay, age)
  private val since = PopCount((0 to age).map(n => ShiftRegister(answers, n, false.B, true.B)))
  // The read itself is not answered before it is known what is ahead of it.
  when(ShiftRegister(issues, age, false.B, true.B) && since <= before) {
    assert(order.io.ahead === before - since, "a wrong number of reads ahead")
  }
}

class ReadOrderProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  private val p = ExpanderParams(memory = Axi4Params(idBits = 1), telemetryReads = 4, readsInFlight = 4)

  behavior of "ReadOrder"
  it should "know how many reads of an id are ahead, proved" in {
    verify(new ReadOrderReference(p), Seq(BoundedCheck(12)))
  }
}
