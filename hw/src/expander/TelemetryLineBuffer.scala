// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4ReadData, BitSlicedCam, FaultReport, OneHot, ProtectedQueue, ProtectedRam, VotedRam}
import anemone.nemo.Line
import chisel3._
import chisel3.util._

/** The lines of a [[TelemetryReorderBuffer]]: a ring of slots, each with its line and the number of reads of its id that
  * are ahead. Lines that leave soon move on to a [[ReadPrefetchBuffer]], which offers them.
  *
  * Lines are stored with a code; an uncorrectable line is poisoned. A queue holds which slot the engine's next line is
  * for; an uncorrectable error in it poisons all lines until a reset.
  *
  * Latency: five cycles from `line` to `offer` if nothing is ahead.
  */
class TelemetryLineBuffer(p: ExpanderParams) extends Module {
  private val slots = p.telemetryReads
  private val slotBits = log2Ceil(slots)
  private val aheadBits = log2Ceil(p.readsInFlight) + 1
  val io = IO(new Bundle {

    /** The ports of [[TelemetryReorderBuffer]]. */
    val available = Output(Bool())
    val beat = Flipped(Valid(new TelemetryBeat(p)))
    val ahead = Input(UInt(aheadBits.W))
    val noneAhead = Input(Bool())
    val line = Flipped(Valid(new Line(p.nemo)))
    val memory = Input(new MemoryHead(p))

    /** A read is answered in this cycle: by memory's head; by the offered line. */
    val memoryAnswers = Input(Bool())
    val taken = Input(Bool())

    /** The id answered in the last cycle. */
    val answered = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** It is the id of the beat that `ahead` is for. A register. */
    val answersAsked = Output(Bool())

    /** A line of the id of memory's head is next in order. From registers and `noneAhead`. */
    val beforeMemory = Output(Bool())
    val offer = Valid(new Axi4ReadData(p.memory))

    /** It holds a line, or will. */
    val holds = Output(Bool())
    val faults = Output(Vec(TelemetryReorderBuffer.memories.length, new FaultReport(p.memory.idBits, p.faultLineBits)))
    val inject = Flipped(Vec(TelemetryReorderBuffer.memories.length, Valid(Bool())))
  })

  private def mask: UInt = RegInit(0.U(slots.W))
  private val (used, known) = (mask, mask)
  private val ids = new BitSlicedCam(slots, p.memory.idBits)

  /** Reads of a slot's id ahead of it, valid once `known`; counts responses up to two cycles ago. */
  private val ahead = new BitSlicedCam(slots, aheadBits)

  /** Slots with no read ahead, with one, with two. */
  private val distance = Seq.fill(3)(mask)
  private val answers = new BitSlicedCam(slots, TelemetryBeat.answerBits)

  // A beat takes the next slot of the ring one cycle later.
  private val tail = RegInit(0.U(slotBits.W))
  private val atTail = RegInit(1.U(slots.W))
  private val afterTail = Cat(atTail(slots - 2, 0), atTail(slots - 1))
  private val available = RegInit(false.B)
  io.available := available
  assert(!io.beat.valid || available, "a telemetry read without a free slot for its line")
  when(io.beat.valid) {
    tail := tail + 1.U
    atTail := afterTail
  }
  available := Mux(io.beat.valid, !(used & afterTail).orR, !(used & atTail).orR)
  private val beat = RegNext(io.beat, 0.U.asTypeOf(io.beat))
  private val slot = RegNext(tail)
  private val okay = beat.bits.resp === Axi4.Resp.Okay.U
  private val atSlot = mask
  atSlot := atTail
  private val enters = OneHot.onlyIf(beat.valid, atSlot)
  ids.next(0.U, enters, beat.bits.id)
  answers.next(0.U, enters, beat.bits.answer)

  // The ids of the last cycles' beats. The oldest is looked up in this cycle.
  private val asked = Seq.iterate(TelemetryLineBuffer.idOf(beat), SameIdTracker.latency)(one =>
    RegNext(one, 0.U.asTypeOf(one))
  )
  // A response moves the reads of its id forward by one. Whose response it is is known late in the cycle, so the ring is
  // updated in the next. By then it is known which slots have the id of memory's head, and that of the offered line.
  // A slot is matched from its next cycle on, long before it is looked up.
  private val headMatch = new HeadIdMatch(ids, slots, io.memory, RegNext(enters, 0.U), asked(1).bits)
  private val memoryAnswered = RegNext(io.memoryAnswers, false.B)
  private val lineLeft = RegNext(io.taken, false.B)
  private val (ofHead, ofOffer) = (RegNext(headMatch.head), RegNext(ids.equal(io.offer.bits.id)))
  private val forward = known & Mux(memoryAnswered, ofHead, OneHot.onlyIf(lineLeft, ofOffer))
  private val looksUp = asked.last.valid
  private val lookedUp = OneHot.onlyIf(looksUp, UIntToOH(ShiftRegister(tail, SameIdTracker.latency), slots))
  ahead.next(forward, lookedUp, io.ahead)
  assert((forward & distance(0)) === 0.U, "a telemetry read was overtaken")

