// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** Counters of the controller, 64 bits each. Near and far accesses are those that host requests called for; `forwarded`
  * is how many of them were saved because the line was already in the controller.
  */
class FlatCounts extends Bundle {
  val hits = UInt(64.W)
  val misses = UInt(64.W)
  val swaps = UInt(64.W)
  val nearReads = UInt(64.W)
  val nearWrites = UInt(64.W)
  val farReads = UInt(64.W)
  val farWrites = UInt(64.W)
  val forwarded = UInt(64.W)

  /** Reads and writes that near, or far, answered with an error. */
  val nearErrors = UInt(64.W)
  val farErrors = UInt(64.W)

  /** Sets in which an error disabled swapping, and lines that near, or far, returned poisoned. */
  val marked = UInt(64.W)
  val poisoned = UInt(64.W)

  /** Sidebands with a corrected bit, and sidebands that failed their check. */
  val corrected = UInt(64.W)
  val untrusted = UInt(64.W)

  /** Responses of near or far that match no outstanding request. */
  val strays = UInt(64.W)
}

/** Accumulates the events of each cycle. Latency: two cycles from event to counter. */
class FlatCounters extends Module {
  val io = IO(new Bundle {
    val outcome = Flipped(Valid(new Outcome))
    val forwarded = Input(UInt(2.W))
    val nearErrors = Input(UInt(2.W))
    val farErrors = Input(UInt(2.W))
    val disablesSwap = Input(Bool())
    val poisoned = Input(UInt(2.W))
    val corrected = Input(Bool())
    val untrusted = Input(Bool())
    val strays = Input(UInt(3.W))
    val counts = Output(new FlatCounts)
  })
  private def sum(more: UInt): UInt = {
    val next = RegNext(more, 0.U)
    val total = RegInit(0.U(64.W))
    when(next =/= 0.U) { total := total + next }
    total
  }
  private val outcome = io.outcome.bits
  private def is(flag: Bool): Bool = io.outcome.valid && flag
  private val swaps = is(outcome.kind === Outcome.swap.U)
  io.counts.hits := sum(is(outcome.kind === Outcome.hit.U))
  io.counts.misses := sum(is(outcome.isMiss))
  io.counts.swaps := sum(swaps)
  io.counts.nearReads := sum(is(outcome.traffic.nearRead))
  io.counts.nearWrites := sum(is(outcome.traffic.nearWrite))
  io.counts.farReads := sum(is(outcome.traffic.farRead))
  io.counts.farWrites := sum(is(outcome.traffic.farWrite))
  io.counts.forwarded := sum(is(outcome.forwarded) +& io.forwarded)
  io.counts.nearErrors := sum(io.nearErrors)
  io.counts.farErrors := sum(io.farErrors)
  io.counts.marked := sum(io.disablesSwap)
  io.counts.poisoned := sum(io.poisoned)
  io.counts.corrected := sum(io.corrected)
  io.counts.untrusted := sum(io.untrusted)
  io.counts.strays := sum(io.strays)
}
