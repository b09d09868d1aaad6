// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{MemoryFault, ProtectedQueue}
import anemone.nemo.{AcknowledgeUnit, LineRead, MemoryEvent}
import chisel3._
import chisel3.util._

/** Puts a channel's events and telemetry reads into one order in flat memory mode. There an event comes when its
  * request is decided and a read when it is accepted. If both come in the same cycle, the event is first.
  *
  * The loser is queued. A read was accepted in place of a request, so a free cycle for it comes when the earlier events
  * have drained. While more than `undecided` entries wait no read is accepted, so reads that take one cycle never
  * slow the memory path. Longer reads (serial read-modify-write) can, and so can a rule load, which waits for them and
  * makes others wait: then `hold` stops the controller from accepting requests, and the queue has an entry for every
  * event that may still come. A read also waits for an acknowledgement, and then for the engine's queue to drain; the
  * queue has entries for the events of that time too, so this never slows the memory path either.
  *
  * Queued entries are stored with a code. An uncorrectable event is dropped. An uncorrectable read loses its effect and
  * may return another line.
  *
  * Latency: one cycle when nothing is queued.
  *
  * @param undecided most requests whose events may still come after `hold` rises
  */
class EventReadSequencer(p: ExpanderParams, undecided: Int) extends Module {
  private val spare = if (p.nemo.features.acknowledges) 2 * AcknowledgeUnit.slots(p.nemo) else 0
  private val entries = EventReadSequencer.entries(undecided) + spare
  private val numberBits = log2Ceil(entries) + 1
  val io = IO(new Bundle {
    val event = Flipped(Valid(new MemoryEvent(p.nemo)))

    /** At most [[ExpanderParams.telemetryReads]] are queued, because no more are outstanding. */
    val read = Flipped(Valid(new LineRead(p.nemo)))

    /** A read may be accepted in this cycle. */
    val open = Output(Bool())
    val hold = Output(Bool())
    val first = new Bundle {
      val event = Valid(new MemoryEvent(p.nemo))
      val read = Decoupled(new LineRead(p.nemo))
    }

    /** Faults and injections, per memory of [[EventReadSequencer.memories]]. */
    val faults = Output(Vec(EventReadSequencer.memories.length, new MemoryFault))
    val inject = Flipped(Vec(EventReadSequencer.memories.length, Valid(Bool())))
  })
  private val events = Module(new ProtectedQueue(new MemoryEvent(p.nemo), entries, flow = true, large = true))
  events.io.enq.valid := io.event.valid
  events.io.enq.bits := io.event.bits
  assert(!io.event.valid || events.io.enq.ready, "an event was lost")

  // Each read stores the number of events that came before it.
  private val arrived, issued = RegInit(0.U(numberBits.W))
  private val arrivedNow = arrived + io.event.valid
  arrived := arrivedNow
  private val reads = Module(new ProtectedQueue(
    new Bundle {
      val read = new LineRead(p.nemo)
      val eventsBefore = UInt(numberBits.W)
    },
    p.telemetryReads,
    flow = true,
    large = true
  ))
  reads.io.enq.valid := io.read.valid
  reads.io.enq.bits.read := io.read.bits
  reads.io.enq.bits.eventsBefore := arrivedNow
  assert(!io.read.valid || reads.io.enq.ready, "a telemetry read was lost")

  private val readFirst = reads.io.deq.valid && (reads.io.deq.bits.eventsBefore === issued || reads.io.bad)
  io.first.read.valid := readFirst
  io.first.read.bits := reads.io.deq.bits.read
  when(reads.io.bad) { io.first.read.bits.effect := false.B }
  reads.io.deq.ready := readFirst && io.first.read.ready
  // A read that is on its way may come before the next event.
  private val queuedReads = RegInit(0.U(log2Ceil(p.telemetryReads + 1).W))
  private val readComes = queuedReads =/= 0.U && !reads.io.deq.valid
  private val eventGoes = !readFirst && !readComes
  private val eventFirst = events.io.deq.valid && eventGoes
  io.first.event.valid := eventFirst && !events.io.bad
  io.first.event.bits := events.io.deq.bits
  events.io.deq.ready := eventGoes
  when(eventFirst) { issued := issued + 1.U }
  queuedReads := queuedReads + io.read.valid - reads.io.deq.fire
  private val queued = RegInit(0.U(log2Ceil(entries + p.telemetryReads + 4).W)) // events and reads
  queued := queued + (io.event.valid +& io.read.valid) - (eventFirst +& reads.io.deq.fire)

  // Entries in the registers behind the memory are on their way, not waiting.
  private val most = undecided + ProtectedQueue.registers
  io.open := queued <= most.U
  io.hold := RegNext(arrived - issued > (most + 2 + spare).U, false.B)
  io.faults := VecInit(events.io.fault, reads.io.fault)
  events.io.inject := io.inject(0)
  reads.io.inject := io.inject(1)
}

object EventReadSequencer {

  /** Memories of this unit. */
  val memories: Seq[Int] = FaultMemory(Seq("ordered_events", "ordered_reads"))

  /** Most queued events, without those that come during an acknowledgement: those queued when `hold` rises, plus all
    * that are undecided then.
    */
  def entries(undecided: Int): Int = 2 * undecided + 6
}
