// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** Decides whether a miss swaps. Asked once per access to a set, in acceptance order.
  *
  * Combinational except for the channel's miss count. A policy change takes effect in the next cycle: it restarts the
  * channel's count, and keeps the sets' counts of consecutive misses.
  */
class SwapPolicy(p: FlatParams) extends Module {
  import SwapPolicy._
  val io = IO(new Bundle {
    val config = Input(new FlatConfig(p))

    /** A miss to the line `tag` is decided in this cycle. */
    val miss = Input(Bool())
    val tag = Input(UInt(p.tagBits.W))

    /** The set's count before the miss. */
    val countedTag = Input(UInt(p.tagBits.W))
    val count = Input(UInt(p.countBits.W))
    val swap = Output(Bool())

    /** The new count has to be stored, because no swap stores it. */
    val storesCount = Output(Bool())
    val nextCount = Output(UInt(p.countBits.W))
  })
  private val (code, n) = (RegNext(io.config.policy), RegNext(io.config.n))
  private val changes = io.config.policy =/= code || io.config.n =/= n
  private val misses = RegInit(1.U(32.W))
  private val nthOfChannel = misses === n
  when(io.miss) { misses := Mux(nthOfChannel, 1.U, misses + 1.U) }
  when(changes) { misses := 1.U }

  // Compared before it is incremented.
  private val before = Mux(io.countedTag === io.tag, io.count, 0.U)
  private val consecutive = before + 1.U
  private val nthOfLine = before >= RegNext(io.config.n - 1.U)
  io.swap := MuxLookup(code, true.B)(Seq(nth.U -> nthOfLine, oneIn.U -> nthOfChannel, never.U -> false.B))
  io.storesCount := code === nth.U && !nthOfLine
  io.nextCount := Mux(io.swap, 0.U, Mux(io.storesCount, consecutive, io.count))
}

object SwapPolicy {

  /** Swap at every miss (Intel's policy). */
  val every = 0

  /** Swap at the n-th consecutive miss to the same line of a set. */
  val nth = 1

  /** Swap at every n-th miss of the channel. */
  val oneIn = 2
  val never = 3
}
