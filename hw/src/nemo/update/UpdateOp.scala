// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** One update op, as controls of the datapath. A new op that the datapath can compute is one row here, and nothing else
  * in the hardware (docs/adding-an-op.md). The elaborator writes names and codes into params.json.
  *
  * The datapath of a counter, with A the old state and B the operand:
  *   - The sum is A + B, or A - B with `subtract`. It carries if A + B does not fit, or if A is not less than B.
  *   - `shift` shifts A; B then has ones in the bits that stay in the counter.
  *   - Each bit of the result is `ifZero` or `ifOne`, by the bit of B in its place.
  *
  * @param code  as rules and registers encode it
  * @param carry the carry that the results depend on
  * @param shift the direction in which A is shifted by the operand
  * @param taken how an acknowledge takes a read value away
  * @param average k, if the sum is A + ((B - A) >> k) ([[AverageTerms]])
  */
case class UpdateOp(
    name: String,
    code: Int,
    ifZero: UpdateOp.Result,
    ifOne: UpdateOp.Result,
    carry: UpdateOp.Carry = UpdateOp.Never,
    subtract: Boolean = false,
    shift: UpdateOp.Shift = UpdateOp.NoShift,
    taken: UpdateOp.Taken = UpdateOp.Difference,
    average: Int = 0
) {
  import UpdateOp._
  require(
    shift == NoShift || (!subtract && carry == Never),
    s"$name: a shift neither subtracts nor has a carry"
  )
  require(
    (ifZero == SumOrZero) == (ifOne == SumOrZero) && (ifZero != SumOrZero || (carry == FromCounter && subtract)),
    s"$name: SumOrZero is for all bits of a difference"
  )
  require(
    average == 0 || (average <= AverageTerms.most && carry == Never && !subtract && shift == NoShift),
    s"$name: an average is by 1 to ${AverageTerms.most} bits, and a plain sum"
  )

  /** The result is the plain sum of A and B. */
  private[nemo] val isSum: Boolean = ifZero == Sum && ifOne == Sum && carry == Never && average == 0

  /** The sum is no part of the result, though a carry selects it where [[UpdateOp.SumOrZero]] is built in. */
  private[nemo] val dropsSum: Boolean = carry != Never && !Seq(Sum, SumOrZero).contains(ifZero)

  /** The code of bits where the adder's B is zero, and the code's bits that change where it is one. A subtraction
    * inverts B.
    */
  private[nemo] val zeroCode: Int = (if (subtract) ifOne else ifZero).code
  private[nemo] val codeFlips: Int = ifZero.code ^ ifOne.code

  /** The code that keeps A in a byte that is not updated. B is zero there, so the sum is A; if there is a carry, the
    * code that gives A with a carry does it, because A - 0 carries. It does not borrow.
    */
  private[nemo] val disabledCode: Int = {
    val kept = carry match {
      case Borrow                  => State
      case Always                  => StateOrZero
      case FromCounter if subtract => StateOrZero
      case _                       => Sum
    }
    kept.code ^ (if (subtract) codeFlips else 0)
  }
}

object UpdateOp {
  sealed abstract class Shift(val code: Int)
  case object NoShift extends Shift(0)
  case object Right extends Shift(1)
  case object Left extends Shift(2)

  /** A bit of the result, as [[ResultMux]] encodes it. */
  sealed abstract class Result(val code: Int)

  /** A with a carry, else zero. */
  case object StateOrZero extends Result(0)

  /** A, inverted with a carry. */
  case object State extends Result(1)

  /** A with a carry, else one. */
  case object StateOrOne extends Result(2)

  /** The sum, or one with a carry. */
  case object Sum extends Result(3)

  /** The sum with a carry, else zero: [[StateOrZero]] with the sum in the place of A. */
  case object SumOrZero extends Result(StateOrZero.code)

  /** The carry that the results depend on. `ofCounter`: it is computed. */
  sealed abstract class Carry(val ofCounter: Boolean)
  case object Never extends Carry(false)
  case object Always extends Carry(false)
  case object FromCounter extends Carry(true)

  /** The counter's, inverted: for a subtraction, A is less than B. */
  case object Borrow extends Carry(true)

  /** How [[AcknowledgeUnit]] takes a read value away. */
  sealed abstract class Taken
  case object Difference extends Taken
  case object ExclusiveOr extends Taken
  case object ClearedBits extends Taken

  /** A counter that is still equal is reset. */
  case object IfEqual extends Taken

  /** The counter stays. */
  case object NotTaken extends Taken

