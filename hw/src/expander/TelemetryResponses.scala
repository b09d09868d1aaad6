// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4ReadData, BitPlanes, OneHot, Ram1R1W}
import anemone.nemo.Line
import chisel3._
import chisel3.util._

/** Telemetry lines between the engine and the read data of their channel.
  *
  * The engine answers at once; AXI wants the answers of one id in order, memory's among them. So a line waits here until
  * nothing of its id is ahead, and what memory answers to that id waits until the line is gone. Lines of different ids
  * pass each other: whatever order memory answers in, nothing waits for what is behind it.
  *
  * Latency: five cycles from `line` to `out` where nothing is ahead, eight from the `beat` of a refused one; a line a
  * cycle, and no cycle lost where memory and lines answer the same id by turns.
  */
class TelemetryResponses(p: ExpanderParams) extends Module {
  private val slots = p.telemetryReads
  private val slotBits = log2Ceil(slots)
  private val aheadBits = log2Ceil(p.readsInFlight) + 1
  val io = IO(new Bundle {
    val room = Output(Bool())
    val beat = Flipped(Valid(new TelemetryBeat(p)))

    /** Reads of the beat's id that are ahead of it, [[IdOrder.latency]] cycles behind `beat`; without those that
      * `answer` has in this cycle.
      */
    val ahead = Input(UInt(aheadBits.W))

    /** The engine's lines, in the order of the beats that are `Okay`. */
    val line = Flipped(Valid(new Line(p.nemo)))

    /** A read of this id is answered in this cycle, by memory or from here. */
    val answer = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** The same a cycle later, when who is answered is known early in the cycle. */
    val answered = Valid(UInt(p.memory.idBits.W))

    /** Memory's next answer has this id: it must wait. */
    val memoryId = Input(UInt(p.memory.idBits.W))
    val memoryWaits = Output(Bool())
    val out = Decoupled(new Axi4ReadData(p.memory))
  })

  private def mask: UInt = RegInit(0.U(slots.W))
  private val (used, known, filled, picked) = (mask, mask, mask, mask)
  private val ids = new BitPlanes(slots, p.memory.idBits)

  /** Reads of a slot's id ahead of it, once that is `known`, up to the answers of the cycle before the last. */
  private val ahead = new BitPlanes(slots, aheadBits)
  private val beats = Mem(slots, new TelemetryBeat(p))

  // A beat takes the next slot of the ring.
  private val tail = RegInit(0.U(slotBits.W))
  private val atTail = UIntToOH(tail, slots)
  private val fromTail = RegInit(UInt(slots.W), Fill(slots, 1.U))
  private val enters = OneHot.onlyIf(io.beat.valid, atTail)
  private val okay = io.beat.bits.resp === Axi4.Resp.Okay.U
  io.room := !(used & atTail).orR
  assert(!io.beat.valid || io.room, "a telemetry read without room for its line")
  when(io.beat.valid) {
    tail := tail + 1.U
    fromTail := Mux(atTail(slots - 1), Fill(slots, 1.U), (fromTail << 1)(slots - 1, 0))
    beats.write(tail, io.beat.bits)
  }
  ids.next(0.U, enters, io.beat.bits.id)

  // One answer of its id brings a read forward. Who is answered is known late in a cycle, so the ring hears of it in the
  // next: with `answered`, a read that is one behind is next.
  private val answered = RegNext(io.answer, 0.U.asTypeOf(io.answer))
  io.answered := answered
  private val waiting = used & known
  private val forward = OneHot.onlyIf(answered.valid, waiting & ids.equal(answered.bits))
  private val lookedUp =
    OneHot.onlyIf(
      ShiftRegister(io.beat.valid, IdOrder.latency, false.B, true.B),
      ShiftRegister(atTail, IdOrder.latency)
    )
  ahead.next(forward, lookedUp, io.ahead)
  known := (known & ~enters) | lookedUp
  private val unhindered = ahead.atMost(0)
  assert((forward & unhindered) === 0.U, "a telemetry read was overtaken")
  private val memoryJustAnswered = answered.valid && answered.bits === io.memoryId
  private val stops = waiting & ids.equal(io.memoryId) & Mux(memoryJustAnswered, ahead.atMost(1), unhindered)

  // The engine's lines find their slots in the order in which the slots were given.
  private val asked = Module(new Queue(UInt(slotBits.W), slots))
  asked.io.enq.valid := io.beat.valid && okay
  asked.io.enq.bits := tail
  asked.io.deq.ready := io.line.valid
  assert(!io.line.valid || asked.io.deq.valid, "a line that nobody asked for")
  private val lines = Module(new Ram1R1W(slots, p.memory.dataBits + 1))
  lines.io.write.valid := io.line.valid
  lines.io.write.bits.address := asked.io.deq.bits
  lines.io.write.bits.data := Cat(io.line.bits.poison, io.line.bits.words.asUInt)
  filled := (filled & ~OneHot.onlyIf(okay, enters)) | OneHot.onlyIf(!okay, enters) |
    OneHot.onlyIf(io.line.valid, UIntToOH(asked.io.deq.bits, slots))

  // The oldest of those that are next, or else of those that are next soon. The ring is full when the tail comes to a
  // slot that still waits.
  private val ready = Module(new ReadyLines(p))
  private val places = RegInit(ReadyLines.places.U(log2Ceil(ReadyLines.places + 1).W))
  private val may = waiting & filled & ~picked
  private val next = may & unhindered
  private val soon = may & ahead.atMost(ReadyLines.ahead)
  private val candidates = Mux(next.orR || places <= ReadyLines.reserved.U, next, soon)
  private val slot = OneHot.firstFrom(candidates, fromTail, slots)
  private val pick = candidates.orR && places =/= 0.U
  places := places + io.out.fire - pick
  picked := (picked & ~enters) | OneHot.onlyIf(pick, slot)

  // It moves in the cycle behind.
  private val moves = RegNext(pick, false.B)
  private val moving = Reg(UInt(slots.W))
  moving := slot
  private val beat = beats.read(OHToUInt(moving))
  used := (used & ~OneHot.onlyIf(moves, moving)) | enters
  lines.io.read.valid := moves && beat.resp === Axi4.Resp.Okay.U
  lines.io.read.bits := OHToUInt(moving)
  ready.io.in.valid := moves
  ready.io.in.bits.beat := beat
  ready.io.in.bits.ahead := ahead(moving) - (forward & moving).orR
  ready.io.data := lines.io.data
  ready.io.answer := io.answer
  ready.io.memoryId := io.memoryId
  io.memoryWaits := stops.orR || ready.io.memoryWaits
  io.out <> ready.io.out
}
