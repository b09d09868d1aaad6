// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{MemoryFault, ProtectedQueue}
import anemone.nemo.{AcknowledgeUnit, LineRead, MemoryEvent}
import chisel3._
import chisel3.util._

/** One order of a channel's events and telemetry reads in flat memory mode, where an event comes whenever it is decided
  * and a read whenever it is accepted, both in one cycle perhaps: then the event is first.
  *
  * Who is not first waits. A read took the cycle in which it was accepted from a request, so it finds a free one when all
  * that was decided before is through. While more than `undecided` wait no read is accepted, so that reads of one slot
  * alone are never felt on the memory path. Those that walk take more, and a rule that is loaded waits for them and lets
  * others wait: then `hold` lets the controller take no request for a while, and there is a place for every event that may
  * still come. A read waits for an acknowledgement, and until the engine's own queue has drained behind it: there are places
  * for the events of that time, so that it is not felt either.
  *
  * What waits has a code. An event that can't be corrected is dropped; a read has no effect, and may be another line's.
  *
  * Latency: one cycle when nobody waits.
  *
  * @param undecided requests whose events may still come when `hold` is there
  */
class EventReadSequencer(p: ExpanderParams, undecided: Int) extends Module {
  private val spare = if (p.nemo.features.acknowledges) 2 * AcknowledgeUnit.slots(p.nemo) else 0
  private val places = EventReadSequencer.places(undecided) + spare
  private val numberBits = log2Ceil(places) + 1
  val io = IO(new Bundle {
    val event = Flipped(Valid(new MemoryEvent(p.nemo)))

    /** At most [[ExpanderParams.telemetryReads]] wait: more are not under way. */
    val read = Flipped(Valid(new LineRead(p.nemo)))

    /** A read may be accepted in this cycle. */
    val open = Output(Bool())
    val hold = Output(Bool())
    val first = new Bundle {
      val event = Valid(new MemoryEvent(p.nemo))
      val read = Decoupled(new LineRead(p.nemo))
    }

    /** Of [[EventReadSequencer.memories]]. */
    val faults = Output(Vec(EventReadSequencer.memories.length, new MemoryFault))
    val inject = Flipped(Vec(EventReadSequencer.memories.length, Valid(Bool())))
  })
  private val events = Module(new ProtectedQueue(new MemoryEvent(p.nemo), places, flow = true))
  events.io.enq.valid := io.event.valid
  events.io.enq.bits := io.event.bits
  assert(!io.event.valid || events.io.enq.ready, "an event was lost")

  // A read knows how many events were there before it.
  private val came, went = RegInit(0.U(numberBits.W))
  private val now = came + io.event.valid
  came := now
  private val reads = Module(new ProtectedQueue(
    new Bundle {
      val read = new LineRead(p.nemo)
      val behind = UInt(numberBits.W)
    },
    p.telemetryReads,
    flow = true
  ))
  reads.io.enq.valid := io.read.valid
  reads.io.enq.bits.read := io.read.bits
  reads.io.enq.bits.behind := now
  assert(!io.read.valid || reads.io.enq.ready, "a telemetry read was lost")

  private val readFirst = reads.io.deq.valid && (reads.io.deq.bits.behind === went || reads.io.bad)
  io.first.read.valid := readFirst
  io.first.read.bits := reads.io.deq.bits.read
  when(reads.io.bad) { io.first.read.bits.effect := false.B }
  reads.io.deq.ready := readFirst && io.first.read.ready
  private val eventFirst = events.io.deq.valid && !readFirst
  io.first.event.valid := eventFirst && !events.io.bad
  io.first.event.bits := events.io.deq.bits
  events.io.deq.ready := !readFirst
  when(eventFirst) { went := went + 1.U }

  io.open := events.io.count +& reads.io.count <= undecided.U
  io.hold := RegNext(events.io.count > (undecided + 2 + spare).U, false.B)
  io.faults := VecInit(events.io.fault, reads.io.fault)
  events.io.inject := io.inject(0)
  reads.io.inject := io.inject(1)
}

object EventReadSequencer {

  /** Its memories. */
  val memories: Seq[Int] = FaultMemory(Seq("ordered_events", "ordered_reads"))

  /** Events that may wait, but for an acknowledgement: those that do when `hold` is there, and all that are undecided then. */
  def places(undecided: Int): Int = 2 * undecided + 6
}
