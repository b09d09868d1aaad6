// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** An operand laid out for [[UpdateAlu]]: aligned with the counters it meets, neutral in the others. */
class AluOperand(p: NemoParams) extends Bundle {
  val b = UInt(p.wordBits.W)

  /** Bits of A that do not join `alt`. */
  val drop = UInt(p.wordBits.W)

  /** B as it is added: the top bits of counters make no carry, or each one carry when `subtract`. */
  val addend = UInt(p.wordBits.W)
  val subtract = Bool()
  val counterWidth = UInt(2.W)
  val settle = UInt(2.W)

  /** Right rotation of the word, and which bits of it a shift keeps. */
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

    /** The operand, repeated in every counter of the word. */
    val operand = Input(UInt(p.wordBits.W))

    /** The shift amount, the operand modulo 64. */
    val amount = Input(UInt(6.W))
    val counterWidth = Input(UInt(2.W))

    /** Bits of the word that are updated: one counter's, or all. */
    val inside = Input(UInt(p.wordBits.W))
    val result = Output(new AluOperand(p))
  })

  private val ones = Fill(p.wordBits, 1.U(1.W))

  // First cycle: decode.
  private val control = RegNext(OpControl(io.op))
  private val operand = RegNext(io.operand)
  private val amount = RegNext(io.amount)
  private val width = RegNext(io.counterWidth)
  private val inside = RegNext(io.inside)

  // Second: B, and the threshold of a shift. Of a counter of W bits a shift by n to the left fills bits n and up, one
  // to the right the bits below W - n, so both compare a bit's place in its counter with one number.
  private val left = control.shift === UpdateOp.Left.code.U
  private val shifts = RegNext(control.shift =/= UpdateOp.NoShift.code.U)
  private val fromBelow = RegNext(left)
  private val counterBits = CounterWidth.select(width, p)(w => p.counterBits(w).U(7.W))
  private val threshold = Mux(left, amount.pad(7), Mux(amount < counterBits, counterBits - amount, 0.U))
  private val above = (p.wordBits.U - threshold)(log2Ceil(p.wordBits), 0)
  private val below = RegNext(Mux(threshold > p.wordBits.U, ones, ones >> above))
  private val inLater = RegNext(inside)

  private val result = Reg(new AluOperand(p))
  private val b = (operand & Mux(control.operand, inside, 0.U)) ^ Fill(p.wordBits, control.subtract)
  private val tops = CounterWidth.tops(width, p)
  result.b := b
  result.drop := MuxLookup(control.pass, inside)(
    Seq(UpdateOp.PassOnes.code.U -> 0.U, UpdateOp.PassNotB.code.U -> b)
  )
  result.addend := Mux(control.subtract, b | tops, b & ~tops)
  result.subtract := control.subtract
  result.counterWidth := width
  result.settle := control.settle
  result.rotate := Mux(left, 0.U - amount, amount)

  // Third: the kept bits.
  io.result := RegNext(result)
  private val placed = CounterWidth.repeat(below, result.counterWidth, p)
  private val kept = Mux(fromBelow, ~placed, placed) & inLater
  io.result.keep := RegNext(Mux(shifts, kept, 0.U))
}

object OperandStage {
  val latency: Int = 3
}
