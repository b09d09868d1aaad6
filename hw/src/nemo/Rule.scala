// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._

/** The source of an update's operand. */
object OperandSource {
  val Immediate = 0
  val Line = 1
  val IsWrite = 2
  val bits = 2
  val names: Seq[String] = Seq("immediate", "line", "is_write")
}

/** Predicates of the notify stage on the written value, all unsigned. */
object Predicate {
  val None = 0
  val Equal = 1
  val GreaterEqual = 2
  val Greater = 3
  val Less = 4
  val LessEqual = 5
  val bits = 3
}

/** The effect of a telemetry read on the line that it returns. */
object ReadEffect {
  val None = 0
  val Reset = 1
  val Op = 2
  val bits = 2
  val names: Seq[String] = Seq("none", "reset", "op")
}

/** Whether an event's line was in near memory, one bit each. A rule has the bits that match, or none to match all. An
  * event has neither bit if near memory could not tell.
  */
object NearOutcome {
  val Any = 0
  val Hit = 1
  val Miss = 2
  val bits = 2
}

/** One telemetry rule, NEMO §3.1 Table 1 and more. Every field is set at run time.
  *
  *   - filter: `reads` and `writes` admit a request type, `near` an outcome in near memory ([[NearOutcome]]); and
  *     `start` <= address < `end`, in bytes
  *   - key = (address & `primaryMask`) >> `primaryShift`; the table maps it to a base index
  *   - offset = (address & `subMask`) >> `subShift`; index = base + offset, or base + hash of the offset if `hash`
  *     ([[HashStage]])
  *   - update: `op` ([[UpdateOp]] code) with `operand` or a request field (`operandSource`)
  *   - `counterWidth`: a counter has 8 << counterWidth bits (2 << counterWidth in a small formal proof)
  *   - notify: `notifyOp` ([[Predicate]]) against `notifyOperand`
  *   - read effect: `effectKind` ([[ReadEffect]]), `effectOp`, and `effectOperand`, the operand or the reset value
  */
class Rule(val p: NemoParams) extends Bundle {
  val enable = Bool()
  val reads = Bool()
  val writes = Bool()
  val near = Option.when(p.outcomes)(UInt(NearOutcome.bits.W))
  val start = UInt((p.addressBits + 1).W)
  val end = UInt((p.addressBits + 1).W)
  val primaryMask = UInt(p.addressBits.W)
  val primaryShift = UInt(6.W)
  val subMask = UInt(p.addressBits.W)
  val subShift = UInt(6.W)
  val hash = Option.when(p.features.hash)(Bool())
  val hashMultiplier = Option.when(p.features.hash)(UInt(HashStage.bits.W))
  val hashSize = Option.when(p.features.hash)(UInt((p.indexBits + 1).W))
  val op = UInt(UpdateOp.codeBits.W)
  val operandSource = UInt(OperandSource.bits.W)
  val operand = UInt(p.wordBits.W)
  val counterWidth = UInt(2.W)
  val notifyOp = UInt(Predicate.bits.W)
  val notifyOperand = UInt(p.wordBits.W)
  val effectKind = UInt(ReadEffect.bits.W)
  val effectOp = UInt(UpdateOp.codeBits.W)
  val effectOperand = UInt(p.wordBits.W)
}

/** A rule to be loaded into a pipeline. */
class RuleWrite(p: NemoParams) extends Bundle {
  val pipeline = UInt(p.pipelineBits.W)
  val rule = new Rule(p)
}

/** A write of a translation table's entry: `key` maps to `base`, or to nothing.
  *
  * All bases of 2^indexBits or more are alike, because no offset leads back to a counter.
  */
class TableWrite(p: NemoParams) extends Bundle {
  val pipeline = UInt(p.pipelineBits.W)
  val key = UInt(p.keyBits.W)
  val base = UInt((p.indexBits + 1).W)
  val mapped = Bool()
}

/** What software sees of a pipeline besides its states.
  *
  * The counters have 64 bits and are exact: events that updated a counter, events without a table entry, events past
  * the last counter, updates for which the predicate was true, and lines returned with bad parity. The predicate is
  * never true for a word with bad parity. The latch keeps the first counter for which it was true since the last
  * re-arm; of two channels in one cycle, the lower one's.
  */
class PipelineStatus(p: NemoParams) extends Bundle {
  val matched = UInt(PipelineStatus.counterBits.W)
  val unmapped = UInt(PipelineStatus.counterBits.W)
  val outOfRange = UInt(PipelineStatus.counterBits.W)
  val notifications = UInt(PipelineStatus.counterBits.W)
  val parityErrors = UInt(PipelineStatus.counterBits.W)
  val notified = Bool()
  val notifiedIndex = UInt(p.indexBits.W)
  val notifiedChannel = UInt(p.channelBits.W)
  val clearing = Bool()
}

object PipelineStatus {
  val counterBits: Int = 64
}
