// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._
import chisel3.util.experimental.BoringUtils

/** The fields of a rule that a proof fixes: ops of update and read effect, and the code of the counter width. */
case class Case(op: UpdateOp, effect: UpdateOp, counterWidth: Int) {
  override def toString: String = s"${op.name}, read effect ${effect.name}, width code $counterWidth"
}

/** The contract of one rule on one channel: a lane and its read stage, without the arbiter.
  *
  * In every cycle the solver chooses a slot (an event, a read, the next word of a serial RMW, a slot of an acknowledge,
  * or nothing) and a table write. An acknowledge reads a word, or updates any word with any operand by any of its ops;
  * then the rule's own operand is restored. A reference applies all of it at once to one counter of the solver's
  * choice. Each line must hold the reference's value at its slot, on time and without poison; so must the OR of an
  * acknowledge's line, unless one of the three slots before its read changes a counter ([[AcknowledgeUnit]] waits).
  *
  * `written` is a lemma: the update stage writes the reference's value. The solver need not find it by itself.
  */
class LaneContract(p: NemoParams, rule: Case) extends Module {
  require(p.pipelines == 1 && p.channels == 1)
  private val countersInWord = p.wordBytes >> rule.counterWidth
  private val effectIsSerial = rule.effect != UpdateOp.Set
  val io = IO(new Bundle {
    val slot = Input(new Slot(p))
    val table = Input(Valid(new TableWrite(p)))

    /** The operand of an acknowledge. */
    val acknowledgeOperand = Input(UInt(p.wordBits.W))

    /** Sampled in reset: the watched counter, and the rule's operand. */
    val watched = Input(UInt(log2Ceil(p.states * countersInWord).W))
    val operand = Input(UInt(p.wordBits.W))
    val line = Output(Bool())
    val written = Output(Bool())
    val poison = Output(Bool())
  })
  private val operand = RegEnable(io.operand, reset.asBool)
  private val watched = RegEnable(io.watched, reset.asBool)

  // The counter that an event hits stays free. Shifts and masks are tested elsewhere.
  private val fixed = Wire(new Rule(p))
  fixed.enable := true.B
  fixed.reads := true.B
  fixed.writes := true.B
  fixed.start := 0.U
  fixed.end := (1 << p.addressBits).U
  fixed.primaryMask := Fill(p.addressBits, 1.U)
  fixed.primaryShift := (p.addressBits - p.keyBits).U
  fixed.subMask := ((1 << p.indexBits) - 1).U
  fixed.subShift := 0.U
  fixed.op := rule.op.code.U
  fixed.operandSource := OperandSource.Immediate.U
  fixed.operand := operand
  fixed.counterWidth := rule.counterWidth.U
  fixed.notifyOp := Predicate.None.U
  fixed.notifyOperand := 0.U
  fixed.effectKind := (if (effectIsSerial) ReadEffect.Op else ReadEffect.Reset).U
  fixed.effectOp := rule.effect.code.U
  fixed.effectOperand := operand

  private val decoded = DecodedRule(fixed, p)
  private val effectOperand = decoded.effectOperand

  // The watched counter, extracted from a word.
  private val bits = p.counterBits(rule.counterWidth)
  private val sub = if (countersInWord == 1) 0.U else watched(log2Ceil(countersInWord) - 1, 0)
  private def counter(word: UInt): UInt = (word >> (sub * bits.U))(bits - 1, 0).pad(p.wordBits)

  // A clear after reset; the first slot comes when it is over.
  private val step = RegInit(0.U(4.W))
  private val clearing = step < p.lines.max(p.table).U
  private val running = step === (p.lines.max(p.table) + MatchStage.latency(p) + 2).U
  when(!running) { step := step + 1.U }

  // At most one event or read a slot; a serial RMW has a slot for each word.
  private val serialWord = RegInit(0.U(p.wordIndexBits.W))
  private val line = Reg(UInt(p.lineBits.W))
  private val slot = WireDefault(io.slot)
  private val inSerialRmw = serialWord =/= 0.U
  private val restoresOperand = RegInit(false.B)
  private val acknowledge =
    running && !inSerialRmw && (restoresOperand || (io.slot.acknowledge && io.slot.read && !io.slot.event))
  private val updates = acknowledge && (restoresOperand || io.slot.serialRmw)
  private val updateOperand = Mux(io.slot.target.effect, io.acknowledgeOperand, effectOperand)
  restoresOperand := updates && io.slot.target.effect
  slot.event := running && io.slot.event && !inSerialRmw && !acknowledge
  slot.read := running && !slot.event && (io.slot.read || inSerialRmw || acknowledge)
  slot.target.pipeline := 0.U
  slot.target.line := Mux(inSerialRmw, line, io.slot.target.line)
  slot.target.effect := (inSerialRmw || io.slot.target.effect) && !(acknowledge && !updates)
  private val serialRmw = slot.read && slot.target.effect && effectIsSerial.B && !acknowledge
  slot.serialRmw := serialRmw || updates
  slot.word := Mux(serialRmw, serialWord, Mux(acknowledge, io.slot.word, 0.U))
  slot.acknowledge := acknowledge
  slot.op := Mux(io.slot.op(0), UpdateOp.Set.code.U, Mux(io.slot.op(1), UpdateOp.Sub.code.U, UpdateOp.Xor.code.U))
  line := slot.target.line
  when(serialRmw) { serialWord := serialWord + 1.U }
  private val write = WireDefault(io.table)
  write.valid := io.table.valid && running
  write.bits.pipeline := 0.U

