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

/** Telemetry lines between the engine and the read data of their channel, which they join to memory's.
  *
  * The engine answers at once; AXI wants the answers of one id in order, memory's among them. So a line waits here until
  * nothing of its id is ahead, and what memory answers to that id waits until the line is gone. Lines of different ids
  * pass each other: whatever order memory answers in, nothing waits for what is behind it.
  *
  * Memory goes first, but not for ever: after [[ExpanderParams.memoryRun]] of its beats while a line could go, that goes.
  *
  * Lines wait behind a code: one that could not be corrected is poisoned. Whose line the engine has next is kept in a queue;
  * when an item of that is lost all lines are poisoned until a reset.
  *
  * Latency: one cycle for memory; six from `line` to `out` where nothing is ahead, nine from the `beat` of a refused
  * one. An answer a cycle, and no cycle lost where memory and lines answer the same id by turns.
  */
class TelemetryReorderBuffer(p: ExpanderParams) extends Module {
  private val slots = p.telemetryReads
  private val slotBits = log2Ceil(slots)
  private val aheadBits = log2Ceil(p.readsInFlight) + 1
  val io = IO(new Bundle {

    /** A register. */
    val room = Output(Bool())
    val beat = Flipped(Valid(new TelemetryBeat(p)))

    /** Reads of the beat's id that are ahead of it, [[SameIdTracker.latency]] cycles behind `beat`; without those that
      * `answered` has in this cycle or had before.
      */
    val ahead = Input(UInt(aheadBits.W))

    /** The engine's lines, in the order of the beats that are `Okay`, three cycles behind them or later. */
    val line = Flipped(Valid(new Line(p.nemo)))

    /** Memory's answers, and those with the lines among them; `out` wants a [[RegisterSlice]] behind it. */
    val memory = Flipped(Decoupled(new Axi4ReadData(p.memory)))

    /** Memory owes an answer; else the one that is there is for nobody, and is dropped. */
    val owed = Input(Bool())
    val stray = Output(Bool())

    /** `out` has memory's answer, and it is taken. */
    val passed = Output(Bool())
    val out = Decoupled(new Axi4ReadData(p.memory))

    /** A read of this id was answered in the cycle before, by memory or from here. */
    val answered = Valid(UInt(p.memory.idBits.W))

    /** What was found flipped in each of [[TelemetryReorderBuffer.memories]], with the line's id where it is known; what is to
      * be.
      */
    val faults = Output(Vec(TelemetryReorderBuffer.memories.length, new FaultReport(p.memory.idBits, p.faultLineBits)))
    val inject = Flipped(Vec(TelemetryReorderBuffer.memories.length, Valid(Bool())))
  })

  private def mask: UInt = RegInit(0.U(slots.W))
  private val (used, known) = (mask, mask)
  private val ids = new BitSlicedCam(slots, p.memory.idBits)

  /** Reads of a slot's id ahead of it, once that is `known`, up to the answers of the cycle before the last. */
  private val ahead = new BitSlicedCam(slots, aheadBits)

  /** The slots with none of them, with one, with two. */
  private val distance = Seq.fill(3)(mask)
  private val answers = new BitSlicedCam(slots, TelemetryBeat.answerBits)

  // A beat takes the next slot of the ring, in the cycle behind it.
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

  // One answer of its id brings a read forward. Who is answered is known late in a cycle, so the ring hears of it in the
  // next.
  private val answered = RegInit(0.U.asTypeOf(Valid(UInt(p.memory.idBits.W))))
  io.answered := answered
  private val forward = OneHot.onlyIf(answered.valid, known & ids.equal(answered.bits))
  private val looks = ShiftRegister(io.beat.valid, SameIdTracker.latency, false.B, true.B)
  private val lookedUp = OneHot.onlyIf(looks, UIntToOH(ShiftRegister(tail, SameIdTracker.latency), slots))
  ahead.next(forward, lookedUp, io.ahead)
  assert((forward & distance(0)) === 0.U, "a telemetry read was overtaken")

  // The engine's lines find their slots in the order in which the slots were given.
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

  // Which line moves next: each group of slots has the oldest of its own in a register, of those that are next or else
  // of those that are next soon, and the oldest group goes first. None is passed for ever: the ring stops at one that
  // stays.
  private val size = slots.min(TelemetryReorderBuffer.group)
  private val groups = slots / size
  private val places = RegInit(ReadPrefetchBuffer.places.U(log2Ceil(ReadPrefetchBuffer.places + 1).W))
  private val here = mask // what is ahead is known, the line came, and was not picked
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

    /** The candidate without some slots: that, and whether it is next or there at all. */
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

  // It is read in the cycle behind, and moves in the one behind that.
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

  // Memory's answers: what decides, and the data. Whether one has to wait for a line is known but for the answers of the
  // two cycles before.
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

  // What was flipped where, and whose it was.
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

  /** The memories that report. */
  val memories: Seq[Int] = FaultMemory(Seq("telemetry_lines", "line_order", "ready_lines"))

  /** Slots of which one is chosen in a cycle. */
  private val group = 8
}
