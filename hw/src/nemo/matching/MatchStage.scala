// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The match stage's result for one slot; at most one of the first three flags is set. */
class MatchResult(p: NemoParams) extends Bundle {
  val matched = Bool()
  val unmapped = Bool()
  val outOfRange = Bool()

  /** It is unmapped because its table entry has bad parity. */
  val parityError = Bool()
  val key = UInt(p.keyBits.W)

  /** The counter's index: line, word of the line, counter of the word. */
  val line = UInt(p.lineBits.W)
  val word = UInt(p.wordIndexBits.W)
  val sub = UInt(p.subBits.W)
}

/** Match stage of one rule on one channel (NEMO §3.1): filter, key, translation table, offset and its hash, range check.
  *
  * A table write applies to events accepted in its own cycle and later. So it reaches the table together with the event
  * of its cycle, and is forwarded to it.
  *
  * An event whose entry has bad parity counts as unmapped, because a wrong counter would be worse than none.
  *
  * Latency: [[MatchStage.latency]] cycles from `slot` to `result`; one event a cycle.
  */
class MatchStage(val p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val slot = Input(new Slot(p))
    val rule = Input(new DecodedRule(p))

    /** Loads the rule, one cycle before the first slot that it applies to. */
    val load = Input(Bool())

    /** No event matches. */
    val disable = Input(Bool())
    val table = Flipped(Valid(new TableWrite(p)))

    /** Injected bit flips of the entry's lowest bits. */
    val flips = Input(UInt(2.W))
    val result = Output(new MatchResult(p))
  })

  private def loaded[T <: Data](field: T, stage: Int): T =
    RegEnable(field, ShiftRegister(io.load, stage, false.B, true.B))

  // Filter, and the two address fields. Bits above a field are checked as well, so that no field wraps silently.
  private val request = io.slot.request
  private val enable = RegEnable(io.rule.enable, false.B, io.load)
  private val typeMatches = Mux(request.write, loaded(io.rule.writes, 0), loaded(io.rule.reads, 0))
  private val inRange = request.address >= loaded(io.rule.start, 0) && request.address < loaded(io.rule.end, 0)
  private val outcomeMatches = request.near
    .zip(io.rule.near)
    .map { case (near, requested) =>
      val outcome = loaded(requested, 0)
      outcome === NearOutcome.Any.U || (outcome & near).orR
    }
    .getOrElse(true.B)
  private val lookup =
    RegNext(io.slot.event && enable && typeMatches && outcomeMatches && inRange && !io.disable, false.B)
  private val (key, offset) = (loaded(io.rule.key, 0), loaded(io.rule.offset, 0))
  private val tableKey = RegNext(key.value(request.address))

  // Translation table: two cycles.
  private val entries = Module(new TranslationTable(p))
  private val write = ShiftRegister(io.table, 1, 0.U.asTypeOf(io.table), true.B)
  private val sameKey = write.valid && write.bits.key === tableKey
  entries.io.read.valid := lookup && !sameKey
  entries.io.read.bits := tableKey
  entries.io.write.valid := write.valid
  entries.io.write.bits.address := write.bits.key
  // A base past the last counter is stored as an unmapped entry whose lowest bit is set, which saves a bit of memory.
  private val baseOverflows = write.bits.base(p.indexBits)
  private val hasCounter = write.bits.mapped && !baseOverflows
  private val storedEntry =
    Cat(hasCounter, write.bits.base(p.indexBits - 1, 1), Mux(hasCounter, write.bits.base(0), write.bits.mapped))
  entries.io.write.bits.data := storedEntry
  entries.io.flips := RegNext(io.flips)
  private val (indexStage, hashDelay) = (MatchStage.indexStage(p), MatchStage.hashDelay(p))
  private val entry = ShiftRegister(entries.io.data | ShiftRegister(Mux(sameKey, storedEntry, 0.U), 2), hashDelay)
  private val parityError = ShiftRegister(entries.io.parityError, hashDelay)
  private val lookupDone = ShiftRegister(lookup, 2 + hashDelay, false.B, true.B)
  private val keyInRange = ShiftRegister(key.fits(request.address), indexStage)
  private val offsetInRange = ShiftRegister(offset.fits(request.address), indexStage)
  private val counterOffset =
    if (p.features.hash) {
      val hashing = Module(new HashStage(p))
      hashing.io.offset := RegNext(offset.value(request.address))
      hashing.io.multiplier := loaded(io.rule.hashMultiplier.get, 1)
      hashing.io.size := loaded(io.rule.hashSize.get, 1 + HashStage.scaleStage)
      hashing.io.hash
    } else ShiftRegister(offset.value(request.address), indexStage)

  // Index: base plus offset or hash, split into word and counter of the word by the width.
  private val width = loaded(io.rule.counterWidth, indexStage)
  private val baseValid = entry(p.indexBits)
  private val mapped = (baseValid || entry(0)) && keyInRange && !parityError
  private val index = (entry(p.indexBits - 1, 0) +& counterOffset).asTypeOf(UInt((p.indexBits + 1).W))
  private val wordIndex = CounterWidth.select(width, p)(w => (index >> (p.subBits - w)).pad(p.indexBits + 1))
  private val sub =
    if (p.subBits == 0) 0.U(0.W)
    else CounterWidth.select(width, p)(w => (index & ((p.wordBytes >> w) - 1).U)(p.subBits - 1, 0))
  private val counterExists = baseValid && offsetInRange && !(wordIndex >> log2Ceil(p.states)).orR

  io.result.matched := RegNext(lookupDone && mapped && counterExists, false.B)
  io.result.unmapped := RegNext(lookupDone && !mapped, false.B)
  io.result.outOfRange := RegNext(lookupDone && mapped && !counterExists, false.B)
  io.result.parityError := RegNext(lookupDone && parityError, false.B)
  io.result.key := ShiftRegister(tableKey, indexStage)
  private val word = RegNext(wordIndex(log2Ceil(p.states) - 1, 0))
  io.result.word := word(p.wordIndexBits - 1, 0)
  io.result.line := word >> p.wordIndexBits
  io.result.sub := RegNext(sub)
}

object MatchStage {

  /** Cycles that the hash takes longer than the table. */
  private def hashDelay(p: NemoParams): Int = if (p.features.hash) HashStage.latency - 2 else 0

  /** The cycle in which base and offset are added, counted from the slot. */
  private def indexStage(p: NemoParams): Int = 3 + hashDelay(p)

  /** Cycles from slot to result: 4, with the hash stage 6. */
  def latency(p: NemoParams): Int = indexStage(p) + 1
}