  val Add: UpdateOp = UpdateOp("add", 0, Sum, Sum)
  val Sub: UpdateOp = UpdateOp("sub", 1, Sum, Sum, subtract = true)
  val Shr: UpdateOp = UpdateOp("shr", 2, StateOrZero, State, shift = Right, taken = NotTaken)
  val Shl: UpdateOp = UpdateOp("shl", 3, StateOrZero, State, shift = Left, taken = NotTaken)
  val Xor: UpdateOp = UpdateOp("xor", 4, StateOrZero, State, Always, taken = ExclusiveOr)
  val Or: UpdateOp = UpdateOp("or", 5, State, StateOrOne, taken = ClearedBits)
  val Max: UpdateOp = UpdateOp("max", 6, StateOrZero, StateOrOne, FromCounter, subtract = true, taken = IfEqual)
  val AddSat: UpdateOp = UpdateOp("addsat", 7, Sum, Sum, FromCounter)
  val Min: UpdateOp = UpdateOp("min", 8, StateOrZero, StateOrOne, Borrow, subtract = true, taken = IfEqual)
  val SubSat: UpdateOp = UpdateOp("subsat", 9, SumOrZero, SumOrZero, FromCounter, subtract = true)
  val Last: UpdateOp = UpdateOp("last", 10, StateOrZero, StateOrOne, taken = IfEqual)
  val Ewma2: UpdateOp = UpdateOp("ewma2", 11, Sum, Sum, taken = NotTaken, average = 1)
  val Ewma4: UpdateOp = UpdateOp("ewma4", 12, Sum, Sum, taken = NotTaken, average = 2)
  val Ewma8: UpdateOp = UpdateOp("ewma8", 13, Sum, Sum, taken = NotTaken, average = 3)

  val codeBits: Int = 4

  /** A read effect's reset: the operand replaces the state. Rules cannot name it, so it has the last code, which leaves
    * the next ones free.
    */
  val Set: UpdateOp = UpdateOp("set", (1 << codeBits) - 1, StateOrZero, StateOrOne)

  /** The ops that are built in unless a configuration says otherwise. */
  val standard: Seq[UpdateOp] = Seq(Add, Sub, Shr, Shl, Xor, Or, Max, AddSat)

  /** The ops that rules may name. */
  val ofRules: Seq[UpdateOp] = standard ++ Seq(Min, SubSat, Last, Ewma2, Ewma4, Ewma8)
  val all: Seq[UpdateOp] = ofRules :+ Set
  require(all.map(_.code).distinct.size == all.size, "two ops of one code")
  require(all.forall(op => op.code >= 0 && op.code < (1 << codeBits)), s"an op code that has not $codeBits bits")
}

/** The controls of one op, as wires. */
class OpControl(p: NemoParams) extends Bundle {
  val subtract = Bool()

  /** A enters the sum. */
  val passState = Bool()
  val shift = UInt(2.W)
  val zeroCode = UInt(2.W)
  val codeFlips = UInt(2.W)
  val disabledCode = UInt(2.W)

  /** The carry is the counter's, or always set. */
  val fromCounter = Bool()
  val always = Bool()
  val borrow = Option.when(p.features.borrows)(Bool())

  /** The register of the sum, or of A, is zero. */
  val zeroSum = Option.when(p.features.sumOrZero)(Bool())
  val zeroState = Option.when(p.features.sumOrZero)(Bool())
  val average = Option.when(p.features.averages)(UInt(AverageTerms.weightBits.W))
}

object OpControl {

  /** Every op is a sum, so the adder alone is enough; a reset adds to zero. */
  def onlySums(p: NemoParams): Boolean = p.subBits == 0 && p.features.ops.forall(_.isSum)

  /** Combinational. A code that is not built in decodes as the first op. */
  def apply(code: UInt, p: NemoParams): OpControl = {
    def field(f: UpdateOp => Int, width: Int): UInt =
      MuxLookup(code, f(p.features.datapath.head).U(width.W))(p.features.datapath.map(op =>
        op.code.U -> f(op).U(width.W)
      ))
    def flag(f: UpdateOp => Boolean): Bool = field(op => if (f(op)) 1 else 0, 1).asBool
    val control = Wire(new OpControl(p))
    control.subtract := flag(_.subtract)
    control.passState := flag(_ != UpdateOp.Set)
    control.shift := field(_.shift.code, 2)
    control.zeroCode := field(_.zeroCode, 2)
    control.codeFlips := field(_.codeFlips, 2)
    control.disabledCode := field(_.disabledCode, 2)
    control.fromCounter := flag(_.carry.ofCounter)
    control.always := flag(_.carry == UpdateOp.Always)
    control.borrow.foreach(_ := flag(_.carry == UpdateOp.Borrow))
    control.zeroSum.foreach(_ := flag(_.dropsSum))
    control.zeroState.foreach(_ := flag(_.ifZero == UpdateOp.SumOrZero))
    control.average.foreach(_ := field(_.average, AverageTerms.weightBits))
    control
  }
}
