// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.{MemoryFault, ProtectedRam}
import chisel3._
import chisel3.util._

/** What becomes of a cycle of a channel in which it belongs to an acknowledgement.
  *
  * @param busy it does: events wait
  * @param read the slot reads the line, or puts an operand to a word of it; else it is left empty
  * @param walk it puts: `op` is applied to `word` where `effect`
  */
class AcknowledgeSlot(p: NemoParams) extends Bundle {
  val busy = Bool()
  val read = Bool()
  val serialRmw = Bool()
  val effect = Bool()
  val op = UInt(UpdateOp.codeBits.W)
  val word = UInt(p.wordIndexBits.W)
}

/** Takes lines that software has read away from the counters, one line at a time for all channels.
  *
  * What it makes of a counter follows from the rule's update op, modulo its width, with r the rule's reset value, or 0:
  *   - add, sub, addsat: counter - written + r
  *   - xor: counter ^ written ^ r
  *   - or: (counter & ~written) | r
  *   - max: r where the counter is what was written
  *   - shr and shl, and a pipeline without a rule: nothing
  *
  * It has the channel's slots for itself for [[AcknowledgeUnit.slots]] cycles, in which events wait in the queue of
  * [[SlotArbiter]]. It reads the line; where a word has bad parity, or r can't be corrected, it stops there. Then it puts an operand to each word,
  * which stands on the port of the rule as the effect's does, and the effect's own again behind the last. Sums and XOR are
  * made by the lane of an operand that is made of the written word alone; of the others the new word is made here, and set.
  * A pipeline that is cleared meanwhile keeps its zeros.
  *
  * Latency: [[AcknowledgeUnit.latency]] cycles from `acknowledge` to `acknowledged` when the channel is free and no other
  * acknowledgement is under way; up to [[AcknowledgeUnit.period]] more for each other channel. It starts behind all
  * waiting events of its channel, which get on in cycles without an event.
  */
