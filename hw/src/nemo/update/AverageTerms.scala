// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The part of an [[AluOperand]] that only ops with [[UpdateOp.average]] have. Its `b` is then B >> k. */
class AverageOperand(p: NemoParams) extends Bundle {
  val enable = Bool()

  /** k by byte; zero where the byte is not updated. */
  val weight = Vec(p.wordBytes, UInt(AverageTerms.weightBits.W))

  /** The lowest bits of B, which every counter has. */
  val remainder = UInt(AverageTerms.most.W)
}

/** An average's step: A + ((B - A) >> k), where the shift rounds towards minus infinity. The difference is exact.
  *
  * With A = A1 * 2^k + A0, and B likewise, that is A + ~A1 + B1 + (B0 >= A0), modulo the counter. A carry-save row makes
  * two terms of the three words, and the comparison is the carry into the counter. The sum never leaves its counter,
  * because it lies between A and B.
  */
object AverageTerms {

  /** The largest k. */
  val most: Int = 3
  val weightBits: Int = log2Ceil(most + 1)

  /** The bits of `word` that a shift to the right by `k` moves to each place, or zero at its counter's end. `passes`
    * tells of a byte that the counter goes on above it.
    */
  def shifted(word: UInt, k: Int, passes: Int => Bool, p: NemoParams): UInt = VecInit.tabulate(p.wordBits) { i =>
    val from = i + k
    if (from >= p.wordBits) false.B
    else (i / p.byteBits until from / p.byteBits).map(passes).fold(word(from))(_ && _)
  }.asUInt

  /** The two terms for the adder; for other ops A and B. Combinational. */
  def apply(a: UInt, in: AluOperand, p: NemoParams): (UInt, UInt) = {
    require(p.byteBits >= most, "a counter has fewer bits than an average's step leaves out")
    val average = in.average.get
    def byteOf(i: Int): Int = i / p.byteBits
    def byWeight(byte: Int)(f: Int => Bool): Bool =
      MuxLookup(average.weight(byte), false.B)((1 to most).map(k => k.U -> f(k)))
    val moved = (1 to most).map(k => shifted(a, k, in.guardsA(_), p))
    val inverted = VecInit.tabulate(p.wordBits)(i => byWeight(byteOf(i))(k => !moved(k - 1)(i))).asUInt
    val b = Mux(average.enable, in.b, 0.U)
    val carries = (a & inverted) | (a & b) | (inverted & b)
    def notBelow(byte: Int): Bool = byWeight(byte) { k =>
      val low = byte * p.byteBits
      average.remainder(k - 1, 0) >= a(low + k - 1, low)
    }
    val carriesIn = VecInit.tabulate(p.wordBits) { i =>
      val before = if (i == 0) false.B else carries(i - 1)
      if (i % p.byteBits != 0) before
      else if (i == 0) notBelow(0)
      else Mux(in.guardsA(byteOf(i) - 1), before, notBelow(byteOf(i)))
    }.asUInt
    (a ^ inverted ^ b, Mux(average.enable, carriesIn, in.b))
  }
}
