// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** A value on its way from the ALU to the state array. `bad`: it grew from a word with bad parity. */
class InFlight(p: NemoParams) extends Bundle {
  val data = UInt(p.wordBits.W)
  val bad = Bool()
}

/** What a rule's update stage contributes to a telemetry line of its channel.
  *
  * `stored` are the words as the state array had them, zero where they were not read; in the slot of a read only the rule
  * that is read has any, so that the rules' are joined by OR. Words with an update in flight are not read there: `hits`
  * says that slot `d` before, d = 1 to 4, has their newest value. `result` is what stage 4 writes in this cycle.
  */
class LinePart(p: NemoParams) extends Bundle {
  val stored = Vec(p.lineWords, new StateWord(p))
  val hits = Vec(UpdateStage.window, UInt(p.lineWords.W))
  val result = new InFlight(p)

  /** The parity that is written with it. */
  val parity = Bool()
}

/** A counter that an event updated, on its way to the notify stage, which hears nothing of words with bad parity. */
class Updated(p: NemoParams) extends Bundle {
  val data = UInt(p.wordBits.W)

  /** The counter's bytes of the word. */
  val bytes = UInt(p.wordBytes.W)
  val index = UInt(p.indexBits.W)
}

/** Update stage of one rule on one channel (NEMO §3.1): reads a state, applies the op, writes it back; a slot a
  * cycle, whatever the slots touch.
  *
  * Stages, a cycle each: 0 state and operand are asked for, 1 the memory works, 2 the word is chosen, 3 the ALU, 4 the
  * write. So a slot may need what the four slots before it have not yet written. It compares with them in stage 0,
  * does not read words that are in flight, and takes those from stage 4, or the value kept behind it, when it is in
  * stage 1 (of slots three and four before) or in stage 3 (of the two right before).
  *
  * A word whose parity is bad keeps bad parity through any update; only a reset heals it.
  */
class UpdateStage(p: NemoParams) extends Module {
  import UpdateStage._

  val io = IO(new Bundle {

    /** Which pipeline this is. */
    val pipeline = Input(UInt(p.pipelineBits.W))

    /** The slot, delayed to arrive with `matched`. */
    val slot = Input(new Slot(p))
    val matched = Input(new MatchResult(p))
    val rule = Input(new LaidRule(p))

    /** Load the rule, a cycle before the first slot it applies to. */
    val load = Input(Bool())

    /** The slot neither updates nor reads. */
    val off = Input(Bool())

    /** This line is cleared, in the place of stage 4's write in the next cycle; `off` as well. */
    val clear = Flipped(Valid(UInt(p.lineBits.W)))
    val part = Output(new LinePart(p))
    val updated = Valid(new Updated(p))
  })

  private def loaded[T <: Data](field: T): T = RegEnable(field, io.load)
  private def delayed[T <: Data](x: T, n: Int): T = ShiftRegister(x, n)

  // Stage 0: one access from the slot, an event's counter or a read's words.
  private val width = loaded(io.rule.counterWidth)
  private val effect = RegEnable(io.rule.modifies, false.B, io.load)
  private val read = io.slot.read && io.slot.target.pipeline === io.pipeline && !io.off
  private val event = io.matched.matched && !io.off
  private val access = Wire(new LineSelect(p))
  access.line := Mux(io.slot.read, io.slot.target.line, io.matched.line)
  access.words := Mux(
    io.slot.read,
    Mux(read, Mux(io.slot.walk, UIntToOH(io.slot.word, p.lineWords), Fill(p.lineWords, 1.U)), 0.U),
    Mux(event, UIntToOH(io.matched.word, p.lineWords), 0.U)
  )
  private val modifies = event || (read && io.slot.target.effect && effect)
  private val modified = Wire(new LineSelect(p))
  modified.line := access.line
  modified.words := Mux(modifies, access.words, 0.U)

  // The operand: a read effect's or a field of the request, or the rule's own, which is looked at in stage 1.
  private val operands = Module(new OperandStage(p))
  private val request =
    Mux(loaded(io.rule.ofLine), io.slot.request.address >> 6, loaded(io.rule.ofWrite) && io.slot.request.write)
  private val field = CounterWidth.repeat(request.pad(p.wordBits), width, p)
  private val effectOperand = loaded(io.rule.effectOperand)
  private val ruleOperand = RegEnable(io.rule.operand, RegNext(io.load, false.B))
  operands.io.op := Mux(io.slot.read, loaded(io.rule.effectOp), loaded(io.rule.op))
  operands.io.operand := Mux(io.slot.read, effectOperand, field)
  operands.io.later := Mux(RegNext(io.slot.read), 0.U, ruleOperand)
  operands.io.amount := Mux(io.slot.read, effectOperand, field | loaded(io.rule.operand(5, 0)))
  operands.io.counterWidth := width
  private val inside = Mux(io.slot.read, Fill(p.wordBytes, 1.U), CounterWidth.bytes(io.matched.sub, width, p))
  operands.io.inside := inside

