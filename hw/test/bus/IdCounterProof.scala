// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._
import chiseltest._
import chiseltest.formal._
import org.scalatest.flatspec.AnyFlatSpec

/** An [[IdCounter]] beside a plain count of one id of the solver's choice. */
class IdCounterReference(idBits: Int, countBits: Int) extends Module {
  private val counter = Module(new IdCounter(idBits, countBits, asks = true))
  val io = IO(new Bundle {
    val seen = Flipped(Valid(UInt(idBits.W)))
    val counts = Input(Bool())
    val ask = Flipped(Valid(UInt(idBits.W)))
    val watched = Input(UInt(idBits.W))
  })
  private val watched = RegEnable(io.watched, reset.asBool)
  counter.io.seen := io.seen
  counter.io.seen.valid := io.seen.valid && counter.io.ready
  counter.io.counts := io.counts
  counter.io.ask.get := io.ask
  counter.io.inject := 0.U.asTypeOf(counter.io.inject)

  private val count = RegInit(0.U(countBits.W))
  private val seen = counter.io.seen.valid && io.seen.bits === watched
  when(seen && io.counts) { count := count + 1.U }
  private val asked = counter.io.ready && io.ask.valid && io.ask.bits === watched
  for ((when_, what) <- Seq(asked -> counter.io.count.get, seen -> counter.io.before))
    when(ShiftRegister(when_, IdCounter.latency, false.B, true.B)) {
      assert(what === ShiftRegister(count, IdCounter.latency), "a wrong count")
    }
}

class IdCounterProof extends AnyFlatSpec with ChiselScalatestTester with Formal {
  behavior of "IdCounter"
  it should "count any ids in any order, proved" in {
    // Two cycles of clearing, then two look-ups deep behind the four that may be in flight.
    verify(new IdCounterReference(idBits = 1, countBits = 2), Seq(BoundedCheck(2 + 4 + 2 * (IdCounter.latency + 1))))
  }
}
