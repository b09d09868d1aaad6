// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.{MemoryFault, ProtectedRam}
import chisel3._
import chisel3.util._

/** A channel's slot while an acknowledge has it.
  *
  * @param busy      an acknowledge has this slot, and events wait
  * @param read      the slot reads the line or updates a word of it; otherwise it is empty
  * @param serialRmw the slot applies `op` to `word` if `effect`
  */
class AcknowledgeSlot(p: NemoParams) extends Bundle {
  val busy = Bool()
  val read = Bool()
  val serialRmw = Bool()
  val effect = Bool()
  val op = UInt(UpdateOp.codeBits.W)
  val word = UInt(p.wordIndexBits.W)
}

/** Subtracts lines that software has read from the counters, one line at a time for all channels.
  *
  * The new value of a counter follows from the rule's update op, modulo its width; r is the rule's reset value, or 0:
  *   - add, sub, addsat, subsat: counter - written + r
  *   - xor: counter ^ written ^ r
  *   - or: (counter & ~written) | r
  *   - max, min, last: r if the counter equals the written value
  *   - shr, shl, ewma2, ewma4, ewma8, and a pipeline without a rule: unchanged
  *
  * An acknowledge has the channel's slots for [[AcknowledgeUnit.slots]] cycles; events wait in the queue of
  * [[SlotArbiter]]. It reads the line and stops if a word has bad parity, or if r cannot be corrected. Then it sends an
  * operand for each word through the rule's port of the effect operand, and restores that operand behind the last word.
  * For sums and XOR the lane's ALU computes the new word; for the other ops it is computed here and set. A pipeline
  * that is cleared meanwhile keeps its zeros.
  *
  * Latency: [[AcknowledgeUnit.latency]] cycles from `acknowledge` to `acknowledged` if the channel is free and no other
  * acknowledge is under way; up to [[AcknowledgeUnit.period]] more for each other channel. It starts when the channel's
  * event queue is empty.
  */
