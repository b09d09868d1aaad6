// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** An operand laid out for [[UpdateAlu]]: in the place of each counter to be updated, and neutral elsewhere. */
class AluOperand(p: NemoParams) extends Bundle {

  /** Operand B of the adder. A subtraction has it inverted, so bytes that are not updated are all ones; otherwise they
    * are zero. For a shift it is the mask of the bits that stay in their counter.
    */
  val b = UInt(p.wordBits.W)
  val subtract = Bool()

  /** The adder's guard bits above the bytes of A and of `b` ([[UpdateAlu]]). */
  val guardsA = UInt(p.wordBytes.W)
  val guardsB = UInt(p.wordBytes.W)

  /** The two bits of the [[ResultMux]] code, by byte, for bits of `b` that are zero; `codeFlips` are the code's bits
    * that change for bits that are one.
    */
  val codes = Vec(2, UInt(p.wordBytes.W))
  val codeFlips = Vec(2, Bool())

  /** The result depends on the carries that [[CarryMux]] selects by `carrySelect`, or, by level, on the word's carry
    * out.
    */
  val useByteCarry = Bool()
  val carrySelect = UInt(CarryMux.codeBits(p).W)
  val useWordCarry = Vec(p.levels.size, Bool())

  /** [[CarryMux]] inverts. A counter as wide as the word has a carry from [[CarryMux]] as well; the two cancel. */
  val invertCarry = Option.when(p.features.borrows)(Bool())

  /** The register of the sum, or of A, is zero. */
  val zeroSum = Option.when(p.features.sumOrZero)(Bool())
  val zeroState = Option.when(p.features.sumOrZero)(Bool())
  val average = Option.when(p.features.averages)(new AverageOperand(p))

  /** Right rotation of A; zero for ops that are no shifts. */
  val rotate = UInt(log2Ceil(p.wordBits).W)

  /** A enters the sum; otherwise zero does. */
  val passState = Bool()

  /** Where every op is a sum: the value of a reset, which replaces A. Zero otherwise. */
  val resetValue = UInt((if (OpControl.onlySums(p)) p.wordBits else 0).W)
}

/** Lays an operand out over the counters of a state word.
  *
  * Nothing here depends on the state, so it is pipelined beside the state's read. Latency: [[OperandStage.latency]]
  * cycles.
  */
class OperandStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val op = Input(UInt(UpdateOp.codeBits.W))

    /** One-hot; none: the operand is zero. */
    val sourceSelect = Input(Vec(OperandStage.sources, Bool()))
    val counterWidth = Input(UInt(2.W))

    /** The bytes that are updated: one counter's, or all. */
    val byteMask = Input(UInt(p.wordBytes.W))

    /** One cycle behind the other inputs, each repeated in every counter of the word. A shift is by the lowest six
      * bits.
      */
    val operands = Input(Vec(OperandStage.sources, UInt(p.wordBits.W)))
    val result = Output(new AluOperand(p))
  })

  // Cycle 1: decode.
  private val control = RegNext(OpControl(io.op, p))
  private val sourceSelect = io.sourceSelect.map(RegNext(_))
  private val width = RegNext(io.counterWidth)
  private val byteMask = RegNext(io.byteMask)

  // Cycle 2: the bits that a shift by n keeps. To the left those are bits n and up; to the right the same, counted from
  // the top. The byte's place is compared first: its digits are zero or one, so two comparisons serve all bytes.
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
  // In words of a bit a byte, which are the same gates as single bits and a few operations in a simulator.
  private def ofBytes(digit: Seq[Bool], i: Int): UInt = digit.zipWithIndex.map { case (holds, bit) =>
    Mux(holds, (0 until p.wordBytes).filter(k => (k >> i & 1) == bit).map(BigInt(1) << _).sum.U(p.wordBytes.W), 0.U)
  }.reduce(_ | _)
  private val allBytes = Fill(p.wordBytes, 1.U)
  private val (aboveThreshold, atThreshold) =
    digits.zipWithIndex.foldLeft((0.U(p.wordBytes.W), allBytes)) { case ((above, at), (digit, i)) =>
      val (greater, equal) = (ofBytes(digit.map(_._1), i), ofBytes(digit.map(_._2), i))
      (greater | (equal & above), equal & at)
    }
  private val fillOnes =
    RegNext(Mux(isShift, aboveThreshold & byteMask, Fill(p.wordBytes, control.subtract)))
  private val isThresholdByte = Mux(isShift, atThreshold & byteMask, 0.U)
  private val allBits = Fill(p.byteBits, 1.U)
  private val thresholdBits = Mux(shiftRight, allBits >> shiftBit, (allBits << shiftBit)(p.byteBits - 1, 0))
  private val thresholdBytes =
    VecInit.tabulate(p.wordBytes)(k => RegNext(Mux(isThresholdByte(k), thresholdBits, 0.U(p.byteBits.W)))).asUInt
  private val (effect, others) =
    sourceSelect.zip(io.operands).map { case (f, operand) => RegNext(Mux(f && !isShift, operand, 0.U)) }.splitAt(1)

  // The effect's operand belongs to a reset, or to an op.
  private val isReset = if (p.features.wordAccess) RegNext(!control.passState) else true.B
  private val (resetOperand, operands) =
    if (OpControl.onlySums(p)) (Mux(isReset, effect.head, 0.U), Mux(isReset, 0.U, effect.head) +: others)
    else (0.U, effect ++ others)

  // Cycle 3: B, and the controls of ResultMux.
  private def delay2[T <: Data](x: T): T = RegNext(RegNext(x))
  private val byteMaskStage3 = RegNext(byteMask)
  private val spread = CounterWidth.spread(_, p)
  private def addend(operand: UInt): UInt = control.average.fold(operand) { average =>
    val (k, topBytes) = (RegNext(average), CounterWidth.topBytes(RegNext(width), p))
    val result = io.result.average.get
    result.enable := RegNext(k =/= 0.U)
    result.remainder := RegNext(operand(AverageTerms.most - 1, 0))
    for ((weight, byte) <- result.weight.zipWithIndex) weight := RegNext(Mux(byteMaskStage3(byte), k, 0.U))
    MuxLookup(k, operand)(
      (1 to AverageTerms.most).map(k => k.U -> AverageTerms.shifted(operand, k, byte => !topBytes(byte), p))
    )
  }
  io.result.b := RegNext(
    ((addend(operands.reduce(_ | _)) & spread(byteMaskStage3)) ^ spread(fillOnes)) | thresholdBytes
  )
  io.result.subtract := delay2(control.subtract)
  private val widthStage3 = RegNext(width)
  private val topBytes = CounterWidth.topBytes(widthStage3, p)
  private val isDifference = Fill(p.wordBytes, RegNext(control.subtract))
  io.result.guardsA := RegNext(~topBytes | isDifference)
  io.result.guardsB := RegNext(topBytes & isDifference)
  private val (zeroCode, disabledCode) = (RegNext(control.zeroCode), RegNext(control.disabledCode))
  for (i <- 0 until 2) {
    io.result.codes(i) := RegNext(
      (Fill(p.wordBytes, zeroCode(i)) & byteMaskStage3) | (Fill(p.wordBytes, disabledCode(i)) & ~byteMaskStage3)
    )
    io.result.codeFlips(i) := delay2(control.codeFlips(i))
  }
  private val (fromCounter, always) = (RegNext(control.fromCounter), RegNext(control.always))
  private def byWidth[T <: Data](f: Int => T): T = CounterWidth.select(widthStage3, p)(f)
  private val codes = CarryMux.codes(p).toMap
  private val borrow = control.borrow.map(RegNext(_))
  private val ofByte = byWidth(codes.contains(_).B)
  private val wordBorrow = borrow.fold(false.B)(_ && !ofByte)
  io.result.useByteCarry := RegNext(always || wordBorrow || (fromCounter && ofByte))
  private val code = byWidth(w => codes.getOrElse(w, 0).U(CarryMux.codeBits(p).W))
  io.result.carrySelect := RegNext(Mux(always || wordBorrow, CarryMux.all(p).U, code))
  io.result.invertCarry.zip(borrow).foreach { case (invert, borrow) => invert := RegNext(borrow && ofByte) }
  for ((useWordCarry, level) <- io.result.useWordCarry.zip(p.levels))
    useWordCarry := RegNext(fromCounter && byWidth(w => (w >= level).B))
  io.result.rotate := delay2(Mux(isShift, Mux(shiftRight, shiftAmount, 0.U - shiftAmount), 0.U))
  io.result.passState := delay2(control.passState)
  io.result.zeroSum.zip(control.zeroSum).foreach { case (to, from) => to := delay2(from) }
  io.result.zeroState.zip(control.zeroState).foreach { case (to, from) => to := delay2(from) }
  io.result.resetValue := RegNext(resetOperand)
}

object OperandStage {

  /** Sources of an operand: the read effect, the rule, and the request's line. */
  val sources: Int = 3
  val latency: Int = 3
}
