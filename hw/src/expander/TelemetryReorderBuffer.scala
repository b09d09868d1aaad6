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
    val room = Output(Bool())
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
    val owed = Input(Bool())
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
  private val room = RegInit(false.B)
  io.room := room
  assert(!io.beat.valid || room, "a telemetry read without room for its line")
  when(io.beat.valid) {
    tail := tail + 1.U
    atTail := afterTail
  }
  room := Mux(io.beat.valid, !(used & afterTail).orR, !(used & atTail).orR)
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
  private val looks = ShiftRegister(io.beat.valid, SameIdTracker.latency, false.B, true.B)
  private val lookedUp = OneHot.onlyIf(looks, UIntToOH(ShiftRegister(tail, SameIdTracker.latency), slots))
  ahead.next(forward, lookedUp, io.ahead)
  assert((forward & distance(0)) === 0.U, "a telemetry read was overtaken")

  // The engine's lines come in the order in which their slots were assigned.
  private val asked = Module(new ProtectedQueue(UInt(slotBits.W), slots))
  asked.io.enq.valid := beat.valid && okay
  asked.io.enq.bits := slot
  asked.io.deq.ready := io.line.valid
  assert(!io.line.valid || asked.io.deq.valid, "a line that nobody asked for")
  private val lost = RegInit(false.B)
  when(asked.io.fault.uncorrected) { lost := true.B }
  private val poison = io.line.bits.poison || lost || asked.io.fault.uncorrected
  private val lines = Module(new ProtectedRam(slots, p.memory.dataBits + 1, early = true))
  lines.io.write.valid := io.line.valid
  lines.io.write.bits.address := asked.io.deq.bits
  lines.io.write.bits.data := Cat(poison, io.line.bits.words.asUInt)
  private val refused = mask
  refused := (refused & ~enters) | OneHot.onlyIf(!okay, enters)

  // Which line moves next. Each group of slots registers one candidate: its oldest line that is next in order, or else
  // its oldest that is nearly next. The oldest group goes first. No line starves, because the ring stops at a slot that
  // stays.
  private val size = slots.min(TelemetryReorderBuffer.group)
  private val groups = slots / size
  private val places = RegInit(ReadPrefetchBuffer.places.U(log2Ceil(ReadPrefetchBuffer.places + 1).W))
  private val here = mask // `ahead` is known, the line has come and is not picked
  private val near = mask
  near := known & ahead.atMost(ReadPrefetchBuffer.ahead)
  private val next = here & distance(0)
  private val soon = here & near
  private val candidate = mask
  private val isNext = RegInit(0.U(groups.W))
  private val isSoon = RegInit(0.U(groups.W))
  private def andAbove(bits: UInt, width: Int) = bits | OneHot.above(bits, width)
  private def of(word: UInt, g: Int) = word((g + 1) * size - 1, g * size)
  private val tailGroup = VecInit.tabulate(groups)(of(atTail, _).orR).asUInt
  private val oldGroups = Reg(UInt(groups.W))
  oldGroups := andAbove(tailGroup, groups)
  private val enough = places > ReadPrefetchBuffer.reserved.U
  private val pick = places =/= 0.U && (isNext.orR || (enough && isSoon.orR))
  private val turn =
    Mux(isNext.orR, OneHot.firstFrom(isNext, oldGroups, groups), OneHot.firstFrom(isSoon, oldGroups, groups))
  private val from = OneHot.onlyIf(pick, turn)
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
  here := (here | OneHot.onlyIf(io.line.valid, UIntToOH(asked.io.deq.bits, slots)) | (lookedUp & refused)) & ~picks

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
  ready.io.hurt := lines.io.fault.uncorrected
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
  private val watch = new HeadIdMatch(ids, slots, memory, enters, beat.bits.id)
  private val turns = Module(new ReadResponseArbiter(p.memoryRun))
  private val taken = turns.io.taken
  private val memoryAnswers = Wire(Bool())
  private val had = distance.map(far => RegNext(watch.next(far)))
  private val justNow = RegNext((memoryAnswers && memory.behind(memory.head)) || (taken && ready.io.offerIsNext))
  private val before = RegNext(answered.valid && memory.next(answered.bits))
  private val looked = RegNext(looks && memory.next(ShiftRegister(io.beat.bits.id, SameIdTracker.latency)))
  private val (lookedTurn, lookedSecond) = (RegNext(io.ahead === 0.U), RegNext(io.ahead === 1.U))
  private def memoryGoes(valid: Bool): Bool = {
    val unit = Module(new MemoryReadGrant)
    unit.io.valid := valid
    unit.io.owed := io.owed
    unit.io.lineFirst := turns.io.lineFirst
    unit.io.justNow := justNow
    unit.io.before := before
    unit.io.hadTurn := ready.io.hadTurn
    unit.io.wasSecond := ready.io.wasSecond
    unit.io.looked := looked
    unit.io.lookedTurn := lookedTurn
    unit.io.lookedSecond := lookedSecond
    unit.io.had := VecInit(had)
    unit.io.goes
  }
  private val passes = memoryGoes(slice.io.out.valid)
  private val linesPass = memoryGoes(slice.io.out.valid)
  private val dataPass = memoryGoes(data.io.out.valid)
  memoryAnswers := passes && io.out.ready && slice.io.out.bits.last
  turns.io.memory := passes
  turns.io.line := ready.io.offer.valid
  turns.io.ready := io.out.ready
  io.passed := io.out.ready && passes
  io.stray := slice.io.out.valid && !io.owed
  slice.io.out.ready := io.passed || !io.owed
  data.io.out.ready := (io.out.ready && dataPass) || !io.owed
  io.out.valid := passes || ready.io.offer.valid
  private val answer = slice.io.out.bits
  io.out.bits.id := Mux(passes, answer.id, ready.io.offer.bits.id)
  io.out.bits.last := Mux(passes, answer.last, ready.io.offer.bits.last)
  io.out.bits.resp := Mux(passes, answer.resp, ready.io.offer.bits.resp)
  io.out.bits.user := Mux(dataPass, data.io.out.bits(p.memory.dataBits), ready.io.offer.bits.user)
  io.out.bits.data := Mux(dataPass, data.io.out.bits, ready.io.offer.bits.data)
  answered.valid := memoryAnswers || taken
  answered.bits := io.out.bits.id
  places := places + RegNext(taken, false.B) - pick
  ready.io.memory := memory
  ready.io.memoryAnswers := linesPass && io.out.ready && slice.io.out.bits.last
  ready.io.taken := !linesPass && io.out.ready && ready.io.offer.valid
  ready.io.answered := VecInit(answered, RegNext(answered, 0.U.asTypeOf(answered)))

  // Faults by memory, with the id of the line.
  private val fetched = ShiftRegister(ready.io.in.bits.beat.id, 2)
  private val left = ShiftRegister(ready.io.offer.bits.id, VotedRam.latency)
  io.faults := 0.U.asTypeOf(io.faults)
  private def report(memory: Int, corrected: Bool, uncorrected: Bool): FaultReport = {
    io.faults(memory).fault.corrected := corrected
    io.faults(memory).fault.uncorrected := uncorrected
    io.faults(memory)
  }
  private def whose(report: FaultReport, id: UInt): Unit = {
    report.id.valid := true.B
    report.id.bits := id
  }
  whose(report(0, lines.io.fault.corrected, lines.io.fault.uncorrected), fetched)
  report(1, asked.io.fault.corrected, asked.io.fault.uncorrected)
  whose(report(2, ready.io.corrected, false.B), left)
  for ((inject, arm) <- Seq(lines.io.inject, asked.io.inject, ready.io.inject).zip(io.inject)) inject := arm
}

object TelemetryReorderBuffer {

  /** Memories that report faults. */
  val memories: Seq[Int] = FaultMemory(Seq("telemetry_lines", "line_order", "ready_lines"))

  /** Slots per group, of which one is selected in a cycle. */
  private val group = 8
}
