// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** A wide counter of flags, exact in every cycle, without a wide adder.
  *
  * Only the low bits have an adder. `nextHigh` is the high bits plus one; they take it when the low bits overflow. The
  * next one is then computed bit by bit, one bit a cycle, and is ready before the next overflow.
  *
  * Latency: two cycles from `flags` to `total`. One `tick` serves all counters of a pipeline
  * ([[WideCounter.CarryTick]]).
  *
  * @param ports flags that are counted in one cycle
  * @param bits  width of `total`, which wraps
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

  // nextHigh rotates once through a one-bit incrementer.
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
  assert(!overflow || !nextStale, "a counter overflowed before its next high bits were ready")

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

  /** Cycles from one `begin` to the next, enough for all high bits of a 64-bit counter. */
  val period: Int = 64

  /** `step` counts the cycles since `begin`. The low bits overflow after two periods at the earliest: one until the
    * next `begin`, and one for the increment.
    */
  class CarryTick extends Bundle {
    val begin = Bool()
    val step = UInt(log2Ceil(period).W)
  }

  /** A free-running generator of ticks. */
  def ticks(): CarryTick = {
    val step = RegInit(0.U(log2Ceil(period).W))
    val tick = Wire(new CarryTick)
    step := step + 1.U
    tick.begin := step === (period - 1).U
    tick.step := step
    tick
  }
}
