// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util._

/** What a code says of what was stored. */
class MemoryFault extends Bundle {

  /** A flipped bit was corrected. */
  val corrected = Bool()

  /** More are flipped than can be: the data are not to be used. */
  val uncorrected = Bool()
}

/** What is kept of `width` bits: the bits, and above them the check bits of each part of 64, the last one of up to 72.
  * One flipped bit of each part is corrected, two are noticed.
  *
  * Combinational, in look-ups of four inputs: three to encode, six to decode.
  */
class Secded(width: Int) {
  require(width >= 1, s"width: 1 or more, not $width")
  private val parts: Seq[(Int, Int)] = {
    val count = 1 + (width - Secded.most + Secded.part - 1).max(0) / Secded.part
    Seq.tabulate(count)(i => (i * Secded.part, if (i == count - 1) width else (i + 1) * Secded.part))
  }
  private val codes = parts.map { case (from, to) => ColumnCode.secded(to - from) }

  /** Bits with the check bits. */
  val bits: Int = width + codes.map(_.checkBits).sum

  def encode(word: UInt): UInt = {
    val checks = parts.zip(codes).map { case ((from, to), code) => code.checks(word(to - 1, from)) }
    Cat(Cat(checks.reverse), word(width - 1, 0))
  }

  /** What was stored, corrected. */
  def decode(stored: UInt): (UInt, MemoryFault) = {
    val lows = codes.scanLeft(width)(_ + _.checkBits)
    val decoded = parts.zip(codes).zip(lows).map { case (((from, to), code), low) =>
      val word = stored(to - 1, from)
      val syndrome = code.checks(word) ^ stored(low + code.checkBits - 1, low)
      (word ^ code.flips(syndrome), syndrome.orR, code.beyond(syndrome))
    }
    val fault = Wire(new MemoryFault)
    fault.uncorrected := decoded.map(_._3).reduce(_ || _)
    fault.corrected := !fault.uncorrected && decoded.map(_._2).reduce(_ || _)
    (Cat(decoded.map(_._1).reverse), fault)
  }
}

object Secded {
  private val part = 64
  private val most = 72
}
