// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** The result of an update from its sum, its carries and the rotated state; codes are those of [[UpdateOp.Result]].
  *
  * Latency: a cycle from sum and A, none from the rest.
  */
class ResultMux(p: NemoParams) extends Module {
  val sum = IO(Input(UInt(p.wordBits.W)))

  /** A, rotated where the op moves it. */
  val a = IO(Input(UInt(p.wordBits.W)))

  /** The carry, by byte, or that out of the word, by the narrowest level that takes it: at most one of the two is set. */
  val byteCarry = IO(Input(UInt(p.wordBytes.W)))
  val wordCarry = IO(Input(UInt(p.levels.size.W)))

  /** By bit, the lower and the higher bit of a code. Where these and the carries are zero, the result is as well. */
  val codes = IO(Input(Vec(2, UInt(p.wordBits.W))))
  val result = IO(Output(UInt(p.wordBits.W)))

  private val fromWord = VecInit.tabulate(p.wordBytes)(CarryMux.wordCarryLevel(_, p).fold(false.B)(wordCarry(_))).asUInt
  private val carry = CounterWidth.spread(byteCarry | fromWord, p)
  private val (low, high) = (codes(0), codes(1))
  private val (sumStage2, stateStage2) = (RegNext(sum), RegNext(a))
  private val withCarry = (stateStage2 ^ low) | (high & low)
  private val withoutCarry = (high & ((~low).asUInt | sumStage2)) | (low & stateStage2 & ~high)
  result := (carry & withCarry) | (~carry & withoutCarry)
}
