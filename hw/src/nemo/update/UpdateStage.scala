// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** A value on its way from the ALU to the state array. `parityError`: it comes from a word with bad parity. */
class InFlight(p: NemoParams) extends Bundle {
  val data = UInt(p.wordBits.W)
  val parityError = Bool()
}

/** What a slot does to the states: to one word of a line, or to the whole line. A word stays a number until it is
  * written, so that a slot is compared with those before it in a few bits.
  */
class Access(p: NemoParams) extends Bundle {
  val valid = Bool()
  val line = UInt(p.lineBits.W)
  val word = UInt(p.wordIndexBits.W)
  val wholeLine = Bool()

  /** The words of the line, a bit each. */
  def words: UInt = Mux(valid, Mux(wholeLine, Fill(p.lineWords, 1.U), UIntToOH(word, p.lineWords)), 0.U)

  /** Both have a word in common, being of the same line. */
  def overlaps(other: Access): Bool =
    valid && other.valid && (wholeLine || other.wholeLine || word === other.word)
}

/** A counter that an event updated, on its way to the notify stage, which hears nothing of words with bad parity. */
class Updated(p: NemoParams) extends Bundle {
  val data = UInt(p.wordBits.W)

  /** The counter's bytes of the word. */
  val byteMask = UInt(p.wordBytes.W)
  val index = UInt(p.indexBits.W)
}

