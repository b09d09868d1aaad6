// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4ReadData, Ram1R1W}
import anemone.nemo.Line
import chisel3._
import chisel3.util._

/** Telemetry lines between the engine and the read data of their channel.
  *
  * The engine answers at once; AXI wants the answers of one id in order, memory's among them. So a line waits here until
  * nothing of its id is ahead but lines on their way out, and what memory answers to that id waits until the line is
  * gone. Lines of different ids pass each other: whatever order memory answers in, nothing waits for what is behind it.
  *
  * Latency: three cycles from `line` to `out` where nothing is ahead; a line a cycle.
  */
class TelemetryResponses(p: ExpanderParams) extends Module {
  private val slots = p.telemetryReads
  private val slotBits = log2Ceil(slots)
  val io = IO(new Bundle {
    val room = Output(Bool())
    val beat = Flipped(Valid(new TelemetryBeat(p)))

    /** Reads of the beat's id that are ahead of it, [[ReadOrder.latency]] cycles behind `beat`. */
    val ahead = Input(UInt((log2Ceil(p.readsInFlight) + 1).W))

    /** The engine's lines, in the order of the beats that are `Okay`. */
    val line = Flipped(Valid(new Line(p.nemo)))

    /** Memory answered a read of this id; no line is picked in that cycle. */
    val answered = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** A read of this id is no longer ahead of others: memory answered it, or its line is on its way out, where lines
      * keep their order.
      */
    val answer = Valid(UInt(p.memory.idBits.W))

    /** Memory's next answer has this id: it must wait. */
    val memoryId = Input(UInt(p.memory.idBits.W))
    val memoryWaits = Output(Bool())
    val out = Decoupled(new Axi4ReadData(p.memory))
  })

  private class Entry extends Bundle {
    val beat = new TelemetryBeat(p)

    /** Reads of its id ahead of it, once that is `known`. */
    val ahead = UInt((log2Ceil(p.readsInFlight) + 1).W)
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

  // One answer of its id brings a read forward. Memory and lines share the read data: there is a cycle for each.
  private val first = entries.zip(used).zip(known).map { case ((entry, used), known) =>
    used && known && entry.ahead === 0.U
  }
  for (i <- 0 until slots) {
    when(io.answer.valid && io.answer.bits === entries(i).beat.id && !first(i)) {
      entries(i).ahead := entries(i).ahead - 1.U
    }
  }
  private val lookedUp = ShiftRegister(tail, ReadOrder.latency)
  when(ShiftRegister(io.beat.valid, ReadOrder.latency, false.B, true.B)) {
    known(lookedUp) := true.B
    entries(lookedUp).ahead := io.ahead
  }
  io.memoryWaits := first.zip(
    entries
  ).map { case (first, entry) => first && entry.beat.id === io.memoryId }.reduce(_ || _)

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

  // Of those that may go, the oldest: the ring is full when the tail comes to a slot that still waits.
  private val candidates = first.zip(filled).zip(picked).map { case ((first, filled), picked) =>
    first && filled && !picked
  }
  private val queued = 4
  private val credits = RegInit(queued.U(log2Ceil(queued + 1).W))
  private val older = candidates.zipWithIndex.map { case (candidate, i) => candidate && i.U >= tail }
  private val slot = Mux(older.reduce(_ || _), PriorityEncoder(older), PriorityEncoder(candidates))
  private val pick = candidates.reduce(_ || _) && credits =/= 0.U && !io.answered.valid
  credits := credits + io.out.fire - pick
  when(pick) { picked(slot) := true.B }
  io.answer.valid := io.answered.valid || pick
  io.answer.bits := Mux(io.answered.valid, io.answered.bits, entries(slot).beat.id)
  lines.io.read.valid := pick && entries(slot).beat.resp === Axi4.Resp.Okay.U
  lines.io.read.bits := slot

  private class Picked extends Bundle {
    val slot = UInt(slotBits.W)
    val beat = new TelemetryBeat(p)
    val data = UInt((p.memory.dataBits + 1).W)
  }
  private val out = Module(new Queue(new Picked, queued, flow = true))
  private val arrived = ShiftRegister(slot, 2)
  out.io.enq.valid := ShiftRegister(pick, 2, false.B, true.B)
  out.io.enq.bits.slot := arrived
  out.io.enq.bits.beat := entries(arrived).beat
  out.io.enq.bits.data := lines.io.data
  io.out.valid := out.io.deq.valid
  out.io.deq.ready := io.out.ready
  private val gone = out.io.deq.bits
  io.out.bits.id := gone.beat.id
  io.out.bits.data := gone.data
  io.out.bits.user := gone.data(p.memory.dataBits)
  io.out.bits.resp := gone.beat.resp
  io.out.bits.last := gone.beat.last
  when(io.out.fire) { used(gone.slot) := false.B }
}
