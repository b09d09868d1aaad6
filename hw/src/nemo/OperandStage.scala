// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** An operand laid out for [[UpdateAlu]]: aligned with the counters it meets, neutral in the others. */
class AluOperand(p: NemoParams) extends Bundle {
  val b = UInt(p.wordBits.W)

  /** Bytes of A that do not join `alt`. */
  val drop = UInt(p.wordBytes.W)
  val subtract = Bool()
  val counterWidth = UInt(2.W)

  /** The highest bytes of counters. */
  val tops = UInt(p.wordBytes.W)
  val settle = UInt(2.W)

  /** Right rotation of the word, and which bits of it join `alt`. */
  val rotate = UInt(log2Ceil(p.wordBits).W)
  val keep = UInt(p.wordBits.W)
}

/** Lays an operand out for the counters of a state word that an access selects.
  *
  * Nothing here depends on the state, so it is pipelined beside the state's own read. Latency:
  * [[OperandStage.latency]] cycles.
  */
class OperandStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val op = Input(UInt(UpdateOp.codeBits.W))

    /** The operand, repeated in every counter of the word, is the OR of the two: one comes with the op, the other in the
      * cycle behind it.
      */
    val operand = Input(UInt(p.wordBits.W))
    val later = Input(UInt(p.wordBits.W))

    /** The shift amount, the operand modulo 64. */
    val amount = Input(UInt(6.W))
    val counterWidth = Input(UInt(2.W))

    /** Bytes of the word that are updated: one counter's, or all. */
    val inside = Input(UInt(p.wordBytes.W))
    val result = Output(new AluOperand(p))
  })

  // First cycle: decode.
  private val control = RegNext(OpControl(io.op))
  private val operand = RegNext(io.operand)
  private val amount = RegNext(io.amount)
  private val width = RegNext(io.counterWidth)
  private val inside = RegNext(io.inside)

  // Second: B, and the threshold of a shift. Of a counter of W bits a shift by n to the left fills bits n and up, one
  // to the right the bits below W - n, so both compare a bit's place in its counter with one number: first the byte, then
  // the bit of the byte in which the threshold is.
  private val left = control.moved === UpdateOp.Left.code.U
  private val right = control.moved === UpdateOp.Right.code.U
  private val counterBits = CounterWidth.select(width, p)(w => p.counterBits(w).U(7.W))
  private val threshold = Mux(left, amount.pad(7), Mux(amount < counterBits, counterBits - amount, 0.U))
  private val byteBits = log2Ceil(p.byteBits)
  private val (thresholdByte, thresholdBit) = (threshold >> byteBits, threshold(byteBits - 1, 0))
  private val shifts = Mux(left || right, inside, 0.U)
  private def under(n: UInt, bits: Int): UInt = VecInit.tabulate(bits)(_.U < n).asUInt
  private val (bytesUnder, bytesUpTo) = (under(thresholdByte, p.wordBytes), under(thresholdByte +& 1.U, p.wordBytes))
  private def inCounters(bytes: UInt): UInt = CounterWidth.repeatBytes(bytes, width, p) & shifts
  private val meets = RegNext(inCounters(bytesUpTo & ~bytesUnder))
  private val whole = RegNext(inCounters(Mux(left, ~bytesUpTo, bytesUnder)))
  private val part = RegNext(under(thresholdBit, p.byteBits) ^ Fill(p.byteBits, left))
  private val whereB = RegNext(control.moved === UpdateOp.WhereB.code.U)

  private val result = Reg(new AluOperand(p))
  private val useful = CounterWidth.spread(Mux(control.operand, inside, 0.U), p)
  result.b := ((operand | io.later) & useful) ^ Fill(p.wordBits, control.subtract)
  result.drop := Mux(control.pass, 0.U, inside)
  result.subtract := control.subtract
  result.counterWidth := width
  result.tops := CounterWidth.tops(width, p)
  result.settle := control.settle
  result.rotate := Mux(left, 0.U - amount, Mux(right, amount, 0.U))

  // Third: the bits that join.
  io.result := RegNext(result)
  private val kept = CounterWidth.spread(whole, p) | (CounterWidth.spread(meets, p) & Fill(p.wordBytes, part))
  io.result.keep := RegNext(kept | (result.b & Fill(p.wordBits, whereB)))
}

object OperandStage {
  val latency: Int = 3
}
