// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3.util._

/** The features that rules may use. What is left out costs no hardware. Rules that use it are refused where software
  * writes them; a [[TelemetryEngine]] must not get them.
  *
  * @param ops            update ops, of rules and of read effects
  * @param widths         bits of a counter, powers of two
  * @param notifies       predicates, their latch and their count
  * @param effects        [[ReadEffect]] codes; no effect is always there
  * @param operandSources [[OperandSource]] codes; the rule's own operand is always there
  * @param acknowledges   lines that were read can be subtracted ([[AcknowledgeUnit]])
  * @param hash           a rule may hash its offsets ([[HashStage]])
  */
case class Features(
    ops: Seq[UpdateOp] = UpdateOp.standard,
    widths: Seq[Int] = Seq(8, 16, 32, 64),
    notifies: Boolean = true,
    effects: Seq[Int] = Seq(ReadEffect.None, ReadEffect.Reset, ReadEffect.Op),
    operandSources: Seq[Int] = Seq(OperandSource.Immediate, OperandSource.Line, OperandSource.IsWrite),
    acknowledges: Boolean = true,
    hash: Boolean = false
) {
  import Features._
  require(
    ops.nonEmpty && isSet(ops) && ops.forall(UpdateOp.ofRules.contains),
    s"ops: some of ${UpdateOp.ofRules.map(_.name).mkString(", ")}, not ${ops.map(_.name).mkString(", ")}"
  )
  require(
    widths.nonEmpty && isSet(widths) && widths.forall(w => isPow2(w) && w >= 2),
    s"widths: powers of two, not $widths"
  )
  require(
    isSet(effects) && effects.contains(ReadEffect.None) && effects.forall(allEffects.contains),
    s"effects: ${ReadEffect.None} and some of $allEffects, not $effects"
  )
  require(
    isSet(operandSources) && operandSources.contains(OperandSource.Immediate) &&
      operandSources.forall(allSources.contains),
    s"operandSources: ${OperandSource.Immediate} and some of $allSources, not $operandSources"
  )

  val predicates: Seq[Int] = Predicate.None to (if (notifies) Predicate.LessEqual else Predicate.None)

  /** A read may be a serial read-modify-write, one word a slot. */
  val serialRmw: Boolean = effects.contains(ReadEffect.Op)

  /** A read's slot may access one word of a line. */
  val wordAccess: Boolean = serialRmw || acknowledges
  val shifts: Boolean = ops.exists(_.shift != UpdateOp.NoShift)
  val borrows: Boolean = ops.exists(_.carry == UpdateOp.Borrow)
  val sumOrZero: Boolean = ops.exists(_.ifZero == UpdateOp.SumOrZero)
  val averages: Boolean = ops.exists(_.average > 0)
  val resetEffect: Boolean = effects.contains(ReadEffect.Reset)
  val lineOperand: Boolean = operandSources.contains(OperandSource.Line)
  val writeOperand: Boolean = operandSources.contains(OperandSource.IsWrite)

  /** The ops of the datapath. */
  val datapath: Seq[UpdateOp] =
    (ops ++ Option.when(acknowledges)(UpdateOp.Sub) ++ Option.when(resetEffect || acknowledges)(UpdateOp.Set)).distinct
}

object Features {
  private val allEffects = Seq(ReadEffect.None, ReadEffect.Reset, ReadEffect.Op)
  private val allSources = Seq(OperandSource.Immediate, OperandSource.Line, OperandSource.IsWrite)
  private def isSet[T](of: Seq[T]): Boolean = of.distinct.size == of.size
}