  // Hazards: which of the accessed words the slots before have in flight, the youngest first.
  private val inFlight = Seq.iterate(modified, window + 1)(later => quiet(later)).tail
  private val touched = inFlight.map(m => Mux(m.line === access.line, m.words & access.words, 0.U))
  private val younger = touched.scanLeft(0.U(p.lineWords.W))(_ | _)
  private val hits = touched.zip(younger).map { case (t, y) => t & ~y }

  private val states = Module(new StateArray(p))
  states.io.read.line := access.line
  states.io.read.words := access.words & ~younger.last

  // Stages 1 and 2: the word, from its bank or from a slot three or four before.
  private val hits1 = hits.map(h => RegNext(h, 0.U))
  private val hits2 = hits1.map(h => RegNext(h, 0.U))
  private[nemo] val result = Wire(new InFlight(p))
  private val before = RegNext(result)
  private def ifAny(hit: UInt, value: InFlight): InFlight = Mux(hit.orR, value, 0.U.asTypeOf(value))
  private val older = RegNext((ifAny(hits1(2), result).asUInt | ifAny(hits1(3), before).asUInt).asTypeOf(result))
  private val state = RegNext((older.data +: states.io.words.map(_.data)).reduce(_ | _))
  private val parity = RegNext(states.io.words.map(_.parity).reduce(_ || _))
  private val fromOlder = RegNext(hits2(2).orR || hits2(3).orR)
  private val olderBad = RegNext(older.bad)

  // Stages 3 and 4: the loop.
  private val chain = RegNext(hits2(0).orR, false.B)
  private val fromBefore = RegNext(hits2(1).orR, false.B)
  private val alu = Module(new UpdateAlu(p))
  alu.io.operand := operands.io.result
  alu.io.state := Mux(fromBefore, before.data, state)
  alu.io.chain := chain
  alu.io.zero := io.clear.valid
  private val healed = delayed(io.slot.read && loaded(io.rule.heals), 3)
  private val stateBad = Mux(fromBefore, before.bad, Mux(fromOlder, olderBad, state.xorR ^ parity))
  result.data := alu.io.result
  result.bad := RegNext(!healed && !io.clear.valid && Mux(chain, result.bad, stateBad))

  private[nemo] val written = inFlight.last
  private val clearing = RegNext(io.clear.valid, false.B)
  states.io.write.line := Mux(clearing, RegNext(io.clear.bits), written.line)
  states.io.write.words := Mux(clearing, Fill(p.lineWords, 1.U), written.words)
  states.io.value.data := result.data
  states.io.value.parity := result.data.xorR ^ result.bad

  io.part.stored := states.io.words
  io.part.hits := hits2
  io.part.result := result
  io.part.parity := states.io.value.parity

  // To the notify stage: what an event wrote. A predicate on a bad word would raise an interrupt for what nobody counted.
  private val word = Cat(io.matched.line, io.matched.word)
  private val index = CounterWidth.select(width, p) { w =>
    (if (w < p.subBits) Cat(word, io.matched.sub(p.subBits - 1 - w, 0)) else word).pad(p.indexBits)
  }
  io.updated.valid := RegNext(ShiftRegister(event, window, false.B, true.B) && !result.bad, false.B)
  io.updated.bits.data := RegNext(result.data)
  io.updated.bits.bytes := delayed(inside, window + 1)
  io.updated.bits.index := delayed(index, window + 1)

  private def quiet(select: LineSelect): LineSelect = {
    val next = Wire(new LineSelect(p))
    next.line := RegNext(select.line)
    next.words := RegNext(select.words, 0.U)
    next
  }
}

object UpdateStage {

  /** Slots before a slot whose writes it can't find in the state array yet. */
  val window: Int = 4

  /** Cycles from slot to `stored` and `hits` of its part. */
  val partLatency: Int = 2

  /** Cycles from slot to the value `updated`. */
  val latency: Int = window + 1
}
