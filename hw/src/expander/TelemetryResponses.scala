// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4ReadData, Ram1R1W}
import anemone.nemo.Line
import chisel3._
import chisel3.util._

/** Telemetry lines between the engine and the read data of their channel.
  *
  * The engine answers at once; AXI wants the answers of one id in order, memory's among them. So a line waits here until
  * nothing of its id is ahead, and what memory answers to that id waits until the line is gone. Lines of different ids
  * pass each other: whatever order memory answers in, nothing waits for what is behind it.
  *
  * Latency: five cycles from `line` to `out` where nothing is ahead; a line a cycle, and no cycle lost where memory and
  * lines answer the same id by turns.
  */
class TelemetryResponses(p: ExpanderParams) extends Module {
  private val slots = p.telemetryReads
  private val slotBits = log2Ceil(slots)
  private val aheadBits = log2Ceil(p.readsInFlight) + 1
  val io = IO(new Bundle {
    val room = Output(Bool())
    val beat = Flipped(Valid(new TelemetryBeat(p)))

    /** Reads of the beat's id that are ahead of it, [[ReadOrder.latency]] cycles behind `beat`; without those that
      * `answer` has in this cycle.
      */
    val ahead = Input(UInt(aheadBits.W))

    /** The engine's lines, in the order of the beats that are `Okay`. */
    val line = Flipped(Valid(new Line(p.nemo)))

    /** A read of this id is answered in this cycle, by memory or from here. */
    val answer = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** Memory's next answer has this id: it must wait. */
    val memoryId = Input(UInt(p.memory.idBits.W))
    val memoryWaits = Output(Bool())
    val out = Decoupled(new Axi4ReadData(p.memory))
  })

  private class Entry extends Bundle {
    val beat = new TelemetryBeat(p)

    /** Reads of its id ahead of it, once that is `known`, up to the answers of the cycle before the last. */
    val ahead = UInt(aheadBits.W)
  }
  private def flags = RegInit(VecInit(Seq.fill(slots)(false.B)))
  private val (used, known, filled, picked) = (flags, flags, flags, flags)
  private val entries = Reg(Vec(slots, new Entry))

  // A beat takes the next slot of the ring.
  private val tail = RegInit(0.U(slotBits.W))
  io.room := !used(tail)
  when(io.beat.valid) {
    assert(io.room, "a telemetry read without room for its line")
    tail := tail + 1.U
    used(tail) := true.B
    known(tail) := false.B
    filled(tail) := io.beat.bits.resp =/= Axi4.Resp.Okay.U
    picked(tail) := false.B
    entries(tail).beat := io.beat.bits
  }

  // One answer of its id brings a read forward. Who is answered is known late in a cycle, so the ring hears of it in the
  // next: with `answered`, a read that is one behind is next.
  private val answered = RegNext(io.answer, 0.U.asTypeOf(io.answer))
  private val waiting = used.zip(known).map { case (used, known) => used && known }
  for (i <- 0 until slots) {
    when(waiting(i) && answered.valid && answered.bits === entries(i).beat.id) {
      entries(i).ahead := entries(i).ahead - 1.U
      assert(entries(i).ahead =/= 0.U, "a telemetry read was overtaken")
    }
  }
  private val lookedUp = ShiftRegister(tail, ReadOrder.latency)
  when(ShiftRegister(io.beat.valid, ReadOrder.latency, false.B, true.B)) {
    known(lookedUp) := true.B
    entries(lookedUp).ahead := io.ahead
  }
  private val memoryJustAnswered = answered.valid && answered.bits === io.memoryId
  private val stops = waiting.zip(entries).map { case (waiting, entry) =>
    val next = entry.ahead === 0.U || (entry.ahead === 1.U && memoryJustAnswered)
    waiting && entry.beat.id === io.memoryId && next
  }

  // The engine's lines find their slots in the order in which the slots were given.
  private val asked = Module(new Queue(UInt(slotBits.W), slots))
  asked.io.enq.valid := io.beat.valid && io.beat.bits.resp === Axi4.Resp.Okay.U
  asked.io.enq.bits := tail
  asked.io.deq.ready := io.line.valid
  assert(!io.line.valid || asked.io.deq.valid, "a line that nobody asked for")
  private val lines = Module(new Ram1R1W(slots, p.memory.dataBits + 1))
  lines.io.write.valid := io.line.valid
  lines.io.write.bits.address := asked.io.deq.bits
  lines.io.write.bits.data := Cat(io.line.bits.poison, io.line.bits.words.asUInt)
  when(io.line.valid) { filled(asked.io.deq.bits) := true.B }

  // The oldest of those that are next, or else of those that are next soon. The ring is full when the tail comes to a
  // slot that still waits.
  private val ready = Module(new ReadyLines(p))
  private val places = RegInit(ReadyLines.places.U(log2Ceil(ReadyLines.places + 1).W))
  private def among(ahead: Int): UInt = VecInit(waiting.zipWithIndex.map { case (waiting, i) =>
    waiting && filled(i) && !picked(i) && entries(i).ahead <= ahead.U
  }).asUInt
  private val (next, soon) = (among(0), among(ReadyLines.ahead))
  private val candidates = Mux(next.orR || places <= ReadyLines.reserved.U, next, soon)
  private val older = candidates & ~((1.U << tail) - 1.U)(slots - 1, 0)
  private val slot = PriorityEncoder(Mux(older.orR, older, candidates))
  private val pick = candidates.orR && places =/= 0.U
  places := places + io.out.fire - pick
  when(pick) { picked(slot) := true.B }

  // It moves in the cycle behind.
  private val moves = RegNext(pick, false.B)
  private val moving = RegNext(slot)
  private val moved = entries(moving)
  private val sameAnswered = answered.valid && answered.bits === moved.beat.id
  when(moves) { used(moving) := false.B }
  lines.io.read.valid := moves && moved.beat.resp === Axi4.Resp.Okay.U
  lines.io.read.bits := moving
  ready.io.in.valid := moves
  ready.io.in.bits.beat := moved.beat
  ready.io.in.bits.ahead := moved.ahead - sameAnswered
  ready.io.data := lines.io.data
  ready.io.answer := io.answer
  ready.io.memoryId := io.memoryId
  io.memoryWaits := stops.reduce(_ || _) || ready.io.memoryWaits
  io.out <> ready.io.out
}
