// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.ColumnCode
import chisel3._
import chisel3.util._

/** Code of the sideband that near stores with a line. A word is the payload (a [[Sideband]]) with check bits above it,
  * which cover the payload and the set number; the set number is not stored. The code corrects one flipped bit, and
  * detects two flipped bits or the word of another set.
  *
  * Each check bit is a parity. A column lists the check bits that a payload bit or a set number bit is in: three for a
  * payload bit, itself for a check bit. These columns are of odd weight and all different. A set number bit has a
  * column of even weight, so the word of another set never looks like a word with one flipped bit.
  *
  * Neither all zeros nor all ones is within one flipped bit of a word of any set: the top check bit covers no set
  * number bit and is inverted, and the number of bits is even.
  */
class SidebandCode(p: FlatParams) {
  val payloadBits: Int = new Sideband(p).getWidth
  val checkBits: Int = 8 + payloadBits % 2
  val bits: Int = payloadBits + checkBits

  private val top = 1 << (checkBits - 1)
  private val inverted = top + 1
  private def ones(column: Int): Int = Integer.bitCount(column)

  /** Columns by payload bit. */
  val payloadColumns: Seq[Int] =
    (top + 3) +: ColumnCode.byWeight((1 until top).filter(ones(_) == 3)).take(payloadBits - 1)

  /** Columns by set number bit. Those that include the lowest check bit come first: no three of them XOR to zero. */
  val setColumns: Seq[Int] = {
    val (odd, even) = (1 until top).filter(ones(_) % 2 == 0).partition(_ % 2 == 1)
    ColumnCode.byWeight(odd) ++ ColumnCode.byWeight(even)
  }
  require(payloadColumns.length == payloadBits, s"payloadBits: a column of weight 3 each, not $payloadBits bits")
  require(p.lineBits <= setColumns.length, s"lineBits: at most ${setColumns.length}, not ${p.lineBits}")

  /** Codes of the payload and of the set number. */
  val payload = new ColumnCode(payloadColumns, checkBits)
  private val sets = new ColumnCode(setColumns, checkBits)

  /** Contribution of the set number to the check bits. */
  def seal(set: UInt): UInt = sets.checks(set) ^ inverted.U

  /** Word of a set with this seal. */
  def word(sideband: Sideband, seal: UInt): UInt =
    Cat(payload.checks(sideband.asUInt) ^ seal, sideband.asUInt)

  /** A received word whose check bits are XORed with the payload's checks, so they equal the seal if the word is
    * intact. Done before a register, this takes logic out of [[SidebandCheck]].
    */
  def predecoded(word: UInt): UInt =
    Cat(word(bits - 1, payloadBits) ^ payload.checks(word(payloadBits - 1, 0)), word(payloadBits - 1, 0))
}

/** Checks a sideband. Combinational. */
class SidebandCheck(p: FlatParams) extends Module {
  private val code = new SidebandCode(p)
  val io = IO(new Bundle {

    /** Word after [[SidebandCode.predecoded]], and the seal of the set that was read. */
    val predecoded = Input(UInt(code.bits.W))
    val seal = Input(UInt(code.checkBits.W))

    /** The word came poisoned and may have more errors than the code corrects, so it must be free of errors. */
    val poison = Input(Bool())
    val sideband = Output(new Sideband(p))

    /** The sideband can be used; a flipped bit was corrected in it. */
    val trusted = Output(Bool())
    val corrected = Output(Bool())
  })
  private val syndrome = io.predecoded(code.bits - 1, code.payloadBits) ^ io.seal
  private val flips = code.payload.flips(syndrome)
  private val single = flips.orR || code.payload.checkFlips(syndrome).orR
  io.sideband := (io.predecoded(code.payloadBits - 1, 0) ^ flips).asTypeOf(new Sideband(p))
  io.trusted := io.sideband.permutation.legal && (!syndrome.orR || (single && !io.poison))
  io.corrected := io.trusted && single
}
