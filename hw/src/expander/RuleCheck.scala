// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.expander.registers.{RuleControlRegister, RuleHashRegister}
import anemone.nemo.{NemoParams, ReadEffect}
import chisel3._

/** Whether everything that a rule needs is built in. Combinational.
  *
  * For a disabled rule only the read effect is checked, so an all-zero rule is legal in every configuration. A hash must
  * not choose from more counters than the narrowest width gives.
  */
object RuleCheck {
  def apply(control: RuleControlRegister, hash: RuleHashRegister, p: NemoParams): Bool = {
    def isOne(code: UInt, of: Seq[Int]): Bool = of.map(code === _.U).reduce(_ || _)
    val ops = p.features.ops.map(_.code)
    val effect = control.effectKind
    val hashes = if (p.features.hash) hash.size <= (BigInt(1) << p.indexBits).U else false.B
    val updates = (!control.hash || hashes) && isOne(control.near, p.nearCodes) && isOne(control.op, ops) &&
      isOne(control.operandSource, p.features.operandSources) && isOne(control.notifyOp, p.features.predicates)
    val affects = isOne(effect, p.features.effects) && (effect =/= ReadEffect.Op.U || isOne(control.effectOp, ops))
    val idle = !control.enable && effect === ReadEffect.None.U
    (updates || !control.enable) && affects && (isOne(control.counterWidth, p.widthCodes) || idle)
  }
}
