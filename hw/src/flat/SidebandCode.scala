// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.ColumnCode
import chisel3._
import chisel3.util._

/** The code of what is stored beside a near line: the payload, a [[Sideband]], and above it check bits of the payload and
  * of the set's number, which is not stored. One flipped bit is corrected, two are noticed, and so is a word of another
  * set.
  *
  * A check bit is a parity. The columns say in which check bits a payload bit, or a bit of the set's number, is: a payload
  * bit in three, a check bit in itself, and so in an odd number, all different. A bit of the set's number is in an even
  * number, so a word of another set never looks like one that has one flipped bit.
  *
  * Neither all zeros nor all ones is a word, or one flipped bit away from one, of any set: the top check bit has no bit of
  * the set's number, and is inverted; and the number of bits is even.
  */
class SidebandCode(p: FlatParams) {
  val payloadBits: Int = new Sideband(p).getWidth
  val checkBits: Int = 8 + payloadBits % 2
  val bits: Int = payloadBits + checkBits

  private val top = 1 << (checkBits - 1)
  private val inverted = top + 1
  private def ones(column: Int): Int = Integer.bitCount(column)

  /** By payload bit. */
  val payloadColumns: Seq[Int] =
    (top + 3) +: ColumnCode.byWeight((1 until top).filter(ones(_) == 3)).take(payloadBits - 1)

  /** By bit of the set's number. Those in the lowest check bit come first: of them any three differ from zero, too. */
  val setColumns: Seq[Int] = {
    val (odd, even) = (1 until top).filter(ones(_) % 2 == 0).partition(_ % 2 == 1)
    ColumnCode.byWeight(odd) ++ ColumnCode.byWeight(even)
  }
  require(payloadColumns.length == payloadBits, s"payloadBits: a column of weight 3 each, not $payloadBits bits")
  require(p.lineBits <= setColumns.length, s"lineBits: at most ${setColumns.length}, not ${p.lineBits}")

  /** Of the payload, and of the set's number. */
  val payload = new ColumnCode(payloadColumns, checkBits)
  private val sets = new ColumnCode(setColumns, checkBits)

  /** What a set's number makes of the check bits. */
  def seal(set: UInt): UInt = sets.checks(set) ^ inverted.U

  /** The word of a set with this seal. */
  def word(sideband: Sideband, seal: UInt): UInt =
    Cat(payload.checks(sideband.asUInt) ^ seal, sideband.asUInt)

  /** A word that was read, with what its payload makes of the check bits taken off them. So they are the seal, where
    * nothing is wrong. Before a register, this is what [[SidebandCheck]] needs not do behind it.
    */
  def unfolded(word: UInt): UInt =
    Cat(word(bits - 1, payloadBits) ^ payload.checks(word(payloadBits - 1, 0)), word(payloadBits - 1, 0))
}

/** What is to be thought of a sideband. Combinational. */
class SidebandCheck(p: FlatParams) extends Module {
  private val code = new SidebandCode(p)
  val io = IO(new Bundle {

    /** As [[SidebandCode.unfolded]] has it, and the seal of the set that it was read for. */
    val unfolded = Input(UInt(code.bits.W))
    val seal = Input(UInt(code.checkBits.W))

    /** The word came poisoned: more may be wrong in it than what a code corrects, so it is to be clean. */
    val poison = Input(Bool())
    val sideband = Output(new Sideband(p))

    /** The sideband may be gone by. A flipped bit was corrected to have it so. */
    val believed = Output(Bool())
    val corrected = Output(Bool())
  })
  private val syndrome = io.unfolded(code.bits - 1, code.payloadBits) ^ io.seal
  private val flips = code.payload.flips(syndrome)
  private val single = flips.orR || code.payload.checkFlips(syndrome).orR
  io.sideband := (io.unfolded(code.payloadBits - 1, 0) ^ flips).asTypeOf(new Sideband(p))
  io.believed := io.sideband.permutation.legal && (!syndrome.orR || (single && !io.poison))
  io.corrected := io.believed && single
}
