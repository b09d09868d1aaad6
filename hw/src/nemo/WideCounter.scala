// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** A wide counter of flags, exact in every cycle, without an adder of its width.
  *
  * Only the low bits are added to. Behind the high bits stands the number that follows them, which they take when the
  * low bits run over; the number after that is then worked out a bit a cycle, and is there before they run over again.
  *
  * Latency: two cycles from `flags` to `total`. `tick` tells all counters of a pipeline when to begin; see
  * [[WideCounter.CarryTick]].
  *
  * @param ports flags that may count in one cycle
  * @param bits  width of `total`, modulo which it counts
  */
class WideCounter(ports: Int, bits: Int) extends Module {
  private val lowBits = log2Ceil(2 * WideCounter.period * ports)
  private val highBits = bits - lowBits
  require(
    highBits >= 2 && highBits < WideCounter.period,
    s"bits: ${lowBits + 2} to ${lowBits + WideCounter.period - 1} with $ports flags, not $bits"
  )

  val io = IO(new Bundle {
    val flags = Input(Vec(ports, Bool()))
    val tick = Input(new WideCounter.CarryTick)
    val clear = Input(Bool())
    val total = Output(UInt(bits.W))
  })

  private val low = RegInit(0.U(lowBits.W))
  private val high = RegInit(0.U(highBits.W))
  private val nextHigh = RegInit(1.U(highBits.W))
  private val sum = low +& RegNext(PopCount(io.flags), 0.U)
  private val overflow = sum(lowBits)
  low := sum

  // The successor goes round once, an incrementer of one bit in its way.
  private val nextStale = RegInit(false.B)
  private val incrementing = RegInit(false.B)
  private val carry = Reg(Bool())
  when(io.tick.begin) {
    incrementing := nextStale
    nextStale := false.B
    carry := true.B
  }.elsewhen(io.tick.step < highBits.U && incrementing) {
    nextHigh := Cat(nextHigh(0) ^ carry, nextHigh(highBits - 1, 1))
    carry := carry && nextHigh(0)
  }
  when(overflow) {
    high := nextHigh
    nextStale := true.B
  }
  assert(!overflow || !nextStale, "a counter ran over before its next high bits were there")

  when(io.clear) {
    low := 0.U
    high := 0.U
    nextHigh := 1.U
    nextStale := false.B
    incrementing := false.B
  }
  io.total := Cat(high, low)
}

object WideCounter {

  /** Cycles from one beginning to the next: enough for all high bits of a counter of 64. */
  val period: Int = 64

  /** `step` counts the cycles since `begin`. The low bits take two periods or more to run over: one until the next
    * beginning, one to go round.
    */
  class CarryTick extends Bundle {
    val begin = Bool()
    val step = UInt(log2Ceil(period).W)
  }

  /** The ticks of some counters, without end. */
  def ticks(): CarryTick = {
    val step = RegInit(0.U(log2Ceil(period).W))
    val tick = Wire(new CarryTick)
    step := step + 1.U
    tick.begin := step === (period - 1).U
    tick.step := step
    tick
  }
}