  private val lane = Module(new TelemetryLane(p))
  private val readStage = Module(new ReadStage(p))
  lane.io.pipeline := 0.U
  lane.io.slot := slot
  lane.io.delayedSlot := Slot.delayed(slot, MatchStage.latency(p))
  lane.io.rule := decoded
  when(ShiftRegister(updates, MatchStage.latency(p), false.B, true.B)) {
    lane.io.rule.effectOperand := ShiftRegister(updateOperand, MatchStage.latency(p))
  }
  lane.io.load := !running
  lane.io.table := write
  lane.io.flips := 0.U
  when(clearing) {
    lane.io.table.valid := true.B
    lane.io.table.bits.key := step
    lane.io.table.bits.mapped := false.B
  }
  lane.io.clear.valid := clearing
  lane.io.clear.bits := step
  readStage.io.slot := lane.io.delayedSlot
  readStage.io.contributions(0) := lane.io.contribution

  // The reference: the rule's meaning, on one counter.
  private val entries = RegInit(VecInit(Seq.fill(p.table)(0.U((p.indexBits + 1).W))))
  private val mapped = RegInit(VecInit(Seq.fill(p.table)(false.B)))
  private val key = (slot.request.address >> fixed.primaryShift)(p.keyBits - 1, 0)
  private val sameKey = write.valid && write.bits.key === key
  when(write.valid) {
    entries(write.bits.key) := write.bits.base
    mapped(write.bits.key) := write.bits.mapped
  }
  private val base = Mux(sameKey, write.bits.base, entries(key))
  private val index = base +& (slot.request.address & fixed.subMask)
  private val hit = slot.event && Mux(sameKey, write.bits.mapped, mapped(key)) && index === watched
  private val word = watched >> log2Ceil(countersInWord)
  private val wordOfLine = word(p.wordIndexBits - 1, 0)
  private val inLine = slot.read && (word >> p.wordIndexBits) === slot.target.line
  private val inSlot = inLine && (!slot.serialRmw || slot.word === wordOfLine)

  private val before = RegInit(0.U(p.wordBits.W))
  private def fold(op: UInt, operand: UInt) = ReferenceFold(op, before, operand, rule.counterWidth.U, p)
  private val counterOperand = counter(updateOperand)
  private val affected =
    Mux(acknowledge, fold(slot.op, counterOperand), fold(rule.effect.code.U, operand))
  private val after =
    Mux(hit, fold(rule.op.code.U, operand), Mux(inSlot && slot.target.effect, affected, before))
  before := after

  // The counter's value that the line must hold; of a serial RMW, the value in the slot of its word.
  private def delayed[T <: Data](x: T, n: Int) = ShiftRegister(x, n, 0.U.asTypeOf(x), true.B)
  private val latency = MatchStage.latency(p) + ReadStage.latency
  private val last = slot.read && !acknowledge && (!slot.serialRmw || slot.word === (p.lineWords - 1).U)
  private val gathered = RegEnable(before, inSlot)
  private val expected = Mux(inSlot, before, gathered)
  private val changes = slot.event || (slot.read && slot.target.effect)
  private val settled = !(1 until UpdateStage.hazardDepth).map(delayed(changes, _)).reduce(_ || _)
  private val readsAny = acknowledge && !updates
  private val readsWord = readsAny && slot.word === wordOfLine && settled
  private val answer = readStage.io.line
  private val words = answer.bits.words
  private val read = Mux(delayed(readsWord, latency), words.reduce(_ | _), words(wordOfLine))
  io.line := answer.valid === delayed(last, latency) &&
    (!delayed((last || readsWord) && inLine, latency) || counter(read) === delayed(expected, latency))
  io.poison := (answer.valid || delayed(readsAny, latency)) && answer.bits.poison

  private val writes = BoringUtils.bore(lane.update.written)
  private val result = BoringUtils.bore(lane.update.result)
  private val touches = writes.words(wordOfLine) && writes.line === (word >> p.wordIndexBits)
  io.written := !touches || (counter(result.data) === delayed(
    after,
    TelemetryLane.writeLatency(p)
  ) && !result.parityError)
}
