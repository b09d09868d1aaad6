// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{
  Axi4,
  Axi4ReadData,
  BitSlicedCam,
  FaultReport,
  OneHot,
  ProtectedQueue,
  ProtectedRam,
  RegisterSlice,
  VotedRam
}
import anemone.nemo.Line
import chisel3._
import chisel3.util._

/** Telemetry lines between the engine and the read data of their channel, where they are merged with memory's.
  *
  * The engine answers at once, but AXI requires responses of one id in order, memory's included. So a line waits here
  * until no read of its id is ahead, and memory's response to that id waits until the line has gone. Lines of different
  * ids pass each other, so in whatever order memory responds, nothing waits for a later request.
  *
  * Memory has priority, but after [[ExpanderParams.memoryRun]] of its beats a ready line goes.
  *
  * Lines are stored with a code; an uncorrectable line is poisoned. A queue holds which slot the engine's next line is
  * for; an uncorrectable error in it poisons all lines until a reset.
  *
  * Latency: one cycle for memory; six from `line` to `out` if nothing is ahead; nine from the `beat` of a refused line.
  * Throughput: one response per cycle, even when memory and lines answer the same id alternately.
  */
class TelemetryReorderBuffer(p: ExpanderParams) extends Module {
  private val slots = p.telemetryReads
  private val slotBits = log2Ceil(slots)
  private val aheadBits = log2Ceil(p.readsInFlight) + 1
  val io = IO(new Bundle {

    /** A register. */
    val available = Output(Bool())
    val beat = Flipped(Valid(new TelemetryBeat(p)))

    /** Reads of the beat's id ahead of it, [[SameIdTracker.latency]] cycles after `beat`, without those that `answered`
      * reports up to this cycle.
      */
    val ahead = Input(UInt(aheadBits.W))

    /** Lines from the engine, in the order of the `Okay` beats, at least three cycles after the beat. */
    val line = Flipped(Valid(new Line(p.nemo)))

    /** Memory's responses, and those merged with the lines; `out` needs a [[RegisterSlice]] after it. */
    val memory = Flipped(Decoupled(new Axi4ReadData(p.memory)))

    /** A read is outstanding at memory; otherwise its response matches no request and is dropped. */
    val expected = Input(Bool())
    val stray = Output(Bool())

    /** `out` has memory's response and it is accepted. */
    val passed = Output(Bool())
    val out = Decoupled(new Axi4ReadData(p.memory))

    /** A read of this id was answered in the last cycle, by memory or by a line. */
    val answered = Valid(UInt(p.memory.idBits.W))

    /** Faults, with the line's id if known, and injections, per memory of [[TelemetryReorderBuffer.memories]]. */
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

  // A response moves the reads of its id forward by one. Its id is known late in the cycle, so the ring is updated in
  // the next.
  private val answered = RegInit(0.U.asTypeOf(Valid(UInt(p.memory.idBits.W))))
  io.answered := answered
  private val forward = OneHot.onlyIf(answered.valid, known & ids.equal(answered.bits))
  private val looksUp = ShiftRegister(io.beat.valid, SameIdTracker.latency, false.B, true.B)
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

  // Which line moves next. Each group of slots registers one candidate: its oldest line that is next in order, or else
  // its oldest that is nearly next. The oldest group goes first. No line starves, because the ring stops at a slot that
  // stays.
  private val size = slots.min(TelemetryReorderBuffer.group)
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
  private def andAbove(bits: UInt, width: Int) = bits | OneHot.above(bits, width)
  private def of(word: UInt, g: Int) = word((g + 1) * size - 1, g * size)
  private val tailGroup = VecInit.tabulate(groups)(of(atTail, _).orR).asUInt
  private val oldGroups = Reg(UInt(groups.W))
  oldGroups := andAbove(tailGroup, groups)
  private val enough = credits > ReadPrefetchBuffer.reserved.U
  private val pick = credits =/= 0.U && (isNext.orR || (enough && isSoon.orR))
  private val pickedGroup =
    Mux(isNext.orR, OneHot.firstFrom(isNext, oldGroups, groups), OneHot.firstFrom(isSoon, oldGroups, groups))
  private val from = OneHot.onlyIf(pick, pickedGroup)
  private val picks = VecInit.tabulate(groups)(g => Fill(size, from(g))).asUInt & candidate
  private val chosen = Seq.tabulate(groups) { g =>
    val old = Reg(UInt(size.W))
    old := Mux(tailGroup(g), andAbove(of(atTail, g), size), Fill(size, 1.U))

    /** The candidate among the slots not in `without`: whether it is next in order, whether there is a nearly next one,
      * slot.
      */
    def best(without: UInt): UInt = {
      val (first, others) = (of(next, g) & ~without, of(soon, g) & ~without)
      val slot = Mux(first.orR, OneHot.firstFrom(first, old, size), OneHot.firstFrom(others, old, size))
      Cat(first.orR, others.orR, slot)
    }
    Mux(from(g), best(of(candidate, g)), best(0.U(size.W)))
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
  lines.io.read.valid := moves && !(refused & moving).orR
  lines.io.read.bits := OHToUInt(moving)
  private val ready = Module(new ReadPrefetchBuffer(p))
  ready.io.in.valid := RegNext(moves, false.B)
  ready.io.in.bits.beat := RegNext(TelemetryBeat(p, ids(moving), answers(moving)))
  private val aheadOfIt = ready.io.in.bits.ahead
  aheadOfIt := RegNext(ahead(moving)(aheadOfIt.getWidth - 1, 0))
  ready.io.data := lines.io.data
  ready.io.uncorrectable := lines.io.fault.uncorrected
  used := (used & ~leaves) | enters
  known := (known & ~leaves) | lookedUp
  for ((far, k) <- distance.zipWithIndex) {
    val before = distance.lift(k + 1).getOrElse(ahead.equal((k + 1).U))
    far := (((far & ~forward) | (before & forward)) & ~leaves & ~lookedUp) |
      OneHot.onlyIf(io.ahead === k.U, lookedUp)
  }

  // Memory's responses, control and data apart. Whether a response has to wait for a line is computed ahead, except for
  // the effect of the responses of the last two cycles.
  private val slice = Module(new RegisterSlice(new TelemetryBeat(p)))
  slice.io.in.valid := io.memory.valid
  slice.io.in.bits.id := io.memory.bits.id
  slice.io.in.bits.last := io.memory.bits.last
  slice.io.in.bits.resp := io.memory.bits.resp
  io.memory.ready := slice.io.in.ready
  private val line = Cat(io.memory.bits.user, io.memory.bits.data)
  private val data = Module(new RegisterSlice(chiselTypeOf(line)))
  data.io.in.valid := io.memory.valid
  data.io.in.bits := line
  private val memory = MemoryHead(slice, p)
  private val headMatch = new HeadIdMatch(ids, slots, memory, enters, beat.bits.id)
  private val arbiter = Module(new ReadResponseArbiter(p.memoryRun))
  private val taken = arbiter.io.taken
  private val memoryAnswers = Wire(Bool())
  private val lineAtDistance = distance.map(far => RegNext(headMatch.next(far)))
  private val answered1 = RegNext((memoryAnswers && memory.isSecond(memory.head)) || (taken && ready.io.offerIsNext))
  private val answered2 = RegNext(answered.valid && memory.next(answered.bits))
  private val lookedUp1 = RegNext(looksUp && memory.next(ShiftRegister(io.beat.bits.id, SameIdTracker.latency)))
  private val (lookedUpNext, lookedUpSecond) = (RegNext(io.ahead === 0.U), RegNext(io.ahead === 1.U))
  private def memoryGrant(valid: Bool): Bool = {
    val unit = Module(new MemoryReadGrant)
    unit.io.valid := valid
    unit.io.expected := io.expected
    unit.io.lineFirst := arbiter.io.lineFirst
    unit.io.answered1 := answered1
    unit.io.answered2 := answered2
    unit.io.lineWasNext := ready.io.lineWasNext
    unit.io.lineWasSecond := ready.io.lineWasSecond
    unit.io.lookedUp1 := lookedUp1
    unit.io.lookedUpNext := lookedUpNext
    unit.io.lookedUpSecond := lookedUpSecond
    unit.io.lineAtDistance := VecInit(lineAtDistance)
    unit.io.grant
  }
  private val memoryPasses = memoryGrant(slice.io.out.valid)
  private val memoryPassesForLines = memoryGrant(slice.io.out.valid)
  private val memoryPassesForData = memoryGrant(data.io.out.valid)
  memoryAnswers := memoryPasses && io.out.ready && slice.io.out.bits.last
  arbiter.io.memory := memoryPasses
  arbiter.io.line := ready.io.offer.valid
  arbiter.io.ready := io.out.ready
  io.passed := io.out.ready && memoryPasses
  io.stray := slice.io.out.valid && !io.expected
  slice.io.out.ready := io.passed || !io.expected
  data.io.out.ready := (io.out.ready && memoryPassesForData) || !io.expected
  io.out.valid := memoryPasses || ready.io.offer.valid
  private val answer = slice.io.out.bits
  io.out.bits.id := Mux(memoryPasses, answer.id, ready.io.offer.bits.id)
  io.out.bits.last := Mux(memoryPasses, answer.last, ready.io.offer.bits.last)
  io.out.bits.resp := Mux(memoryPasses, answer.resp, ready.io.offer.bits.resp)
  io.out.bits.user := Mux(memoryPassesForData, data.io.out.bits(p.memory.dataBits), ready.io.offer.bits.user)
  io.out.bits.data := Mux(memoryPassesForData, data.io.out.bits, ready.io.offer.bits.data)
  answered.valid := memoryAnswers || taken
  answered.bits := io.out.bits.id
  credits := credits + RegNext(taken, false.B) - pick
  ready.io.memory := memory
  ready.io.memoryAnswers := memoryPassesForLines && io.out.ready && slice.io.out.bits.last
  ready.io.taken := !memoryPassesForLines && io.out.ready && ready.io.offer.valid
  ready.io.answered := VecInit(answered, RegNext(answered, 0.U.asTypeOf(answered)))

  // Faults by memory, with the id of the line.
  private val fetched = ShiftRegister(ready.io.in.bits.beat.id, 2)
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

object TelemetryReorderBuffer {

  /** Memories that report faults. */
  val memories: Seq[Int] = FaultMemory(Seq("telemetry_lines", "line_order", "ready_lines"))

  /** Slots per group, of which one is selected in a cycle. */
  private val group = 8
}
