// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** Result of a code's check of a stored word. */
class MemoryFault extends Bundle {

  /** A flipped bit was corrected. */
  val corrected = Bool()

  /** Too many bits are flipped to correct, so the data must not be used. */
  val uncorrected = Bool()
}

/** What a code finds in each part of a stored word. Its fault is one or two look-ups more, so users register this first.
  */
class CodeCheck(parts: Int) extends Bundle {

  /** The part is not as it was stored. */
  val flipped = UInt(parts.W)

  /** The part cannot be corrected. */
  val uncorrected = UInt(parts.W)

  def fault: MemoryFault = {
    val fault = Wire(new MemoryFault)
    fault.corrected := flipped.orR && !uncorrected.orR
    fault.uncorrected := uncorrected.orR
    fault
  }
}

/** SECDED code of `width` bits: the data, and above them the check bits of each part of 64 bits; the last part has up
  * to 72. Corrects one flipped bit per part and detects two.
  *
  * Combinational. In four-input look-ups, encoding is three deep and decoding six.
  */
class Secded(width: Int) {
  require(width >= 1, s"width: 1 or more, not $width")
  private val parts: Seq[(Int, Int)] = {
    val count = 1 + (width - Secded.most + Secded.part - 1).max(0) / Secded.part
    Seq.tabulate(count)(i => (i * Secded.part, if (i == count - 1) width else (i + 1) * Secded.part))
  }
  private val codes: Seq[ColumnCode] = {
    val lengths = parts.map { case (from, to) => to - from }
    val ofLength = lengths.distinct.map(length => length -> ColumnCode.secded(length)).toMap
    lengths.map(ofLength)
  }
  private val lows = codes.scanLeft(width)(_ + _.checkBits) // of the check bits

  /** Bits of data and check bits. */
  val bits: Int = width + codes.map(_.checkBits).sum

  def encode(word: UInt): UInt = {
    val checks = parts.zip(codes).map { case ((from, to), code) => code.checks(word(to - 1, from)) }
    Cat(Cat(checks.reverse), word(width - 1, 0))
  }

  /** The parts of a stored word, each as a code of its own width has it. */
  def split(stored: UInt): Seq[UInt] = parts.zip(codes).zip(lows).map { case (((from, to), code), low) =>
    Cat(stored(low + code.checkBits - 1, low), stored(to - 1, from))
  }

  /** The stored word, corrected, and what was found in it. */
  def decode(stored: UInt): (UInt, CodeCheck) = {
    val beyond = codes.distinct.map(code => code -> code.beyond).toMap
    val decoded = parts.zip(codes).zip(lows).map { case (((from, to), code), low) =>
      val word = stored(to - 1, from)
      val syndrome = code.checks(word) ^ stored(low + code.checkBits - 1, low)
      // No flip has a zero syndrome; said so, a simulator skips the others.
      (word ^ Mux(syndrome.orR, code.flips(syndrome), 0.U), syndrome.orR, beyond(code)(syndrome))
    }
    val check = Wire(new CodeCheck(parts.length))
    check.flipped := VecInit(decoded.map(_._2)).asUInt
    check.uncorrected := VecInit(decoded.map(_._3)).asUInt
    (Cat(decoded.map(_._1).reverse), check)
  }
}

object Secded {
  private val part = 64
  private val most = 72
}
