// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import anemone.formal.JudgedRun
import chisel3._
import chisel3.util._

/** An [[IdCounter]], and a plain count of one id of the checker's choice. */
class IdCounterReference(idBits: Int, countBits: Int) extends Module {
  private val counter = Module(new IdCounter(idBits, countBits, asks = true))
  val io = IO(new Bundle {
    val seen = Flipped(Valid(UInt(idBits.W)))
    val counts = Input(Bool())
    val ask = Flipped(Valid(UInt(idBits.W)))
    val watched = Input(UInt(idBits.W))
    val wrongCount, wrongBefore = Output(Bool())
  })
  private val judged = JudgedRun()
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

  private def wrong(looked: Bool, found: UInt): Bool = judged &&
    ShiftRegister(looked, IdCounter.latency, false.B, true.B) && found =/= ShiftRegister(count, IdCounter.latency)
  io.wrongCount := wrong(asked, counter.io.count.get)
  io.wrongBefore := wrong(seen, counter.io.before)
}
