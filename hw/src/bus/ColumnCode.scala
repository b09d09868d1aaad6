// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util.Fill

/** A linear code. Each check bit is the parity of some bits of the word. The column of a bit is a number whose set bits
  * are the check bits that include it; a check bit includes itself.
  *
  * If all columns are different, of odd weight, and none has weight 1, the code corrects one flipped bit of the word or
  * check bits and detects two (Hsiao's code).
  *
  * All functions are combinational. A check bit is an XOR tree; a bit of `flips` is an AND tree as wide as the check
  * bits.
  */
class ColumnCode(val columns: Seq[Int], val checkBits: Int) {
  require(columns.distinct.length == columns.length, "columns: all different")
  require(columns.forall(c => c > 0 && c < (1 << checkBits)), s"columns: 1 to ${(1 << checkBits) - 1}")

  /** Mask of the word's bits, for a word of `bits` bits, that a check bit covers. */
  private def row(check: Int, bits: Int): BigInt =
    columns.take(bits).zipWithIndex.collect { case (c, bit) if (c >> check & 1) == 1 => BigInt(1) << bit }.sum

  /** Check bits of a word, which may be shorter than the number of columns. */
  def checks(word: UInt): UInt =
    VecInit.tabulate(checkBits)(check => (word & row(check, word.getWidth).U(word.getWidth.W)).xorR).asUInt

  /** Mask of the word's bits to correct: those whose column equals the syndrome. */
  def flips(syndrome: UInt): UInt = {
    val bits = columns.length
    (0 until checkBits)
      .map(check => ~(row(check, bits).U(bits.W) ^ Fill(bits, syndrome(check))))
      .reduce(_ & _)
  }

  /** Mask of the check bits whose column equals the syndrome. */
  def checkFlips(syndrome: UInt): UInt = VecInit.tabulate(checkBits)(check => syndrome === (1 << check).U).asUInt

  /** By syndrome, whether the error cannot be corrected: the syndrome is neither zero nor a column. A table, so its
    * delay does not add to that of `flips`.
    */
  def beyond: Vec[Bool] = {
    val known = columns.toSet ++ (0 until checkBits).map(1 << _) + 0
    VecInit.tabulate(1 << checkBits)(value => (!known(value)).B)
  }
}

object ColumnCode {

  /** Columns sorted by weight, then by value. */
  def byWeight(columns: Seq[Int]): Seq[Int] = columns.sortBy(column => (Integer.bitCount(column), column))

  /** SECDED code (corrects one flipped bit, detects two) with the fewest check bits for a word of `bits` bits. */
  def secded(bits: Int): ColumnCode = {
    def odd(checkBits: Int) =
      byWeight((1 until 1 << checkBits).filter(c => Integer.bitCount(c) % 2 == 1 && Integer.bitCount(c) > 1))
    val checkBits = Iterator.from(3).find(odd(_).length >= bits).get
    new ColumnCode(odd(checkBits).take(bits), checkBits)
  }
}
