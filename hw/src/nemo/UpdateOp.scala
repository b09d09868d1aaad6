// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** What the update datapath does for one op, a row a op. An op that the datapath can express is added here and
  * nowhere else in the hardware (docs/adding-an-op.md). The elaborator writes names and codes into params.json.
  *
  * The datapath of a counter, A the old state and B the operand, inverted when `subtract`:
  *   - `sum` = A + B, or A + B + 1 when `subtract`, and its carry out;
  *   - `alt` = A ^ B, or B alone without `pass`, or what `moved` says; a sum needs `pass`;
  *   - `settle` chooses between them once the carry is known.
  *
  * @param code     as rules and registers encode it
  * @param subtract B is inverted and a carry enters each counter
  * @param pass     A is part of `alt`
  * @param moved    `alt` is A, moved right or left by the operand
  * @param settle   which result stands
  */
case class UpdateOp(
    name: String,
    code: Int,
    subtract: Boolean = false,
    pass: Boolean = false,
    moved: UpdateOp.Moved = UpdateOp.Nothing,
    settle: UpdateOp.Settle = UpdateOp.SettleAlt
) {
  require(
    moved == UpdateOp.Nothing || !(pass || subtract),
    s"$name: an op moves the state, or meets it with the operand"
  )
  require(pass || !subtract, s"$name: a difference is one of A and B")
  require(subtract || settle != UpdateOp.SettleLarger, s"$name: the larger one is known from a difference")

  /** What the datapath chooses for this op. In a byte that is not updated B is zero, and all sums but differences are A. */
  private[nemo] val choice: UpdateOp.Choice = {
    import ResultChoice._
    val outside = if (subtract) A else Sum
    settle match {
      case UpdateOp.SettleAlt if moved != UpdateOp.Nothing => UpdateOp.Choice(And, And, outside)
      case UpdateOp.SettleAlt                              => UpdateOp.Choice(Xor, Xor, outside)
      case UpdateOp.SettleSum                              => UpdateOp.Choice(Sum, Sum, outside)
      case UpdateOp.SettleSaturated                        => UpdateOp.Choice(Sum, Ones, outside)
      case UpdateOp.SettleLarger                           => UpdateOp.Choice(NotB, A, outside)
      case UpdateOp.SettleEither                           => UpdateOp.Choice(Or, Or, outside)
    }
  }
}

object UpdateOp {
  sealed abstract class Moved(val code: Int)
  case object Nothing extends Moved(0)
  case object Right extends Moved(1)
  case object Left extends Moved(2)

  sealed abstract class Settle
  case object SettleAlt extends Settle
  case object SettleSum extends Settle

  /** All ones where the sum carried. */
  case object SettleSaturated extends Settle

  /** A where A - B did not borrow, else B. */
  case object SettleLarger extends Settle

  /** Ones of A or of B. */
  case object SettleEither extends Settle

  /** [[ResultChoice]] codes of a byte that is updated, without a carry out of its counter and with one, and of others. */
  private[nemo] case class Choice(plain: Int, carried: Int, outside: Int)

  val Add: UpdateOp = UpdateOp("add", 0, pass = true, settle = SettleSum)
  val Sub: UpdateOp = UpdateOp("sub", 1, subtract = true, pass = true, settle = SettleSum)
  val Shr: UpdateOp = UpdateOp("shr", 2, moved = Right)
  val Shl: UpdateOp = UpdateOp("shl", 3, moved = Left)
  val Xor: UpdateOp = UpdateOp("xor", 4, pass = true)
  val Or: UpdateOp = UpdateOp("or", 5, pass = true, settle = SettleEither)
  val Max: UpdateOp = UpdateOp("max", 6, subtract = true, pass = true, settle = SettleLarger)
  val AddSat: UpdateOp = UpdateOp("addsat", 7, pass = true, settle = SettleSaturated)

  val codeBits: Int = 4

  /** The reset of a read effect: the operand replaces the state. Not an update op of a rule, so its code is the last
    * one, out of the way of those to come.
    */
  val Set: UpdateOp = UpdateOp("set", (1 << codeBits) - 1)

  /** The ops that a rule may name. */
  val ofRules: Seq[UpdateOp] = Seq(Add, Sub, Shr, Shl, Xor, Or, Max, AddSat)
  val all: Seq[UpdateOp] = ofRules :+ Set
  require(all.map(_.code).distinct.size == all.size, "two ops of one code")
  require(all.forall(op => op.code >= 0 && op.code < (1 << codeBits)), s"an op code that has not $codeBits bits")
}

/** An op decoded into the datapath's controls, one row of [[UpdateOp]] as wires. */
class OpControl(p: NemoParams) extends Bundle {
  val subtract = Bool()
  val pass = Bool()
  val moved = UInt(2.W)

  /** Which of `OpControl.choices`. */
  val choice = UInt(OpControl.choiceBits(p).W)
}

object OpControl {

  /** What the ops that are built in choose from. */
  private[nemo] def choices(p: NemoParams): Seq[UpdateOp.Choice] = p.features.datapath.map(choice(_, p)).distinct
  private def choice(op: UpdateOp, p: NemoParams): UpdateOp.Choice =
    if (op == UpdateOp.Set && onlySums(p)) UpdateOp.Add.choice else op.choice

  /** Every result is a sum, that of a reset one with an A of zero. */
  def onlySums(p: NemoParams): Boolean =
    p.subBits == 0 && p.features.ops.forall(_.settle == UpdateOp.SettleSum)
  def choiceBits(p: NemoParams): Int = 1.max(log2Ceil(choices(p).size))

  /** Decodes an op code, without latency; a code that is none that is built in decodes as the first that is. */
  def apply(code: UInt, p: NemoParams): OpControl = {
    def field(f: UpdateOp => Int, width: Int): UInt =
      MuxLookup(code, f(p.features.datapath.head).U(width.W))(p.features.datapath.map(op =>
        op.code.U -> f(op).U(width.W)
      ))
    val control = Wire(new OpControl(p))
    control.subtract := field(op => if (op.subtract) 1 else 0, 1)
    control.pass := field(op => if (op.pass) 1 else 0, 1)
    control.moved := field(_.moved.code, 2)
    control.choice := field(op => choices(p).indexOf(choice(op, p)), choiceBits(p))
    control
  }
}
