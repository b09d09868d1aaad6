// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** The result of an update from its sum, its carries and the rotated state; codes are those of [[UpdateOp.Result]].
  *
  * Latency: a cycle from sum and A, none from the rest.
  */
class ResultChoice(p: NemoParams) extends Module {
  val sum = IO(Input(UInt(p.wordBits.W)))

  /** A, rotated where the op moves it. */
  val a = IO(Input(UInt(p.wordBits.W)))

  /** The carry, by byte, or that out of the word, by the narrowest level that takes it: at most one of the two is set. */
  val early = IO(Input(UInt(p.wordBytes.W)))
  val late = IO(Input(UInt(p.levels.size.W)))

  /** By bit, the lower and the higher bit of a code. Where these and the carries are zero, the result is as well. */
  val codes = IO(Input(Vec(2, UInt(p.wordBits.W))))
  val result = IO(Output(UInt(p.wordBits.W)))

  private val ofWord = VecInit.tabulate(p.wordBytes)(CarryChoice.late(_, p).fold(false.B)(late(_))).asUInt
  private val carry = CounterWidth.spread(early | ofWord, p)
  private val (low, high) = (codes(0), codes(1))
  private val (added, moved) = (RegNext(sum), RegNext(a))
  private val carried = (moved ^ low) | (high & low)
  private val plain = (high & ((~low).asUInt | added)) | (low & moved & ~high)
  result := (carry & carried) | (~carry & plain)
}
