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
  * [[SlotArbiter]]. It reads the line, a word a slot, and stops if a word has bad parity, or if a written word or r
  * cannot be corrected. Then it sends an operand for each word through the rule's port of the effect operand, and
  * restores that operand behind the last word. For sums and XOR the lane's ALU computes the new word; for the other ops
  * it is computed here and set. A pipeline that is cleared meanwhile keeps its zeros.
  *
  * Latency: [[AcknowledgeUnit.latency]] cycles from `acknowledge` to `acknowledged` if the channel is free and no other
  * acknowledge is under way; up to [[AcknowledgeUnit.period]] more for each other channel. It starts when the channel's
  * event queue is empty.
  */
class AcknowledgeUnit(p: NemoParams) extends Module {
  import AcknowledgeUnit._
  require(operandStep < firstUpdateStep(p) - 1, "the reset value comes before the line is judged")
  require(readStep + p.lineWords < firstUpdateStep(p), "each word is read behind the slot that is left empty")
  require(operandDelay(p) == computeDelay(p), "an operand is computed as its update needs it")
  val io = IO(new Bundle {

    /** The ports of [[TelemetryEngine]]. */
    val acknowledge = Vec(p.channels, Flipped(Decoupled(new LineAddress(p))))
    val acknowledged = Vec(p.channels, Valid(Bool()))
    val words = Vec(p.channels, new LineWordRead(p))

    /** An acknowledge of the channel may begin in the next cycle. */
    val available = Input(Vec(p.channels, Bool()))
    val slots = Output(Vec(p.channels, new AcknowledgeSlot(p)))
    val lines = Input(Vec(p.channels, new Line(p)))
    val clearing = Input(Vec(p.pipelines, Bool()))

    /** A pipeline gets `rule`; never during an acknowledge. */
    val load = Flipped(Valid(UInt(p.pipelineBits.W)))
    val rule = Input(new DecodedRule(p))

    /** The effect operand on the rule's port: that of `rule`, or an update's, [[MatchStage.latency]] + 1 cycles behind
      * its slot.
      */
    val effectOperand = Output(UInt(p.wordBits.W))

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
  private val wordLost = Reg(Bool())
  private val isLost =
    RegNext(NemoParams.pick(VecInit(io.lines.map(_.poison)), channel) || resetValueLost || wordLost)
  private val restoresOperand = active && step === (firstUpdateStep(p) + p.lineWords).U
  private val aborts = active && step === firstUpdateStep(p).U && (isLost || !current.supported)
  private val updates = active && step >= firstUpdateStep(p).U && step < (firstUpdateStep(p) + p.lineWords).U && !aborts
  private val operandPending = Seq.iterate(updates || restoresOperand, operandDelay(p) + 1)(RegNext(_, false.B))
  // Round robin: the next channel above the last, or the lowest.
  private val eligible = io.acknowledge.zip(io.available).map { case (offered, available) =>
    offered.valid && available
  }
  private val eligibleAbove = eligible.zipWithIndex.map { case (one, c) => one && c.U > channel }
  private val nextChannel = Mux(eligibleAbove.reduce(_ || _), PriorityEncoder(eligibleAbove), PriorityEncoder(eligible))
  private val starts = eligible.reduce(_ || _) && !active && !done && !operandPending.reduce(_ || _)
  private val target = NemoParams.pick(VecInit(io.acknowledge.map(_.bits.pipeline)), nextChannel)
  private val pipeline = RegEnable(target, starts)
  when(starts) {
    channel := nextChannel
    current := NemoParams.pick(summaries, target)
  }

  private val applies = RegEnable(!isLost, step === firstUpdateStep(p).U)
  private val finishes = restoresOperand || aborts
  active := starts || (active && !finishes)
  step := Mux(active, step + 1.U, 0.U)
  done := finishes

  // A clear wins, even one that ends before the line is updated.
  private val cleared = Reg(Bool())
  private val clears = NemoParams.pick(io.clearing, pipeline)
  cleared := active && (cleared || clears)
  // The line's poison is that of the first read. Each word is read `lineWords` steps before it is updated.
  private val reads = step =/= 0.U && step < firstUpdateStep(p).U
  private val word = (step - firstUpdateStep(p).U)(p.wordIndexBits - 1, 0)
  for (c <- 0 until p.channels) {
    val slot = io.slots(c)
    slot.busy := active && isFor(c)
    slot.read := reads || updates || restoresOperand
    slot.serialRmw := !reads
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

  // The written words, each once before the updates, and again for its update. They are asked for a cycle early.
  private val index = ShiftRegister(word + 1.U, lineDelay(p) - 1)
  private val first = ShiftRegister(active && step < p.lineWords.U, lineDelay(p) - 1, false.B, true.B)
  for ((words, c) <- io.words.zipWithIndex) {
    words.index := index
    words.first := first && isFor(c)
  }
  private val checked = ShiftRegister(first, LineWordRead.latency, false.B, true.B)
  wordLost := active && (wordLost || (checked && NemoParams.pick(VecInit(io.words.map(_.lost)), channel)))

  // The stored and the written word, `selectDelay` cycles behind the slot. The line has one word, so OR joins them.
  private def ofChannel(value: Int => UInt): UInt =
    RegNext(NemoParams.pick(VecInit.tabulate(p.channels)(value), channel))
  private val stored = ofChannel(c => io.lines(c).words.reduce(_ | _))
  private val written = ofChannel(io.words(_).word)

  // Which counters are as they were read.
  private val sameBytes = RegNext(VecInit.tabulate(p.wordBytes) { k =>
    val (low, high) = (k * p.byteBits, (k + 1) * p.byteBits - 1)
    stored(high, low) === written(high, low)
  })
  private def equalBytes(width: Int): UInt = VecInit
    .tabulate(p.wordBytes)(k => sameBytes.slice(k >> width << width, ((k >> width) + 1) << width).reduce(_ && _))
    .asUInt
  private val restores = ShiftRegister(restoresOperand, selectDelay(p) + 1, false.B, true.B)
  private val equal =
    RegNext(Fill(p.wordBytes, restores) | CounterWidth.select(current.counterWidth, p)(equalBytes))
  private val isEqual = CounterWidth.spread(equal, p)

  // The operand. Behind the last word it is the rule's own: the max method with all counters equal gives it.
  private val resetValue = RegNext(Mux(current.isReset || restores, resetOperand, 0.U))
  private val method = RegNext(Mux(restores, Method.max.U, current.method))
  private val (storedWord, subtrahend) = (ShiftRegister(stored, 2), ShiftRegister(written, 2))
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
    Method.max.U -> ((isEqual & resetValue) | (~isEqual & storedWord))
  )))
  io.effectOperand := Mux(operandPending.last, sum | computed, io.rule.effectOperand)
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

  /** Cycles from an update's slot to its word in `lines`, which was read `lineWords` slots before. */
  private def lineDelay(p: NemoParams): Int = TelemetryEngine.readLatency(p) - p.lineWords

  /** Cycles from an update's slot to both words, and to its operand. */
  private def selectDelay(p: NemoParams): Int = lineDelay(p) + 1
  private def computeDelay(p: NemoParams): Int = selectDelay(p) + 3
  private def operandDelay(p: NemoParams): Int = MatchStage.latency(p) + 1

  /** Slots of an acknowledge. */
  def slots(p: NemoParams): Int = firstUpdateStep(p) + p.lineWords + 1

  /** Cycles from request to answer. */
  def latency(p: NemoParams): Int = slots(p) + 1

  /** Cycles from one acknowledge to the next. */
  def period(p: NemoParams): Int = slots(p) + operandDelay(p) + 1
}
