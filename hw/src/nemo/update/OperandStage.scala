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

  /** By byte, the lower and the higher bit of a [[ResultMux]] code where a bit of `b` is zero; and which of these are
    * others where it is one.
    */
  val codes = Vec(2, UInt(p.wordBytes.W))
  val codeFlips = Vec(2, Bool())

  /** Whether the carries that [[CarryMux]] chooses by `carrySelect` count, and by level whether that out of the word does. */
  val useByteCarry = Bool()
  val carrySelect = UInt(CarryMux.codeBits(p).W)
  val useWordCarry = Vec(p.levels.size, Bool())

  /** Right rotation of A, zero where nothing is moved. */
  val rotate = UInt(log2Ceil(p.wordBits).W)

  /** A is of the result; else it counts as zero. */
  val passState = Bool()

  /** Where all results are sums, what a reset has in the place of A, beside a B of zero; else zero. */
  val resetValue = UInt((if (OpControl.onlySums(p)) p.wordBits else 0).W)
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
    val sourceSelect = Input(Vec(OperandStage.sources, Bool()))
    val counterWidth = Input(UInt(2.W))

    /** Bytes of the word that are updated: one counter's, or all. */
    val byteMask = Input(UInt(p.wordBytes.W))

    /** Each repeated in every counter of the word, a cycle behind all others. A shift is by the lowest six bits. */
    val operands = Input(Vec(OperandStage.sources, UInt(p.wordBits.W)))
    val result = Output(new AluOperand(p))
  })

  // First cycle: decode.
  private val control = RegNext(OpControl(io.op, p))
  private val sourceSelect = io.sourceSelect.map(RegNext(_))
  private val width = RegNext(io.counterWidth)
  private val byteMask = RegNext(io.byteMask)

  // Second: which bits of a counter a shift by n keeps: to the left those in places n and up, to the right those whose
  // places counted from the top are. Of a bit's place, that of its byte is compared first. Each digit of a byte's place has
  // one of two values, so that both are compared once for all bytes.
  private def shiftsTo(to: UpdateOp.Shift): Bool =
    if (p.features.ops.exists(_.shift == to)) control.shift === to.code.U else false.B
  private val shiftRight = shiftsTo(UpdateOp.Right)
  private val isShift = shiftRight || shiftsTo(UpdateOp.Left)
  private val shiftAmount =
    sourceSelect.zip(io.operands).map { case (f, operand) => Mux(f, operand.pad(6)(5, 0), 0.U) }.reduce(_ | _)
  private val byteBits = log2Ceil(p.byteBits)
  private val (shiftByte, shiftBit) = (shiftAmount >> byteBits, shiftAmount(byteBits - 1, 0))
  private val digits = Seq.tabulate(6 - byteBits) { i =>
    Seq.tabulate(2) { bit =>
      val digit = if (i < p.subBits) (shiftRight ^ (bit == 1).B) && width > i.U else false.B
      (digit && !shiftByte(i), digit === shiftByte(i))
    }
  }
  private val (aboveThreshold, atThreshold) = Seq.tabulate(p.wordBytes) { byte =>
    digits.zipWithIndex.foldLeft((false.B, true.B)) { case ((aboveThreshold, atThreshold), (digit, i)) =>
      val (greater, equal) = digit((byte >> i) & 1)
      (greater || (equal && aboveThreshold), equal && atThreshold)
    }
  }.unzip
  private val fillOnes =
    RegNext(Mux(isShift, VecInit(aboveThreshold).asUInt & byteMask, Fill(p.wordBytes, control.subtract)))
  private val isThresholdByte = Mux(isShift, VecInit(atThreshold).asUInt & byteMask, 0.U)
  private val bitsAbove = VecInit.tabulate(p.byteBits)(_.U >= shiftBit).asUInt
  private val thresholdBits = Mux(shiftRight, Reverse(bitsAbove), bitsAbove)
  private def byBytes(byte: Int => UInt): UInt = VecInit.tabulate(p.wordBytes)(byte).asUInt
  private val thresholdBytes = byBytes(k => RegNext(Mux(isThresholdByte(k), thresholdBits, 0.U(p.byteBits.W))))
  private val (effect, others) =
    sourceSelect.zip(io.operands).map { case (f, operand) => RegNext(Mux(f && !isShift, operand, 0.U)) }.splitAt(1)

  // An effect is a reset, or what ops there are.
  private val isReset = if (p.features.wordAccess) RegNext(!control.passState) else true.B
  private val (resetOperand, operands) =
    if (OpControl.onlySums(p)) (Mux(isReset, effect.head, 0.U), Mux(isReset, 0.U, effect.head) +: others)
    else (0.U, effect ++ others)

  // Third: B, and what the choice of the result needs beside it.
  private def delay2[T <: Data](x: T): T = RegNext(RegNext(x))
  private val byteMaskStage3 = RegNext(byteMask)
  private val spread = CounterWidth.spread(_, p)
  io.result.b := RegNext(((operands.reduce(_ | _) & spread(byteMaskStage3)) ^ spread(fillOnes)) | thresholdBytes)
  io.result.subtract := delay2(control.subtract)
  private val widthStage3 = RegNext(width)
  private val topBytes = CounterWidth.topBytes(widthStage3, p)
  private val isDifference = Fill(p.wordBytes, RegNext(control.subtract))
  io.result.guardsA := RegNext(~topBytes | isDifference)
  io.result.guardsB := RegNext(topBytes & isDifference)
  private val (zeroCode, disabledCode) = (RegNext(control.zeroCode), RegNext(control.disabledCode))
  for (i <- 0 until 2) {
    io.result.codes(i) := RegNext(byBytes(k => Mux(byteMaskStage3(k), zeroCode(i), disabledCode(i))))
    io.result.codeFlips(i) := delay2(control.codeFlips(i))
  }
  private val (fromCounter, always) = (RegNext(control.fromCounter), RegNext(control.always))
  private def byWidth[T <: Data](f: Int => T): T = CounterWidth.select(widthStage3, p)(f)
  private val codes = CarryMux.codes(p).toMap
  io.result.useByteCarry := RegNext(always || (fromCounter && byWidth(codes.contains(_).B)))
  private val code = byWidth(w => codes.getOrElse(w, 0).U(CarryMux.codeBits(p).W))
  io.result.carrySelect := RegNext(Mux(always, CarryMux.all(p).U, code))
  for ((useWordCarry, level) <- io.result.useWordCarry.zip(p.levels))
    useWordCarry := RegNext(fromCounter && byWidth(w => (w >= level).B))
  io.result.rotate := delay2(Mux(isShift, Mux(shiftRight, shiftAmount, 0.U - shiftAmount), 0.U))
  io.result.passState := delay2(control.passState)
  io.result.resetValue := RegNext(resetOperand)
}

object OperandStage {

  /** Who may have an operand: a read's effect, the rule, and a field of the request. */
  val sources: Int = 3
  val latency: Int = 3
}