  // The engine's lines come in the order in which their slots were assigned.
  private val slotOrder = Module(new ProtectedQueue(UInt(slotBits.W), slots))
  slotOrder.io.enq.valid := beat.valid && okay
  slotOrder.io.enq.bits := slot
  slotOrder.io.deq.ready := io.line.valid
  assert(!io.line.valid || slotOrder.io.deq.valid, "a line that no read requested")
  private val orderLost = RegInit(false.B)
  when(slotOrder.io.fault.uncorrected) { orderLost := true.B }
  private val poison = io.line.bits.poison || orderLost || slotOrder.io.fault.uncorrected
  private val lines = Module(new ProtectedRam(slots, p.memory.dataBits + 1, early = true))
  lines.io.write.valid := io.line.valid
  lines.io.write.bits.address := slotOrder.io.deq.bits
  lines.io.write.bits.data := Cat(poison, io.line.bits.words.asUInt)
  private val refused = mask
  refused := (refused & ~enters) | OneHot.onlyIf(!okay, enters)

  // Which line moves next. Each group of slots registers one candidate: its first line that is next in order, or else
  // its first that is nearly next. The oldest group goes first. No line starves, because the ring stops at a slot that
  // stays.
  private val size = slots.min(TelemetryLineBuffer.group)
  private val groups = slots / size
  private val credits = RegInit(ReadPrefetchBuffer.entries.U(log2Ceil(ReadPrefetchBuffer.entries + 1).W))
  private val waiting = mask // `ahead` is known, the line has come and is not picked
  private val nearlyNext = mask
  nearlyNext := known & ahead.atMost(ReadPrefetchBuffer.ahead)
  private val next = waiting & distance(0)
  private val soon = waiting & nearlyNext
  private val candidate = mask
  private val isNext = RegInit(0.U(groups.W))
  private val isSoon = RegInit(0.U(groups.W))
  private def of(word: UInt, g: Int) = word((g + 1) * size - 1, g * size)
  private val tailGroup = VecInit.tabulate(groups)(of(atTail, _).orR).asUInt
  // By group, those that are older: the ring's oldest slots are in the tail's group and those above it.
  private val older = Seq.tabulate(groups)(g =>
    RegNext(VecInit.tabulate(groups) { h =>
      if (h > g) tailGroup(h, g + 1).orR else if (h < g) !tailGroup(g, h + 1).orR else false.B
    }.asUInt)
  )
  private def oldest(of: UInt, g: Int): Bool = of(g) && !(of & older(g)).orR
  private val enough = credits > ReadPrefetchBuffer.reserved.U
  private val pick = credits =/= 0.U && (isNext.orR || (enough && isSoon.orR))
  private val from = VecInit.tabulate(groups) { g =>
    credits =/= 0.U && (oldest(isNext, g) || (enough && !isNext.orR && oldest(isSoon, g)))
  }.asUInt
  private val picks = VecInit.tabulate(groups)(g => Fill(size, from(g))).asUInt & candidate
  // A candidate stays until it is picked, or another is next in order and it is not. By group: whether the candidate is
  // next in order, whether there is one, its slot. Whether it was picked is known late.
  private val chosen = Seq.tabulate(groups) { g =>
    val held = of(candidate, g)
    val (first, others) = (of(next, g) & ~held, of(soon, g) & ~held)
    val heldIsNext = (of(next, g) & held).orR
    val another = Mux(first.orR, OneHot.first(first, size), OneHot.first(others, size))
    val picked = Cat(first.orR, others.orR, another)
    val notPicked = Cat(heldIsNext || first.orR, true.B, Mux(heldIsNext || !first.orR, held, another))
    Mux(held.orR && !from(g), notPicked, picked)
  }
  candidate := VecInit(chosen.map(_(size - 1, 0))).asUInt
  isSoon := VecInit(chosen.map(_(size))).asUInt
  isNext := VecInit(chosen.map(_(size + 1))).asUInt
  waiting := (waiting | OneHot.onlyIf(
    io.line.valid,
    UIntToOH(slotOrder.io.deq.bits, slots)
  ) | (lookedUp & refused)) & ~picks

