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
}

object UpdateOp {
  sealed abstract class Moved(val code: Int)
  case object Nothing extends Moved(0)
  case object Right extends Moved(1)
  case object Left extends Moved(2)

  sealed abstract class Settle(val code: Int)
  case object SettleAlt extends Settle(0)
  case object SettleSum extends Settle(1)

  /** All ones where the sum carried. */
  case object SettleSaturated extends Settle(2)

  /** A where A - B did not borrow, else B. */
  case object SettleLarger extends Settle(3)

  /** Ones of A ^ B or of B. */
  case object SettleEither extends Settle(4)
  val settleBits: Int = 3

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
class OpControl extends Bundle {
  val subtract = Bool()
  val pass = Bool()
  val moved = UInt(2.W)
  val settle = UInt(UpdateOp.settleBits.W)
}

object OpControl {

  /** Decodes an op code, without latency; a code that is none decodes as ADD. */
  def apply(code: UInt): OpControl = {
    def field(f: UpdateOp => Int, width: Int): UInt =
      MuxLookup(code, f(UpdateOp.Add).U(width.W))(UpdateOp.all.map(op => op.code.U -> f(op).U(width.W)))
    val control = Wire(new OpControl)
    control.subtract := field(op => if (op.subtract) 1 else 0, 1)
    control.pass := field(op => if (op.pass) 1 else 0, 1)
    control.moved := field(_.moved.code, 2)
    control.settle := field(_.settle.code, UpdateOp.settleBits)
    control
  }
}