class AcknowledgeUnit(p: NemoParams) extends Module {
  import AcknowledgeUnit._
  val io = IO(new Bundle {

    /** As [[TelemetryEngine]] has them. */
    val acknowledge = Vec(p.channels, Flipped(Decoupled(new LineAcknowledge(p))))
    val acknowledged = Vec(p.channels, Valid(Bool()))

    /** The channel's slots may be had from the next cycle on. */
    val available = Input(Vec(p.channels, Bool()))
    val slots = Output(Vec(p.channels, new AcknowledgeSlot(p)))
    val lines = Input(Vec(p.channels, new Line(p)))
    val clearing = Input(Vec(p.pipelines, Bool()))

    /** A pipeline gets this rule; not while a channel's slots are had. */
    val load = Flipped(Valid(UInt(p.pipelineBits.W)))
    val rule = Input(new DecodedRule(p))

    /** Stands in the place of the effect's operand of a rule, [[MatchStage.latency]] + 1 cycles behind its slot. */
    val operand = Valid(UInt(p.wordBits.W))

    /** Of the reset values. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  // What has to be known of a rule.
  private val summaries = RegInit(VecInit(Seq.fill(p.pipelines)(0.U.asTypeOf(new RuleSummary))))
  private val summary = Wire(new RuleSummary)
  private val op = io.rule.op
  private def isOneOf(ops: UpdateOp*): Bool = ops.map(op === _.code.U).reduce(_ || _)
  summary.supported := !isOneOf(UpdateOp.Shr, UpdateOp.Shl)
  summary.method := Cat(isOneOf(UpdateOp.Or, UpdateOp.Max), isOneOf(UpdateOp.Xor, UpdateOp.Max))
  summary.counterWidth := io.rule.counterWidth
  summary.isReset := io.rule.effectUpdates && io.rule.clearsParity
  private val resetValues = Module(new ProtectedRam(p.pipelines.max(2), p.wordBits))
  when(io.load.valid) { NemoParams.pick(summaries, io.load.bits) := summary }
  resetValues.io.write.valid := io.load.valid
  resetValues.io.write.bits.address := io.load.bits
  resetValues.io.write.bits.data := io.rule.effectOperand
  resetValues.io.inject := io.inject
  io.fault := resetValues.io.fault

  // One at a time, until all that it puts is out. A line that has not to be changed, or must not be, ends the steps before
  // the first word.
  private val active = RegInit(false.B)
  private val step = RegInit(0.U(log2Ceil(slots(p) + 1).W))
  private val done = RegInit(false.B)
  private val channel = RegInit(0.U(p.channelBits.W))
  private val current = Reg(new RuleSummary)
  private val resetValueLost = RegEnable(resetValues.io.fault.uncorrected, step === operandStep.U)
  private val parityError = RegNext(NemoParams.pick(VecInit(io.lines.map(_.poison)), channel) || resetValueLost)
  private val restoresOperand = active && step === (firstUpdateStep + p.lineWords).U
  private val aborts = active && step === firstUpdateStep.U && (parityError || !current.supported)
  private val updates = active && step >= firstUpdateStep.U && step < (firstUpdateStep + p.lineWords).U && !aborts
  private val operandPending = Seq.iterate(updates || restoresOperand, operandDelay + 1)(RegNext(_, false.B))
  // Channels take turns: the next one above the last, or the lowest.
  private val eligible = io.acknowledge.zip(io.available).map { case (offered, available) =>
    offered.valid && available
  }
  private val eligibleAbove = eligible.zipWithIndex.map { case (one, c) => one && c.U > channel }
  private val nextChannel = Mux(eligibleAbove.reduce(_ || _), PriorityEncoder(eligibleAbove), PriorityEncoder(eligible))
  private val starts = eligible.reduce(_ || _) && !active && !done && !operandPending.reduce(_ || _)
  private val target = NemoParams.pick(VecInit(io.acknowledge.map(_.bits.target.pipeline)), nextChannel)
  private val pipeline = RegEnable(target, starts)
  when(starts) {
    channel := nextChannel
    current := NemoParams.pick(summaries, target)
  }

  private val applies = RegEnable(!parityError, step === firstUpdateStep.U)
  private val finishes = restoresOperand || aborts
  active := starts || (active && !finishes)
  step := Mux(active, step + 1.U, 0.U)
  done := finishes

  // A clear wins, also one that is over before the line would be put.
  private val cleared = Reg(Bool())
  private val clears = NemoParams.pick(io.clearing, pipeline)
  cleared := active && (cleared || clears)
  private val word = (step - firstUpdateStep.U)(p.wordIndexBits - 1, 0)
  for (c <- 0 until p.channels) {
    val slot = io.slots(c)
    slot.busy := active && isFor(c)
    slot.read := step === readStep.U || updates || restoresOperand
    slot.serialRmw := step =/= readStep.U
    slot.effect := updates && !cleared && !clears
    slot.op := Mux(
      current.method(1),
      UpdateOp.Set.code.U,
      Mux(current.method(0), UpdateOp.Xor.code.U, UpdateOp.Sub.code.U)
    )
    slot.word := word
    io.acknowledge(c).ready := done && isFor(c)
    io.acknowledged(c).valid := done && isFor(c)
    io.acknowledged(c).bits := applies
  }
  private def isFor(c: Int): Bool = if (p.channels == 1) true.B else channel === c.U

  // Its own effect's operand, kept to be put back; zero where it is no reset value.
  // Without a rule that takes there is none: that word was never written, and has no code.
  resetValues.io.read.valid := active && step === 0.U && current.supported
  resetValues.io.read.bits := pipeline
  private val resetOperand = RegEnable(resetValues.io.data, step === operandStep.U)

  // The word that was read and that was written, `wordDelay` cycles behind the slot: the last while it is still offered.
  private val wordNow = ShiftRegister(word, wordDelay)
  private def selectWord(words: Int => Vec[UInt]): UInt = {
    val all = Seq.tabulate(p.channels)(words(_)).flatten
    RegNext(VecInit(all)(if (p.channels == 1) wordNow else Cat(channel, wordNow)))
  }
  private val stored = selectWord(c => io.lines(c).words)
  private val written = selectWord(c => io.acknowledge(c).bits.words)
  private val restored = Seq.iterate(restoresOperand, wordDelay + 3)(RegNext(_, false.B))

  // The operand. Behind the last word it is the rule's own, which is what is set where all counters are what was written.
  private val sameBytes = RegNext(VecInit.tabulate(p.wordBytes) { k =>
    val (low, high) = (k * p.byteBits, (k + 1) * p.byteBits - 1)
    restored(wordDelay + 1) || stored(high, low) === written(high, low)
  })
  private val resetValue = RegNext(Mux(current.isReset || restored(wordDelay + 1), resetOperand, 0.U))
  private val method = Mux(restored(wordDelay + 2), Method.max.U, current.method)
  private val (storedWord, subtrahend) = (RegNext(stored), RegNext(written))
  private def equalBytes(width: Int): UInt = VecInit
    .tabulate(p.wordBytes)(k => sameBytes.slice(k >> width << width, ((k >> width) + 1) << width).reduce(_ && _))
    .asUInt
  private val equal = CounterWidth.spread(CounterWidth.select(current.counterWidth, p)(equalBytes), p)
  private val tops = CounterWidth.topBytes(current.counterWidth, p)
  private val difference =
    CounterWidth.guarded(subtrahend, Fill(p.wordBytes, 1.U), p) + CounterWidth.guarded(
      (~resetValue).asUInt,
      tops,
      p
    ) + 1.U
  private val sum = RegNext(Mux(method === Method.sum.U, CounterWidth.unguarded(difference, p), 0.U))
  private val computed = RegNext(MuxLookup(method, 0.U(p.wordBits.W))(Seq(
    Method.xor.U -> (subtrahend ^ resetValue),
    Method.or.U -> ((storedWord & ~subtrahend) | resetValue),
    Method.max.U -> ((equal & resetValue) | (~equal & storedWord))
  )))
  io.operand.valid := operandPending.last
  io.operand.bits := sum | computed
}

object AcknowledgeUnit {

  /** How something is taken away: 0 as add, sub and addsat are, 1 as xor, 2 as or, 3 as max. */
  private object Method {
    val (sum, xor, or, max) = (0, 1, 2, 3)
    val bits = 2
  }

  /** What is taken from the counters of a pipeline, and how. */
  private class RuleSummary extends Bundle {
    val supported = Bool()
    val method = UInt(Method.bits.W)
    val counterWidth = UInt(2.W)
    val isReset = Bool()
  }

  /** Steps: the slot before the read is empty, so that nothing of the line is still to come when it is there. */
  private val readStep = 1
  private val firstUpdateStep = readStep + TelemetryEngine.readLatency + 1
  private val operandStep = ProtectedRam.latency
  require(operandStep < firstUpdateStep - 1)
  private val wordDelay = 2
  private val operandDelay = MatchStage.latency + 1

  /** Cycles for which a channel's slots are had. */
  def slots(p: NemoParams): Int = firstUpdateStep + p.lineWords + 1

  /** Cycles from what is offered to its answer. */
  def latency(p: NemoParams): Int = slots(p) + 1

  /** Cycles from one to the next. */
  def period(p: NemoParams): Int = slots(p) + operandDelay + 1
}
