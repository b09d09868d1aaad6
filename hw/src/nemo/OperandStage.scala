// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** An operand laid out for [[UpdateAlu]]: aligned with the counters it meets, zero elsewhere. */
class AluOperand(p: NemoParams) extends Bundle {
  val b = UInt(p.wordBits.W)

  /** A guard bit above each byte of the sum: (0,0) ends a counter, (1,1) also starts the next with a carry, (1,0)
    * hands the carry on within a counter. At the end of a counter the guard's sum bit is the counter's carry out.
    */
  val guardA = UInt(p.wordBytes.W)
  val guardB = UInt(p.wordBytes.W)
  val subtract = Bool()
  val counterWidth = UInt(2.W)

  /** By byte: what of A joins `alt`, and which result stands ([[UpdateOp]]). */
  val pass = Vec(p.wordBytes, UInt(2.W))
  val settle = Vec(p.wordBytes, UInt(2.W))

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

    /** Bytes of the word that are updated: one counter's, or all. */
    val bytes = Input(UInt(p.wordBytes.W))
    val result = Output(new AluOperand(p))
  })

  // First cycle: decode.
  private val control = RegNext(OpControl(io.op))
  private val operand = RegNext(io.operand)
  private val amount = RegNext(io.amount)
  private val width = RegNext(io.counterWidth)
  private val bytes = RegNext(io.bytes)

  // Second: B, and the threshold of a shift. Of a counter of W bits a shift by n to the left fills bits n and up, one
  // to the right the bits below W - n, so both compare a bit's place in its counter with one number.
  private val left = control.shift === UpdateOp.Left.code.U
  private val counterBits = CounterWidth.select(width, p)(w => (8 << w).U(7.W))
  private val threshold = Mux(left, amount.pad(7), Mux(amount < counterBits, counterBits - amount, 0.U))
  private val reaches = RegNext(Cat((0 until p.wordBits).reverse.map(n => n.U >= threshold)))
  private val shifts = RegNext(Mux(control.shift === UpdateOp.NoShift.code.U, 0.U, bytes))
  private val fromBelow = RegNext(left)

  private val result = Reg(new AluOperand(p))
  private val inverted = Mux(control.subtract, ~operand, operand)
  private val tops = CounterWidth.tops(width, p)
  result.b := Mux(control.operand, inverted & CounterWidth.everyBit(bytes, p), 0.U)
  result.guardA := ~tops | Fill(p.wordBytes, control.subtract)
  result.guardB := tops & Fill(p.wordBytes, control.subtract)
  result.subtract := control.subtract
  result.counterWidth := width
  for (k <- 0 until p.wordBytes) {
    // A byte outside the counter stays as it is: it passes A, and nothing else of the result stands.
    result.pass(k) := Mux(bytes(k), control.pass, UpdateOp.PassOnes.code.U)
    result.settle(k) := Mux(bytes(k), control.settle, UpdateOp.SettleAlt.code.U)
  }
  result.rotate := Mux(left, 0.U - amount, amount)

  // Third: the kept bits.
  io.result := RegNext(result)
  private val placed = CounterWidth.select(result.counterWidth, p) { w =>
    Cat((0 until p.wordBits).reverse.map(i => reaches(i % (8 << w))))
  }
  private val kept = Mux(fromBelow, placed, ~placed) & CounterWidth.everyBit(shifts, p)
  io.result.keep := RegNext(kept)
}

object OperandStage {
  val latency: Int = 3
}