class AcknowledgeUnit(p: NemoParams) extends Module {
  import AcknowledgeUnit._
  require(operandStep < firstUpdateStep(p) - 1)
  val io = IO(new Bundle {

    /** The ports of [[TelemetryEngine]]. */
    val acknowledge = Vec(p.channels, Flipped(Decoupled(new LineAcknowledge(p))))
    val acknowledged = Vec(p.channels, Valid(Bool()))

    /** An acknowledge of the channel may begin in the next cycle. */
    val available = Input(Vec(p.channels, Bool()))
    val slots = Output(Vec(p.channels, new AcknowledgeSlot(p)))
    val lines = Input(Vec(p.channels, new Line(p)))
    val clearing = Input(Vec(p.pipelines, Bool()))

    /** A pipeline gets `rule`; never during an acknowledge. */
    val load = Flipped(Valid(UInt(p.pipelineBits.W)))
    val rule = Input(new DecodedRule(p))

    /** Replaces the effect operand on the rule's port, [[MatchStage.latency]] + 1 cycles behind its slot. */
    val operand = Valid(UInt(p.wordBits.W))

    /** Of the memory of reset values. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  // Of each rule only this is needed.
  private val summaries = RegInit(VecInit(Seq.fill(p.pipelines)(0.U.asTypeOf(new RuleSummary))))
  private val summary = Wire(new RuleSummary)
  private val ops = (UpdateOp.standard ++ p.features.ops).distinct
  private def isTaken(ways: UpdateOp.Taken*): Bool =
    ops.filter(op => ways.contains(op.taken)).map(io.rule.op === _.code.U).reduce(_ || _)
  summary.supported := !isTaken(UpdateOp.NotTaken)
  summary.method := Cat(
    isTaken(UpdateOp.ClearedBits, UpdateOp.IfEqual),
    isTaken(UpdateOp.ExclusiveOr, UpdateOp.IfEqual)
  )
  summary.counterWidth := io.rule.counterWidth
  summary.isReset := io.rule.effectUpdates && io.rule.clearsParity
  private val resetValues = Module(new ProtectedRam(p.pipelines.max(2), p.wordBits))
  when(io.load.valid) { NemoParams.pick(summaries, io.load.bits) := summary }
  resetValues.io.write.valid := io.load.valid
  resetValues.io.write.bits.address := io.load.bits
  resetValues.io.write.bits.data := io.rule.effectOperand
  resetValues.io.inject := io.inject
  io.fault := resetValues.io.fault

  // One acknowledge at a time, until its last operand is sent. If the line does not change, the steps end before the
  // first word.
  private val active = RegInit(false.B)
  private val step = RegInit(0.U(log2Ceil(slots(p) + 1).W))
  private val done = RegInit(false.B)
  private val channel = RegInit(0.U(p.channelBits.W))
  private val current = Reg(new RuleSummary)
  private val resetValueLost = RegEnable(resetValues.io.fault.uncorrected, step === operandStep.U)
  private val parityError = RegNext(NemoParams.pick(VecInit(io.lines.map(_.poison)), channel) || resetValueLost)
  private val restoresOperand = active && step === (firstUpdateStep(p) + p.lineWords).U
  private val aborts = active && step === firstUpdateStep(p).U && (parityError || !current.supported)
  private val updates = active && step >= firstUpdateStep(p).U && step < (firstUpdateStep(p) + p.lineWords).U && !aborts
  private val operandPending = Seq.iterate(updates || restoresOperand, operandDelay(p) + 1)(RegNext(_, false.B))
  // Round robin: the next channel above the last, or the lowest.
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

  private val applies = RegEnable(!parityError, step === firstUpdateStep(p).U)
  private val finishes = restoresOperand || aborts
  active := starts || (active && !finishes)
  step := Mux(active, step + 1.U, 0.U)
  done := finishes

  // A clear wins, even one that ends before the line is updated.
  private val cleared = Reg(Bool())
  private val clears = NemoParams.pick(io.clearing, pipeline)
  cleared := active && (cleared || clears)
  private val word = (step - firstUpdateStep(p).U)(p.wordIndexBits - 1, 0)
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

  // The rule's effect operand, to be restored. It is read only for supported rules, because the word of another was
  // never written and has no valid code.
  resetValues.io.read.valid := active && step === 0.U && current.supported
  resetValues.io.read.bits := pipeline
  private val resetOperand = RegEnable(resetValues.io.data, step === operandStep.U)

  // The stored and the written word, `wordDelay` cycles behind the slot. The last is selected while it is still
  // offered.
  private val wordNow = ShiftRegister(word, wordDelay)
  private def selectWord(words: Int => Vec[UInt]): UInt = {
    val all = Seq.tabulate(p.channels)(words(_)).flatten
    RegNext(VecInit(all)(if (p.channels == 1) wordNow else Cat(channel, wordNow)))
  }
  private val stored = selectWord(c => io.lines(c).words)
  private val written = selectWord(c => io.acknowledge(c).bits.words)
  private val restored = Seq.iterate(restoresOperand, wordDelay + 3)(RegNext(_, false.B))

  // The operand. Behind the last word it is the rule's own: the max method with all counters equal gives it.
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
  // With the hash stage the operand waits for its slot.
  io.operand.bits := ShiftRegister(sum | computed, operandDelay(p) - computeDelay)
}

object AcknowledgeUnit {

  /** How a counter is subtracted from, by [[UpdateOp.Taken]]; `sum` is a difference. */
  private object Method {
    val (sum, xor, or, max) = (0, 1, 2, 3)
    val bits = 2
  }

  /** How the counters of a pipeline are subtracted from. */
  private class RuleSummary extends Bundle {
    val supported = Bool()
    val method = UInt(Method.bits.W)
    val counterWidth = UInt(2.W)
    val isReset = Bool()
  }

  /** The slot before the read is empty, so that the line holds every earlier update when it arrives. */
  private val readStep = 1
  private def firstUpdateStep(p: NemoParams): Int = readStep + TelemetryEngine.readLatency(p) + 1
  private val operandStep = ProtectedRam.latency
  private val wordDelay = 2

  /** Cycles from a slot to the operand computed for it. */
  private val computeDelay = wordDelay + 3
  private def operandDelay(p: NemoParams): Int = MatchStage.latency(p) + 1

  /** Slots of an acknowledge. */
  def slots(p: NemoParams): Int = firstUpdateStep(p) + p.lineWords + 1

  /** Cycles from request to answer. */
  def latency(p: NemoParams): Int = slots(p) + 1

  /** Cycles from one acknowledge to the next. */
  def period(p: NemoParams): Int = slots(p) + operandDelay(p) + 1
}
