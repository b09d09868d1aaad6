// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._

/** Check bits of a word: each is a parity of some of its bits. A bit's column says, as a number, in which check bits it is;
  * a check bit is in itself.
  *
  * Where all columns are of odd weight, different, and none of a single bit, one flipped bit of the word or of its check
  * bits is told by its column, and two are noticed: Hsiao's code.
  *
  * All functions are combinational. A check bit is a tree of exclusive ors; `flips` is one of ands, of as many as there are
  * check bits.
  */
class ColumnCode(val columns: Seq[Int], val checkBits: Int) {
  require(columns.distinct.length == columns.length, "columns: all different")
  require(columns.forall(c => c > 0 && c < (1 << checkBits)), s"columns: 1 to ${(1 << checkBits) - 1}")

  /** The bits of a word of so many bits that a check bit is the parity of. */
  private def row(check: Int, bits: Int): BigInt =
    columns.take(bits).zipWithIndex.collect { case (c, bit) if (c >> check & 1) == 1 => BigInt(1) << bit }.sum

  /** The check bits of a word, which may be shorter than there are columns. */
  def checks(word: UInt): UInt =
    VecInit.tabulate(checkBits)(check => (word & row(check, word.getWidth).U(word.getWidth.W)).xorR).asUInt

  /** The bits of a word whose column the syndrome is. */
  def flips(syndrome: UInt): UInt = {
    val bits = columns.length
    (0 until checkBits)
      .map(check => ~(row(check, bits).U(bits.W) ^ VecInit.fill(bits)(syndrome(check)).asUInt))
      .reduce(_ & _)
  }

  /** The check bits whose column the syndrome is. */
  def checkFlips(syndrome: UInt): UInt = VecInit.tabulate(checkBits)(check => syndrome === (1 << check).U).asUInt

  /** The syndrome is no column and not zero: more bits are flipped than can be corrected. A table of the syndrome, so that it
    * is not behind `flips`.
    */
  def beyond(syndrome: UInt): Bool = {
    val known = columns.toSet ++ (0 until checkBits).map(1 << _) + 0
    val table = (0 until 1 << checkBits).filterNot(known).map(BigInt(1) << _).sum
    table.U((1 << checkBits).W)(syndrome)
  }
}

object ColumnCode {

  /** Numbers of so many bits by weight, then ascending. */
  def byWeight(columns: Seq[Int]): Seq[Int] = columns.sortBy(column => (Integer.bitCount(column), column))

  /** Corrects one flipped bit and notices two (SECDED), with the fewest check bits that do for a word of `bits` bits. */
  def secded(bits: Int): ColumnCode = {
    def odd(checkBits: Int) =
      byWeight((1 until 1 << checkBits).filter(c => Integer.bitCount(c) % 2 == 1 && Integer.bitCount(c) > 1))
    val checkBits = Iterator.from(3).find(odd(_).length >= bits).get
    new ColumnCode(odd(checkBits).take(bits), checkBits)
  }
}
