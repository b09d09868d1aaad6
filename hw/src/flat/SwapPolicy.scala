// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chisel3._
import chisel3.util._

/** Whether a miss swaps. Asked once for every access of a set, in acceptance order.
  *
  * Combinational, but for the count of the channel's misses.
  */
class SwapPolicy(p: FlatParams) extends Module {
  import SwapPolicy._
  val io = IO(new Bundle {
    val config = Input(new FlatConfig(p))

    /** A miss is decided in this cycle, of the line `tag`. */
    val miss = Input(Bool())
    val tag = Input(UInt(p.tagBits.W))

    /** The set's count before it. */
    val counted = Input(UInt(p.tagBits.W))
    val count = Input(UInt(p.countBits.W))
    val swap = Output(Bool())

    /** The count behind it is to be stored, for there is no swap that stores it. */
    val stores = Output(Bool())
    val nextCount = Output(UInt(p.countBits.W))
  })
  private val misses = RegInit(1.U(32.W))
  private val nthOfChannel = misses === io.config.n
  when(io.miss) { misses := Mux(nthOfChannel, 1.U, misses + 1.U) }

  private val inARow = Mux(io.counted === io.tag, io.count + 1.U, 1.U)
  private val nthOfLine = inARow >= io.config.n
  io.swap := MuxLookup(io.config.policy, true.B)(Seq(nth.U -> nthOfLine, oneIn.U -> nthOfChannel, never.U -> false.B))
  io.stores := io.config.policy === nth.U && !nthOfLine
  io.nextCount := Mux(io.stores, inARow, 0.U)
}

object SwapPolicy {

  /** Swap at every miss (Intel's). */
  val every = 0

  /** At the n-th miss in a row to the same line of a set. */
  val nth = 1

  /** At every n-th miss of the channel. */
  val oneIn = 2
  val never = 3
}
