// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** What the update datapath does for one op, a row a op. An op that the datapath can express is added here and
  * nowhere else in the hardware (docs/adding-an-op.md). The elaborator writes names and codes into params.json.
  *
  * The datapath of a counter, A the old state and B the operand:
  *   - the sum is A + B, or A - B when `subtract`, and carries out of the counter where A + B does not fit, or A is not
  *     less than B;
  *   - what `shift` says is done to A, and B is then ones in the bits that stay in the counter, and zeros in the others;
  *   - each bit of the result is what `ifZero` or `ifOne` says, by the bit of B in its place.
  *
  * @param code     as rules and registers encode it
  * @param moved    A is moved right or left by the operand
  * @param carry    which carry the results look at
  */
case class UpdateOp(
    name: String,
    code: Int,
    ifZero: UpdateOp.Result,
    ifOne: UpdateOp.Result,
    carry: UpdateOp.Carry = UpdateOp.Never,
    subtract: Boolean = false,
    shift: UpdateOp.Shift = UpdateOp.NoShift
) {
  import UpdateOp._
  require(
    shift == NoShift || (!subtract && carry == Never),
    s"$name: what is moved is not subtracted from, and has no carry"
  )

  /** A sum, and no more. */
  private[nemo] val isSum: Boolean = ifZero == Sum && ifOne == Sum && carry == Never

  /** The adder has the bits of B inverted when it subtracts: the code where its bit is zero, and what changes where not. */
  private[nemo] val zeroCode: Int = (if (subtract) ifOne else ifZero).code
  private[nemo] val codeFlips: Int = ifZero.code ^ ifOne.code

  /** The code that leaves A as it is in a byte that is not updated, where B is zero. The sum is A; so is what a carry
    * chooses, and A less zero carries.
    */
  private[nemo] val disabledCode: Int = {
    val carries = carry == Always || (carry == FromCounter && subtract)
    (if (carries) StateOrZero else Sum).code ^ (if (subtract) codeFlips else 0)
  }
}

object UpdateOp {
  sealed abstract class Shift(val code: Int)
  case object NoShift extends Shift(0)
  case object Right extends Shift(1)
  case object Left extends Shift(2)

  /** What a bit of the result is, as [[ResultMux]] has it. */
  sealed abstract class Result(val code: Int)

  /** A where the counter carries, else zero. */
  case object StateOrZero extends Result(0)

  /** A, inverted where the counter carries. */
  case object State extends Result(1)

  /** A where the counter carries, else one. */
  case object StateOrOne extends Result(2)

  /** The sum, ones where the counter carries. */
  case object Sum extends Result(3)

  sealed abstract class Carry
  case object Never extends Carry
  case object Always extends Carry
  case object FromCounter extends Carry

  val Add: UpdateOp = UpdateOp("add", 0, Sum, Sum)
  val Sub: UpdateOp = UpdateOp("sub", 1, Sum, Sum, subtract = true)
  val Shr: UpdateOp = UpdateOp("shr", 2, StateOrZero, State, shift = Right)
  val Shl: UpdateOp = UpdateOp("shl", 3, StateOrZero, State, shift = Left)
  val Xor: UpdateOp = UpdateOp("xor", 4, StateOrZero, State, Always)
  val Or: UpdateOp = UpdateOp("or", 5, State, StateOrOne)
  val Max: UpdateOp = UpdateOp("max", 6, StateOrZero, StateOrOne, FromCounter, subtract = true)
  val AddSat: UpdateOp = UpdateOp("addsat", 7, Sum, Sum, FromCounter)

  val codeBits: Int = 4

  /** The reset of a read effect: the operand replaces the state. Not an update op of a rule, so its code is the last
    * one, out of the way of those to come.
    */
  val Set: UpdateOp = UpdateOp("set", (1 << codeBits) - 1, StateOrZero, StateOrOne)

  /** The ops that a rule may name. */
  val ofRules: Seq[UpdateOp] = Seq(Add, Sub, Shr, Shl, Xor, Or, Max, AddSat)
  val all: Seq[UpdateOp] = ofRules :+ Set
  require(all.map(_.code).distinct.size == all.size, "two ops of one code")
  require(all.forall(op => op.code >= 0 && op.code < (1 << codeBits)), s"an op code that has not $codeBits bits")
}

/** An op decoded into the datapath's controls, one row of [[UpdateOp]] as wires. */
class OpControl(p: NemoParams) extends Bundle {
  val subtract = Bool()

  /** A is of the result. */
  val passState = Bool()
  val shift = UInt(2.W)
  val zeroCode = UInt(2.W)
  val codeFlips = UInt(2.W)
  val disabledCode = UInt(2.W)

  /** Results look at the counter's carry, or at one that is always there. */
  val fromCounter = Bool()
  val always = Bool()
}

object OpControl {

  /** Every result is a sum, that of a reset one with an A of zero. */
  def onlySums(p: NemoParams): Boolean = p.subBits == 0 && p.features.ops.forall(_.isSum)

  /** Decodes an op code, without latency; a code that is none that is built in decodes as the first that is. */
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
    control.fromCounter := flag(_.carry == UpdateOp.FromCounter)
    control.always := flag(_.carry == UpdateOp.Always)
    control
  }
}