  // The picked line is read one cycle later and moves two cycles later.
  private val (moving, leaves) = (mask, mask)
  moving := picks
  leaves := moving
  private val moves = RegNext(pick, false.B)
  // A group's candidate is known before it is picked.
  private val candidates = Seq.tabulate(groups) { g =>
    val slot = Cat(of(candidate, g), 0.U((g * size).W)).pad(slots)
    TelemetryBeat(p, ids(slot), answers(slot))
  }
  lines.io.read.valid := moves && !(refused & moving).orR
  lines.io.read.bits := OHToUInt(moving)
  private val ready = Module(new ReadPrefetchBuffer(p))
  ready.io.in.valid := moves
  ready.io.in.bits.beat := RegNext(Mux1H(from, candidates))
  ready.io.in.bits.ahead := ahead(moving)(ready.io.in.bits.ahead.getWidth - 1, 0)
  ready.io.data := lines.io.data
  ready.io.uncorrectable := lines.io.fault.uncorrected
  used := (used & ~leaves) | enters
  known := (known & ~leaves) | lookedUp
  for ((far, k) <- distance.zipWithIndex) {
    val found = if (k == 0) io.noneAhead else io.ahead === k.U
    val before = distance.lift(k + 1).getOrElse(ahead.equal((k + 1).U))
    far := (((far & ~forward) | (before & forward)) & ~leaves & ~lookedUp) |
      OneHot.onlyIf(found, lookedUp)
  }

  credits := credits + RegNext(io.taken, false.B) - pick
  io.holds := used.orR || credits =/= ReadPrefetchBuffer.entries.U
  ready.io.memory := io.memory
  ready.io.memoryAnswers := io.memoryAnswers
  ready.io.taken := io.taken
  ready.io.answered := io.answered
  io.offer := ready.io.offer

  // Whether a response has to wait for a line is computed ahead, except for the effect of the responses of the last two
  // cycles: for lines that were prefetched as of the last cycle, for a slot that was looked up in the last cycle, and for
  // all other slots as of two cycles ago. A slot that is looked up in this cycle counts at once.
  private def isNextHead(one: Valid[UInt]): Bool = one.valid && io.memory.next(one.bits)
  private val looksUpIt = RegNext(isNextHead(asked.init.last), false.B)
  // Whether an answer is of the next look-up's id.
  private val headIsAsked = RegNext(isNextHead(asked.init.init.last), false.B)
  private val offerIsAsked = io.offer.bits.id === asked.init.last.bits
  io.answersAsked := RegNext((io.memoryAnswers && headIsAsked) || (io.taken && offerIsAsked), false.B)
  assert(
    !looksUp || io.answersAsked === (io.answered.valid && io.answered.bits === asked.last.bits),
    "an answer counts for another id's look-up"
  )
  private val lookedUp1 = RegNext(isNextHead(asked.last), false.B)
  private val (lookedUpNext, lookedUpSecond) = (RegNext(io.noneAhead), RegNext(io.ahead === 1.U))
  private val memoryAnsweredIt = io.memoryAnswers && io.memory.isSecond(io.memory.head)
  private val answered1 = RegNext(memoryAnsweredIt || (io.taken && ready.io.offerIsNext))
  private val answered2 = RegNext(isNextHead(io.answered))
  private val prefetchedLine = Mux(answered1, ready.io.lineWasSecond, ready.io.lineWasNext)
  private val lookedUpLine = lookedUp1 && Mux(answered1, lookedUpSecond, lookedUpNext)
  // There are many slots, so each quarter of them has a bit.
  private val quarters = Seq.tabulate(4)(q => (((BigInt(1) << slots / 4) - 1) << q * (slots / 4)).U(slots.W))
  private val lineAtDistance =
    distance.map(far => RegNext(VecInit(quarters.map(quarter => headMatch.next(far & quarter))).asUInt))
  private val otherLine = Mux(
    answered1 && answered2,
    lineAtDistance(2).orR,
    Mux(answered1 || answered2, lineAtDistance(1).orR, lineAtDistance(0).orR)
  )
  io.beforeMemory := (looksUpIt && io.noneAhead) || prefetchedLine || lookedUpLine || otherLine

  // Faults by memory, with the id of the line.
  private val fetched = ShiftRegister(ready.io.in.bits.beat.id, 3)
  private val departed = ShiftRegister(ready.io.offer.bits.id, VotedRam.latency)
  io.faults := 0.U.asTypeOf(io.faults)
  private def report(memory: Int, corrected: Bool, uncorrected: Bool): FaultReport = {
    io.faults(memory).fault.corrected := corrected
    io.faults(memory).fault.uncorrected := uncorrected
    io.faults(memory)
  }
  private def setId(report: FaultReport, id: UInt): Unit = {
    report.id.valid := true.B
    report.id.bits := id
  }
  setId(report(0, lines.io.fault.corrected, lines.io.fault.uncorrected), fetched)
  report(1, slotOrder.io.fault.corrected, slotOrder.io.fault.uncorrected)
  setId(report(2, ready.io.corrected, false.B), departed)
  for ((inject, arm) <- Seq(lines.io.inject, slotOrder.io.inject, ready.io.inject).zip(io.inject)) inject := arm
}

object TelemetryLineBuffer {

  private def idOf(beat: Valid[TelemetryBeat]): ValidIO[UInt] = {
    val id = Wire(Valid(chiselTypeOf(beat.bits.id)))
    id.valid := beat.valid
    id.bits := beat.bits.id
    id
  }

  /** Slots per group, of which one is selected in a cycle. */
  private val group = 8
}
