// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** A value on its way from the ALU to the state array. `bad`: it grew from a word with bad parity. */
class InFlight(p: NemoParams) extends Bundle {
  val data = UInt(p.wordBits.W)
  val bad = Bool()
}

/** What a rule's update stage contributes to a telemetry line of its channel; all zero unless the slot is a read of
  * this rule, so that the pipelines' contributions are joined by OR.
  *
  * `stored` are the words as the state array had them. Words with an update in flight were not read there: they come
  * from the slot `d` before the read, d = 1 to 4. That of d = 1 is one cycle later than the rest.
  */
class LinePart(p: NemoParams) extends Bundle {
  val stored = Vec(p.lineWords, new StateWord(p))
  val hits = Vec(UpdateStage.window, UInt(p.lineWords.W))
  val inFlight = Vec(UpdateStage.window, new InFlight(p))
}

/** A counter that an event updated, on its way to the notify stage, which hears nothing of words with bad parity. */
class Updated(p: NemoParams) extends Bundle {
  val data = UInt(p.wordBits.W)

  /** The counter's bits of the word. */
  val mask = UInt(p.wordBits.W)
  val index = UInt(p.indexBits.W)
}

/** Update stage of one rule on one channel (NEMO §3.1): reads a state, applies the op, writes it back; a slot a
  * cycle, whatever the slots touch.
  *
  * Stages, a cycle each: 0 state and operand are asked for, 1 the memory works, 2 the word is chosen, 3 the ALU, 4 the
  * write. So a slot may need what the four slots before it have not yet written. It compares with them in stage 0,
  * does not read words that are in flight, and takes those from stage 4 (or the two values kept behind it) when it
  * gets to stage 2, or in stage 3 from the slot right before.
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
    val rule = Input(new Rule(p))

    /** Load the rule, a cycle before the first slot it applies to. */
    val load = Input(Bool())

    /** The slot neither updates nor reads. */
    val off = Input(Bool())

    /** This line is cleared, in the place of stage 4's write; `off` as well. */
    val clear = Flipped(Valid(UInt(p.lineBits.W)))
    val part = Output(new LinePart(p))
    val updated = Valid(new Updated(p))
  })

  private def loaded[T <: Data](field: T): T = RegEnable(field, io.load)
  private def delayed[T <: Data](x: T, n: Int): T = ShiftRegister(x, n)

  // Stage 0: one access from the slot, an event's counter or a read's words.
  private val width = loaded(io.rule.counterWidth)
  private val effect = RegEnable(io.rule.effectKind, ReadEffect.None.U, io.load)
  private val read = io.slot.read && io.slot.target.pipeline === io.pipeline && !io.off
  private val event = io.matched.matched && !io.off
  private val access = Wire(new LineSelect(p))
  access.line := Mux(io.slot.read, io.slot.target.line, io.matched.line)
  access.words := Mux(
    io.slot.read,
    Mux(read, Mux(io.slot.walk, UIntToOH(io.slot.word, p.lineWords), Fill(p.lineWords, 1.U)), 0.U),
    Mux(event, UIntToOH(io.matched.word, p.lineWords), 0.U)
  )
  private val modifies = event || (read && io.slot.target.effect && effect =/= ReadEffect.None.U)
  private val modified = Wire(new LineSelect(p))
  modified.line := access.line
  modified.words := Mux(modifies, access.words, 0.U)

  private val operands = Module(new OperandStage(p))
  private val op = Mux(effect === ReadEffect.Reset.U, UpdateOp.Set.code.U, loaded(io.rule.effectOp))
  private val field = Mux(
    loaded(io.rule.operandSource) === OperandSource.Line.U,
    io.slot.request.address >> 6,
    io.slot.request.write
  )
  private val immediate = loaded(io.rule.operandSource) === OperandSource.Immediate.U
  operands.io.op := Mux(io.slot.read, op, loaded(io.rule.op))
  operands.io.operand := Mux(
    io.slot.read,
    loaded(CounterWidth.repeat(io.rule.effectOperand, io.rule.counterWidth, p)),
    Mux(
      immediate,
      loaded(CounterWidth.repeat(io.rule.operand, io.rule.counterWidth, p)),
      CounterWidth.repeat(fit(field), width, p)
    )
  )
  operands.io.amount := operands.io.operand
  operands.io.counterWidth := width
  operands.io.inside := Mux(io.slot.read, Fill(p.wordBits, 1.U), CounterWidth.mask(io.matched.sub, width, p))

  // Hazards: which of the accessed words the slots before have in flight, the youngest first.
  private val inFlight = Seq.iterate(modified, window + 1)(later => quiet(later)).tail
  private val touched = inFlight.map(m => Mux(m.line === access.line, m.words & access.words, 0.U))
  private val younger = touched.scanLeft(0.U(p.lineWords.W))(_ | _)
  private val hits = touched.zip(younger).map { case (t, y) => t & ~y }

  private val states = Module(new StateArray(p))
  states.io.read.line := access.line
  states.io.read.words := access.words & ~younger.last

  // Stage 2: the word, from its bank or from a slot two to four before.
  private val hits2 = hits.map(h => ShiftRegister(h, 2, 0.U, true.B))
  private[nemo] val result = Wire(new InFlight(p))
  private val recent = Seq.iterate(result, window - 1)(RegNext(_))
  private val older = hits2.tail.zip(recent)
  private val chosen = older.map { case (h, v) => Mux(h.orR, v.data, 0.U) } ++ states.io.words.map(_.data)
  private val state = RegNext(chosen.reduce(_ | _))
  private val parity = RegNext(states.io.words.map(_.parity).reduce(_ || _))
  private val forwarded = RegNext(VecInit(hits2.tail.map(_.orR)).asUInt.orR)
  private val forwardedBad = RegNext(older.map { case (h, v) => h.orR && v.bad }.reduce(_ || _))

  // Stages 3 and 4: the loop.
  private val chain = RegNext(hits2.head.orR, false.B)
  private val alu = Module(new UpdateAlu(p))
  alu.io.operand := operands.io.result
  alu.io.state := state
  alu.io.chain := chain
  private val healed = delayed(io.slot.read && effect === ReadEffect.Reset.U, 3)
  private val stored = Mux(forwarded, forwardedBad, state.xorR ^ parity)
  result.data := alu.io.result
  result.bad := RegNext(!healed && Mux(chain, result.bad, stored))

  private[nemo] val written = inFlight.last
  states.io.write.line := Mux(io.clear.valid, io.clear.bits, written.line)
  states.io.write.words := Mux(io.clear.valid, Fill(p.lineWords, 1.U), written.words)
  states.io.value.data := Mux(io.clear.valid, 0.U, result.data)
  states.io.value.parity := !io.clear.valid && (result.data.xorR ^ result.bad)

  // To the line: banks and older slots in stage 2, the slot right before in stage 3.
  private val reading2 = ShiftRegister(read, 2, false.B, true.B)
  private val reading = Seq(RegNext(reading2, false.B)) ++ Seq.fill(window - 1)(reading2)
  private val values = result +: recent
  for (k <- 0 until p.lineWords) {
    io.part.stored(k) := Mux(reading2, states.io.words(k), 0.U.asTypeOf(new StateWord(p)))
  }
  for (d <- 0 until window) {
    val hit = if (d == 0) RegNext(hits2.head, 0.U) else hits2(d)
    io.part.hits(d) := Mux(reading(d), hit, 0.U)
    io.part.inFlight(d) := Mux(reading(d), values(d), 0.U.asTypeOf(new InFlight(p)))
  }

  // To the notify stage: what an event wrote. A predicate on a bad word would raise an interrupt for what nobody counted.
  private val word = Cat(io.matched.line, io.matched.word)
  private val index = CounterWidth.select(width, p) { w =>
    (if (w < p.subBits) Cat(word, io.matched.sub(p.subBits - 1 - w, 0)) else word).pad(p.indexBits)
  }
  io.updated.valid := RegNext(ShiftRegister(event, window, false.B, true.B) && !result.bad, false.B)
  io.updated.bits.data := RegNext(result.data)
  io.updated.bits.mask := delayed(operands.io.inside, window + 1)
  io.updated.bits.index := delayed(index, window + 1)

  private def fit(x: UInt): UInt = x.pad(p.wordBits)(p.wordBits - 1, 0)

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

  /** Cycles from slot to `part`, and to the words that are not in flight. */
  val partLatency: Int = 2

  /** Cycles from slot to the value `updated`. */
  val latency: Int = window + 1
}
