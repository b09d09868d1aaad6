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
  * In the slot of a read only the rule that is read has anything but zero, so that the rules' are joined by OR. Words with an
  * update in flight are not read from the state array: `hits` says which slots before have some. `fourth` is what the slot
  * four before writes, and so on. All come as they are there, so many cycles behind the slot: `hits` and `fourth`
  * [[UpdateStage.partLatency]], `stored` one more, `third` and `second` two more, `first` three more.
  */
class LinePart(p: NemoParams) extends Bundle {

  /** Of the slot right before, and so on. */
  val hits = Vec(UpdateStage.window, UInt(p.lineWords.W))
  val fourth = new StateWord(p)
  val stored = Vec(p.lineWords, new StateWord(p))
  val third = new InFlight(p)
  val second = new InFlight(p)
  val first = new InFlight(p)
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
  * does not read words that are in flight, and takes those as they pass stage 4 or the register behind it.
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
  private val effect =
    if (p.features.effects.size == 1) false.B else RegEnable(io.rule.modifies, false.B, io.load)
  private val read = io.slot.read && io.slot.target.pipeline === io.pipeline && !io.off
  private val event = io.matched.matched && !io.off
  private val access = Wire(new LineSelect(p))
  access.line := Mux(io.slot.read, io.slot.target.line, io.matched.line)
  access.words := Mux(
    io.slot.read,
    Mux(read, Mux(io.slot.walks, UIntToOH(io.slot.word, p.lineWords), Fill(p.lineWords, 1.U)), 0.U),
    Mux(event, UIntToOH(io.matched.word, p.lineWords), 0.U)
  )
  private val modifies = event || (read && io.slot.target.effect && effect)
  private val modified = Wire(new LineSelect(p))
  modified.line := access.line
  modified.words := Mux(modifies, access.words, 0.U)

  private val operands = Module(new OperandStage(p))
  private val ofLine = if (p.features.ofLine) loaded(io.rule.ofLine) else false.B
  private val ofWrite = if (p.features.ofWrite) loaded(io.rule.ofWrite) else false.B
  operands.io.op := Mux(io.slot.read, loaded(io.rule.effectOp), loaded(io.rule.op))
  operands.io.from := VecInit(
    io.slot.read,
    !io.slot.read && !ofLine && (!ofWrite || io.slot.request.write),
    !io.slot.read && ofLine
  )
  operands.io.counterWidth := width
  private val inside = Mux(io.slot.read, Fill(p.wordBytes, 1.U), CounterWidth.bytes(io.matched.sub, width, p))
  operands.io.inside := inside

  // Stage 1 has the operands.
  private val loadNext = RegNext(io.load, false.B)
  private val effectOperand = RegEnable(io.rule.effectOperand, loadNext)
  private val ownOperand = RegEnable(io.rule.operand, loadNext)
  private val line = RegNext(io.slot.request.address >> 6)
  operands.io.operands := VecInit(effectOperand, ownOperand, CounterWidth.repeat(line, RegNext(width), p))

  // Hazards: which of the accessed words the slots before have in flight.
  private val inFlight = Seq.iterate(modified, window + 1)(later => quiet(later)).tail
  private val touched = inFlight.map(m => Mux(m.line === access.line, m.words & access.words, 0.U))

  private val states = Module(new StateArray(p))
  states.io.read.line := access.line
  states.io.read.words := access.words & ~touched.reduce(_ | _)

  // Stage 1: of one word it is the youngest that counts; of a line's words each may have another.
  private val hits = touched.map(RegNext(_, 0.U))
  private val oneWord = RegNext(!io.slot.read || io.slot.walks)
  private val any = hits.map(_.orR)
  private val takes = any.zip(any.scanLeft(false.B)(_ || _)).map { case (hit, younger) => hit && !(oneWord && younger) }

  // Stage 2: the word, from its bank or from the slot four before. Values are zero where they are not taken, so they are
  // joined by OR: those of three and two before with the state, in stage 3.
  private[nemo] val result = Wire(new InFlight(p))
  private val resultParity = result.data.xorR ^ result.bad
  private val before = RegNext(result)
  private val beforeParity = RegNext(resultParity)
  private def ifTaken[T <: Data](take: Bool, value: T): T = RegNext(Mux(take, value, 0.U.asTypeOf(value)))
  private val fourth = ifTaken(takes(3), word(before.data, beforeParity))
  private val third = ifTaken(RegNext(takes(2), false.B), before)
  private val second = ifTaken(RegNext(takes(1), false.B), result)
  private val state = RegNext((fourth.data +: states.io.words.map(_.data)).reduce(_ | _))
  private val parity = RegNext((fourth.parity +: states.io.words.map(_.parity)).reduce(_ || _))

  // Stages 3 and 4: the loop.
  private val chain = ShiftRegister(takes(0), 2, false.B, true.B)
  private val alu = Module(new UpdateAlu(p))
  alu.io.operand := operands.io.result
  alu.io.state := state | third.data | second.data
  alu.io.chain := chain
  alu.io.zero := io.clear.valid
  private val healed = delayed(io.slot.read && loaded(io.rule.heals), 3)
  private val stateBad = second.bad || third.bad || (state.xorR ^ parity)
  result.data := alu.io.result
  result.bad := RegNext(!healed && !io.clear.valid && Mux(chain, result.bad, stateBad))

  private[nemo] val written = inFlight.last
  private val clearing = RegNext(io.clear.valid, false.B)
  states.io.write.line := Mux(clearing, RegNext(io.clear.bits), written.line)
  states.io.write.words := Mux(clearing, Fill(p.lineWords, 1.U), written.words)
  states.io.value := word(result.data, resultParity)

  io.part.hits := hits
  io.part.fourth := ifTaken(read, states.io.value)
  io.part.stored := states.io.words
  io.part.third := third
  io.part.second := second
  io.part.first := ifTaken(chain, result)

  // To the notify stage: what an event wrote. A predicate on a bad word would raise an interrupt for what nobody counted.
  private val wordIndex = Cat(io.matched.line, io.matched.word)
  private val index = CounterWidth.select(width, p) { w =>
    (if (w < p.subBits) Cat(wordIndex, io.matched.sub(p.subBits - 1 - w, 0)) else wordIndex).pad(p.indexBits)
  }
  io.updated.valid := RegNext(ShiftRegister(event, window, false.B, true.B) && !result.bad, false.B)
  io.updated.bits.data := RegNext(result.data)
  io.updated.bits.bytes := delayed(inside, window + 1)
  io.updated.bits.index := delayed(index, window + 1)

  private def word(data: UInt, parity: Bool): StateWord = {
    val word = Wire(new StateWord(p))
    word.data := data
    word.parity := parity
    word
  }

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

  /** Cycles from slot to `hits` of its part. */
  val partLatency: Int = 1

  /** Cycles from slot to the value `updated`. */
  val latency: Int = window + 1
}