/** Update stage of one rule on one channel (NEMO §3.1): reads a state, applies the op, writes it back; a slot a
  * cycle, whatever the slots touch.
  *
  * Stages, a cycle each: 0 state and operand are asked for, 1 the memory works, 2 the word is chosen, 3 the ALU, 4 the
  * write. So a slot may need what the four slots before it have not yet written. It compares with them in stage 0,
  * drops what it read of a word that is in flight, and takes that as it passes stage 4 or the register behind it. Of a line
  * only those words are dropped that were being written in the very cycle of the read; [[ReadStage]] replaces what was in
  * flight. The array is asked before any of this is known, by every lane in the slot of a read or a clear, so that no
  * comparison is in front of its address: banks of other lanes, and of lines that are cleared, read in vain.
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

    /** In the cycle of a slot that puts an operand, that stands in the place of the effect's. */
    val rule = Input(new DecodedRule(p))

    /** Load the rule, a cycle before the first slot it applies to. */
    val load = Input(Bool())

    /** The slot neither updates nor reads. */
    val disable = Input(Bool())

    /** This line is cleared, in the place of the slot; `disable` as well. */
    val clear = Flipped(Valid(UInt(p.lineBits.W)))
    val contribution = Output(new LineContribution(p))
    val updated = Valid(new Updated(p))
  })

  private def loaded[T <: Data](field: T): T = RegEnable(field, io.load)
  private def delayed[T <: Data](x: T, n: Int): T = ShiftRegister(x, n)

  // Stage 0: one access from the slot, an event's counter or a read's words.
  private val width = loaded(io.rule.counterWidth)
  private val effect =
    if (p.features.effects.size == 1) false.B else RegEnable(io.rule.effectUpdates, false.B, io.load)
  private val isTarget = io.slot.read && io.slot.target.pipeline === io.pipeline
  private val read = isTarget && !io.disable
  private val event = io.matched.matched && !io.disable
  private val access = Wire(new Access(p))
  access.valid := event || read
  access.line := Mux(io.clear.valid, io.clear.bits, Mux(io.slot.read, io.slot.target.line, io.matched.line))
  access.word := (if (p.features.wordAccess) Mux(io.slot.read, io.slot.word, io.matched.word) else io.matched.word)
  access.wholeLine := io.clear.valid || (io.slot.read && !io.slot.isSerialRmw)
  private val modified = WireDefault(access)
  modified.valid := event || (read && io.slot.target.effect && (effect || io.slot.isAcknowledge)) || io.clear.valid

  private val operands = Module(new OperandStage(p))
  private val lineOperand = if (p.features.lineOperand) loaded(io.rule.lineOperand) else false.B
  private val writeOperand = if (p.features.writeOperand) loaded(io.rule.writeOperand) else false.B
  operands.io.op := Mux(
    io.slot.isAcknowledge,
    io.slot.op,
    Mux(io.slot.read, loaded(io.rule.effectOp), loaded(io.rule.op))
  )
  operands.io.sourceSelect := VecInit(
    io.slot.read,
    !io.slot.read && !lineOperand && (!writeOperand || io.slot.request.write),
    !io.slot.read && lineOperand
  )
  operands.io.counterWidth := width
  private val byteMask = Mux(io.slot.read, Fill(p.wordBytes, 1.U), CounterWidth.bytes(io.matched.sub, width, p))
  operands.io.byteMask := byteMask

  // Stage 1 has the operands.
  private val loadNext = RegNext(io.load, false.B)
  private val loadsOperand = isTarget && io.slot.isAcknowledge && io.slot.isSerialRmw
  private val effectOperand = RegEnable(io.rule.effectOperand, loadNext || loadsOperand)
  private val ruleOperand = RegEnable(io.rule.operand, loadNext)
  private val requestLine = RegNext(io.slot.request.address >> 6)
  operands.io.operands := VecInit(effectOperand, ruleOperand, CounterWidth.repeat(requestLine, RegNext(width), p))

  // The array is asked before it is known whether anything is in flight.
  private val states = Module(new StateArray(p))
  private val readRequest = WireDefault(access)
  readRequest.valid := io.matched.matched || io.slot.read || io.clear.valid
  states.io.read.line := access.line
  states.io.read.words := readRequest.words

  // Hazards: which slots before have something accessed in flight. The words that were asked for are those to be written.
  private val inFlight = Seq.iterate(modified, hazardDepth + 1)(nextAccess).tail
  private[nemo] val written = Wire(new LineSelect(p))
  written.line := inFlight.last.line
  written.words := RegNext(Mux(inFlight(hazardDepth - 2).valid, delayed(readRequest.words, hazardDepth - 1), 0.U), 0.U)
  private val sameLine = inFlight.map(m => access.line === m.line)
  private val conflicts = inFlight.zip(sameLine).map { case (m, same) => same && access.overlaps(m) }

  // Stage 1: of one word it is the youngest that counts; of a line's words each may have another.
  private val hits = conflicts.map(RegNext(_, false.B))
  private val oneWord = RegNext(!access.wholeLine)
  private val forwardSelect = hits.zip(hits.scanLeft(false.B)(_ || _)).map { case (hit, younger) =>
    hit && !(oneWord && younger)
  }

  // What of the read counts: a word unless a slot before has it, of a line what was not being written.
  private val readKill = !RegNext(access.valid) || (oneWord && hits.reduce(_ || _))
  states.io.kill := Fill(p.lineWords, readKill) | Mux(!oneWord && hits.last, RegNext(written.words), 0.U)

  // Stage 2: the word, from its bank or from the slots four and three before. Values are zero where they are not taken, so
  // they are joined by OR. The ALU joins that of two before with the state.
  private[nemo] val result = Wire(new InFlight(p))
  private val resultParity = StateWord.parity(result, p)
  private val previousResult = RegNext(result)
  private val previousParity = RegNext(resultParity)
  private def registerIf[T <: Data](take: Bool, value: T): T = RegNext(Mux(take, value, 0.U.asTypeOf(value)))
  private val forward4 = registerIf(forwardSelect(3), word(previousResult.data, previousParity))
  private val forward3 = registerIf(forwardSelect(2), result)
  private val forward3Parity = registerIf(forwardSelect(2), resultParity)
  private val forward2Select = RegNext(forwardSelect(1), false.B)
  private val forward2 = registerIf(forward2Select, result)
  private val readState = (Seq(word(forward3.data, forward3Parity), forward4) ++ states.io.words)
    .map(_.asUInt)
    .reduce(_ | _)
    .asTypeOf(new StateWord(p))
  private val alignedState = RegNext(readState)

  // Stages 3 and 4: the loop.
  private val forward1Select = RegNext(forwardSelect(0), false.B)
  private val forward1Stage3 = RegNext(forward1Select, false.B)
  private val alu = Module(new UpdateAlu(p))
  alu.io.operand := operands.io.result
  alu.io.state := readState.data
  alu.io.forward1 := forward1Select
  alu.io.forward2 := forward2Select
  private val cleared = ShiftRegister(io.clear.valid, 3, false.B, true.B)
  alu.io.zero := cleared
  private val clearParity = delayed(io.slot.read && !io.slot.isAcknowledge && loaded(io.rule.clearsParity), 3)
  private val stateParityError = forward2.parityError || alignedState.parityError
  result.data := alu.io.result
  result.parityError := RegNext(!clearParity && Mux(forward1Stage3, result.parityError, stateParityError))

  states.io.write := written
  states.io.value := word(result.data, resultParity)

  for (((hit, conflict), (m, valid)) <- io.contribution.hits.zip(conflicts).zip(inFlight.zip(hits))) {
    hit.valid := valid
    hit.word := RegNext(Mux(conflict, m.word, 0.U))
    hit.wholeLine := RegNext(conflict && m.wholeLine)
  }
  io.contribution.forward4 := registerIf(read, states.io.value)
  io.contribution.stored := states.io.words
  io.contribution.forward3 := forward3
  io.contribution.forward2 := forward2
  io.contribution.forward1 := registerIf(forward1Stage3, result)

  // To the notify stage: what an event wrote. A predicate on a bad word would raise an interrupt for what nobody counted.
  private val wordIndex = Cat(io.matched.line, io.matched.word)
  private val index = CounterWidth.select(width, p) { w =>
    (if (w < p.subBits) Cat(wordIndex, io.matched.sub(p.subBits - 1 - w, 0)) else wordIndex).pad(p.indexBits)
  }
  io.updated.valid := RegNext(ShiftRegister(event, hazardDepth, false.B, true.B) && !result.parityError, false.B)
  io.updated.bits.data := RegNext(result.data)
  io.updated.bits.byteMask := delayed(byteMask, hazardDepth + 1)
  io.updated.bits.index := delayed(index, hazardDepth + 1)

  private def word(data: UInt, parity: UInt): StateWord = {
    val word = Wire(new StateWord(p))
    word.data := data
    word.parity := parity
    word
  }

  /** The access a slot later. */
  private def nextAccess(access: Access): Access = {
    val next = Reg(new Access(p))
    next := access
    when(reset.asBool) { next.valid := false.B }
    next
  }
}

object UpdateStage {

  /** Slots before a slot whose writes it can't find in the state array yet. */
  val hazardDepth: Int = 4

  /** Cycles from slot to `hits` of its part. */
  val contributionLatency: Int = 1

  /** Cycles from slot to the value `updated`. */
  val latency: Int = hazardDepth + 1
}
