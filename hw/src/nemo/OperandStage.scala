// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** An operand laid out for [[UpdateAlu]]: aligned with the counters it meets, neutral in the others. */
class AluOperand(p: NemoParams) extends Bundle {

  /** B as the adder has it: inverted when `subtract`, and all ones then in bytes that are not updated, where it is zero
    * otherwise. Of a shift, the bits that it keeps.
    */
  val b = UInt(p.wordBits.W)
  val subtract = Bool()

  /** The guard bits of the adder above the bytes of A, and above those of `b` ([[UpdateAlu]]). */
  val guardsA = UInt(p.wordBytes.W)
  val guardsB = UInt(p.wordBytes.W)

  /** By byte, the lower and the higher bit of a [[ResultChoice]] code where a bit of `b` is zero; and which of these are
    * others where it is one.
    */
  val codes = Vec(2, UInt(p.wordBytes.W))
  val flips = Vec(2, Bool())

  /** Whether the carries that [[CarryChoice]] chooses by `carries` count, and by level whether that out of the word does. */
  val early = Bool()
  val carries = UInt(CarryChoice.codeBits(p).W)
  val late = Vec(p.levels.size, Bool())

  /** Right rotation of A, zero where nothing is moved. */
  val rotate = UInt(log2Ceil(p.wordBits).W)

  /** A is of the result; else it counts as zero. */
  val pass = Bool()

  /** Where all results are sums, what a reset has in the place of A, beside a B of zero; else zero. */
  val fresh = UInt((if (OpControl.onlySums(p)) p.wordBits else 0).W)
}

/** Lays an operand out for the counters of a state word that an access selects.
  *
  * Nothing here depends on the state, so it is pipelined beside the state's own read. Latency:
  * [[OperandStage.latency]] cycles.
  */
class OperandStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val op = Input(UInt(UpdateOp.codeBits.W))

    /** Which of `operands` is the operand; none: it is zero. */
    val from = Input(Vec(OperandStage.sources, Bool()))
    val counterWidth = Input(UInt(2.W))

    /** Bytes of the word that are updated: one counter's, or all. */
    val inside = Input(UInt(p.wordBytes.W))

    /** Each repeated in every counter of the word, a cycle behind all others. A shift is by the lowest six bits. */
    val operands = Input(Vec(OperandStage.sources, UInt(p.wordBits.W)))
    val result = Output(new AluOperand(p))
  })

  // First cycle: decode.
  private val control = RegNext(OpControl(io.op, p))
  private val from = io.from.map(RegNext(_))
  private val width = RegNext(io.counterWidth)
  private val inside = RegNext(io.inside)

  // Second: which bits of a counter a shift by n keeps: to the left those in places n and up, to the right those whose
  // places counted from the top are. Of a bit's place, that of its byte is compared first. Each digit of a byte's place has
  // one of two values, so that both are compared once for all bytes.
  private def moves(to: UpdateOp.Moved): Bool =
    if (p.features.ops.exists(_.moved == to)) control.moved === to.code.U else false.B
  private val right = moves(UpdateOp.Right)
  private val shifts = right || moves(UpdateOp.Left)
  private val amount =
    from.zip(io.operands).map { case (f, operand) => Mux(f, operand.pad(6)(5, 0), 0.U) }.reduce(_ | _)
  private val byteBits = log2Ceil(p.byteBits)
  private val (amountByte, amountBit) = (amount >> byteBits, amount(byteBits - 1, 0))
  private val digits = Seq.tabulate(6 - byteBits) { i =>
    Seq.tabulate(2) { bit =>
      val digit = if (i < p.subBits) (right ^ (bit == 1).B) && width > i.U else false.B
      (digit && !amountByte(i), digit === amountByte(i))
    }
  }
  private val (over, at) = Seq.tabulate(p.wordBytes) { byte =>
    digits.zipWithIndex.foldLeft((false.B, true.B)) { case ((over, at), (digit, i)) =>
      val (greater, equal) = digit((byte >> i) & 1)
      (greater || (equal && over), equal && at)
    }
  }.unzip
  private val ones = RegNext(Mux(shifts, VecInit(over).asUInt & inside, Fill(p.wordBytes, control.subtract)))
  private val meets = Mux(shifts, VecInit(at).asUInt & inside, 0.U)
  private val bitsFrom = VecInit.tabulate(p.byteBits)(_.U >= amountBit).asUInt
  private val part = Mux(right, Reverse(bitsFrom), bitsFrom)
  private def byBytes(byte: Int => UInt): UInt = VecInit.tabulate(p.wordBytes)(byte).asUInt
  private val parts = byBytes(k => RegNext(Mux(meets(k), part, 0.U(p.byteBits.W))))
  private val (effect, others) =
    from.zip(io.operands).map { case (f, operand) => RegNext(Mux(f && !shifts, operand, 0.U)) }.splitAt(1)

  // An effect is a reset, or what ops there are.
  private val isReset = if (p.features.byWord) RegNext(!control.pass) else true.B
  private val (resets, operands) =
    if (OpControl.onlySums(p)) (Mux(isReset, effect.head, 0.U), Mux(isReset, 0.U, effect.head) +: others)
    else (0.U, effect ++ others)

  // Third: B, and what the choice of the result needs beside it.
  private def later[T <: Data](x: T): T = RegNext(RegNext(x))
  private val covered = RegNext(inside)
  private val spread = CounterWidth.spread(_, p)
  io.result.b := RegNext(((operands.reduce(_ | _) & spread(covered)) ^ spread(ones)) | parts)
  io.result.subtract := later(control.subtract)
  private val widthNow = RegNext(width)
  private val ends = CounterWidth.ends(widthNow, p)
  private val differs = Fill(p.wordBytes, RegNext(control.subtract))
  io.result.guardsA := RegNext(~ends | differs)
  io.result.guardsB := RegNext(ends & differs)
  private val (plain, outside) = (RegNext(control.plain), RegNext(control.outside))
  for (i <- 0 until 2) {
    io.result.codes(i) := RegNext(byBytes(k => Mux(covered(k), plain(i), outside(i))))
    io.result.flips(i) := later(control.flips(i))
  }
  private val (ofCounter, always) = (RegNext(control.ofCounter), RegNext(control.always))
  private def byWidth[T <: Data](f: Int => T): T = CounterWidth.select(widthNow, p)(f)
  private val codes = CarryChoice.codes(p).toMap
  io.result.early := RegNext(always || (ofCounter && byWidth(codes.contains(_).B)))
  private val code = byWidth(w => codes.getOrElse(w, 0).U(CarryChoice.codeBits(p).W))
  io.result.carries := RegNext(Mux(always, CarryChoice.all(p).U, code))
  for ((late, level) <- io.result.late.zip(p.levels)) late := RegNext(ofCounter && byWidth(w => (w >= level).B))
  io.result.rotate := later(Mux(shifts, Mux(right, amount, 0.U - amount), 0.U))
  io.result.pass := later(control.pass)
  io.result.fresh := RegNext(resets)
}

object OperandStage {

  /** Who may have an operand: a read's effect, the rule, and a field of the request. */
  val sources: Int = 3
  val latency: Int = 3
}
