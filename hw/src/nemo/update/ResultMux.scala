// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** Selects each bit of the result from sum and A by a code of [[UpdateOp.Result]] and the carry.
  *
  * Latency: one cycle from `sum` and `a`, none from the other inputs.
  */
class ResultMux(p: NemoParams) extends Module {
  val sum = IO(Input(UInt(p.wordBits.W)))

  /** A, rotated if the op is a shift. */
  val a = IO(Input(UInt(p.wordBits.W)))

  /** The register of the sum, or of A, is zero. */
  val zeroSum = Option.when(p.features.sumOrZero)(IO(Input(Bool())))
  val zeroState = Option.when(p.features.sumOrZero)(IO(Input(Bool())))

  /** The carry by byte, or the word's carry out by the narrowest level that uses it; if both are set there is none. */
  val byteCarry = IO(Input(UInt(p.wordBytes.W)))
  val wordCarry = IO(Input(UInt(p.levels.size.W)))

  /** The lower and the higher bit of each bit's code. With codes and carries of zero the result is zero. */
  val codes = IO(Input(Vec(2, UInt(p.wordBits.W))))
  val result = IO(Output(UInt(p.wordBits.W)))

  private val fromWord = VecInit.tabulate(p.wordBytes)(CarryMux.wordCarryLevel(_, p).fold(false.B)(wordCarry(_))).asUInt
  private val carry = CounterWidth.spread(if (p.features.borrows) byteCarry ^ fromWord else byteCarry | fromWord, p)
  private val (low, high) = (codes(0), codes(1))
  private def unless(zero: Option[Bool], word: UInt): UInt = zero.fold(word)(Mux(_, 0.U, word))
  private val (sumStage2, stateStage2) = (RegNext(unless(zeroSum, sum)), RegNext(unless(zeroState, a)))
  private val withState = (stateStage2 ^ low) | (high & low)
  private val withCarry = if (p.features.sumOrZero) withState | (sumStage2 & ~low & ~high) else withState
  private val withoutCarry = (high & ((~low).asUInt | sumStage2)) | (low & stateStage2 & ~high)
  result := (carry & withCarry) | (~carry & withoutCarry)
}
