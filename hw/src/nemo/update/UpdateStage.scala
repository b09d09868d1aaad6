// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** A value on its way from the ALU to the state array. `parityError`: the word it was computed from had bad parity. */
class InFlight(p: NemoParams) extends Bundle {
  val data = UInt(p.wordBits.W)
  val parityError = Bool()
}

/** A slot's access to the states: one word of a line, or the whole line. The word stays a binary number until it is
  * written, because the hazard comparators are narrower that way.
  */
class Access(p: NemoParams) extends Bundle {
  val valid = Bool()
  val line = UInt(p.lineBits.W)
  val word = UInt(p.wordIndexBits.W)
  val wholeLine = Bool()

  /** The words of the line, one-hot or all. */
  def words: UInt = Mux(valid, Mux(wholeLine, Fill(p.lineWords, 1.U), UIntToOH(word, p.lineWords)), 0.U)

  /** Both access a common word, if their lines are equal. */
  def overlaps(other: Access): Bool =
    valid && other.valid && (wholeLine || other.wholeLine || word === other.word)
}

/** A counter that an event updated, for the notify stage. Words with bad parity are never reported. */
class Updated(p: NemoParams) extends Bundle {
  val data = UInt(p.wordBits.W)

  /** The bytes of the word that the counter occupies. */
  val byteMask = UInt(p.wordBytes.W)
  val index = UInt(p.indexBits.W)
}

/** Update stage of one rule on one channel (NEMO §3.1): reads a state, applies the op and writes the result back. It
  * accepts a slot in every cycle, even if consecutive slots access the same word.
  *
  * Five stages of one cycle (picture: docs/nemo-pipeline.md):
  *   - 0: the state array is read, and the slot is compared with the four slots before it
  *   - 1: the memory answers; `forwardSelect` and `readKill` are known
  *   - 2: the state is selected, from the array or a forwarding path
  *   - 3: the ALU
  *   - 4: the write
  *
  * The four slots before may not have written yet. `forward1` to `forward4` are their results; the number is the
  * distance in slots. A word in flight replaces the word that was read, which `readKill` makes zero. For a whole line
  * only words that are written in the cycle of the read are killed; [[ReadStage]] replaces those in flight.
  *
  * The array is read before the comparison is known, and in every lane, because the comparison would lengthen the
  * address path. Reads that were not needed are killed.
  *
  * A word with bad parity keeps bad parity through updates; a reset clears it.
  */
class UpdateStage(p: NemoParams) extends Module {
  import UpdateStage._

  val io = IO(new Bundle {

    /** The number of this pipeline. */
    val pipeline = Input(UInt(p.pipelineBits.W))

    /** Arrives with `matched`. */
    val slot = Input(new Slot(p))
    val matched = Input(new MatchResult(p))

    /** `effectOperand` is the operand of an acknowledge in the cycle of its slot. */
    val rule = Input(new DecodedRule(p))

    /** Loads the rule, one cycle before the first slot that it applies to. */
    val load = Input(Bool())

    /** The slot neither reads nor updates. */
    val disable = Input(Bool())

    /** Clears this line instead of the slot's access; `disable` is set as well. */
    val clear = Flipped(Valid(UInt(p.lineBits.W)))
    val contribution = Output(new LineContribution(p))
    val updated = Valid(new Updated(p))
  })

  private def loaded[T <: Data](field: T): T = RegEnable(field, io.load)
  private def delayed[T <: Data](x: T, n: Int): T = ShiftRegister(x, n)

  // Stage 0: the slot's access, an event's counter or a read's words.
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

  // Stage 1: the operands.
  private val loadNext = RegNext(io.load, false.B)
  private val loadsOperand = isTarget && io.slot.isAcknowledge && io.slot.isSerialRmw
  private val effectOperand = RegEnable(io.rule.effectOperand, loadNext || loadsOperand)
  private val ruleOperand = RegEnable(io.rule.operand, loadNext)
  private val requestLine = RegNext(io.slot.request.address >> 6)
  operands.io.operands := VecInit(effectOperand, ruleOperand, CounterWidth.repeat(requestLine, RegNext(width), p))

  // The read does not wait for the hazard comparison.
  private val states = Module(new StateArray(p))
  private val readRequest = WireDefault(access)
  readRequest.valid := io.matched.matched || io.slot.read || io.clear.valid
  states.io.read.line := access.line
  states.io.read.words := readRequest.words

  // Hazards: the slots before with an overlapping access in flight. The words that were read are those to be written.
  private val inFlight = Seq.iterate(modified, hazardDepth + 1)(nextAccess).tail
  private[nemo] val written = Wire(new LineSelect(p))
  written.line := inFlight.last.line
  written.words := RegNext(Mux(inFlight(hazardDepth - 2).valid, delayed(readRequest.words, hazardDepth - 1), 0.U), 0.U)
  private val sameLine = inFlight.map(m => access.line === m.line)
  private val conflicts = inFlight.zip(sameLine).map { case (m, same) => same && access.overlaps(m) }

  // Stage 1: a single word takes the youngest hit. The words of a line may each take another, so all are kept.
  private val hits = conflicts.map(RegNext(_, false.B))
  private val oneWord = RegNext(!access.wholeLine)
  private val forwardSelect = hits.zip(hits.scanLeft(false.B)(_ || _)).map { case (hit, younger) =>
    hit && !(oneWord && younger)
  }

  // A single word is killed if it is in flight, and a line's words if they were being written: read-during-write is
  // macro-dependent.
  private val readKill = !RegNext(access.valid) || (oneWord && hits.reduce(_ || _))
  states.io.kill := Fill(p.lineWords, readKill) | Mux(!oneWord && hits.last, RegNext(written.words), 0.U)

  // Stage 2: the state, from its bank, forward4 or forward3. Values that are not selected are zero, so OR joins them.
  // The ALU joins forward2.
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

  // Stages 3 and 4: the one-cycle loop.
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

  // The notify stage does not see words with bad parity: their counts are wrong, so an interrupt would be as well.
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

  /** The access, one slot later. */
  private def nextAccess(access: Access): Access = {
    val next = Reg(new Access(p))
    next := access
    when(reset.asBool) { next.valid := false.B }
    next
  }
}

object UpdateStage {

  /** So many slots before a slot have not written their results when it reads. */
  val hazardDepth: Int = 4

  /** Cycles from slot to `hits` of its contribution. */
  val contributionLatency: Int = 1

  /** Cycles from slot to `updated`. */
  val latency: Int = hazardDepth + 1
}
