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
  // Each item is stored with the number of the other kind that came before it, and goes when so many have gone.
  private val eventsCame, eventsGone = RegInit(0.U((log2Ceil(entries) + 2).W))
  private val readsCame, readsGone = RegInit(0.U((log2Ceil(p.telemetryReads) + 2).W))
  private def gone(before: UInt, gone: UInt): Bool = (gone - before).head(1) === 0.U
  private val events = Module(new ProtectedQueue(
    new Bundle {
      val event = new MemoryEvent(p.nemo)
      val readsBefore = chiselTypeOf(readsCame)
    },
    entries,
    flow = true,
    registers = ProtectedQueue.ofBlockRam
  ))
  events.io.enq.valid := io.event.valid
  events.io.enq.bits.event := io.event.bits
  events.io.enq.bits.readsBefore := readsCame
  assert(!io.event.valid || events.io.enq.ready, "an event was lost")
  private val reads = Module(new ProtectedQueue(
    new Bundle {
      val read = new LineRead(p.nemo)
      val eventsBefore = chiselTypeOf(eventsCame)
    },
    p.telemetryReads,
    flow = true,
    registers = ProtectedQueue.ofBlockRam
  ))
  private val eventsCameNow = eventsCame + io.event.valid
  eventsCame := eventsCameNow
  readsCame := readsCame + io.read.valid
  reads.io.enq.valid := io.read.valid
  reads.io.enq.bits.read := io.read.bits
  reads.io.enq.bits.eventsBefore := eventsCameNow
  assert(!io.read.valid || reads.io.enq.ready, "a telemetry read was lost")

  // An item whose number is lost does not wait for it.
  private val readFirst =
    reads.io.deq.valid && (gone(reads.io.deq.bits.eventsBefore, eventsGone) || reads.io.bad)
  io.first.read.valid := readFirst
  io.first.read.bits := reads.io.deq.bits.read
  when(reads.io.bad) { io.first.read.bits.effect := false.B }
  reads.io.deq.ready := readFirst && io.first.read.ready
  when(reads.io.deq.fire) { readsGone := readsGone + 1.U }
  private val eventGoes = !readFirst && (gone(events.io.deq.bits.readsBefore, readsGone) || events.io.bad)
  private val eventFirst = events.io.deq.valid && eventGoes
  io.first.event.valid := eventFirst && !events.io.bad
  io.first.event.bits := events.io.deq.bits.event
  events.io.deq.ready := eventGoes
  when(eventFirst) { eventsGone := eventsGone + 1.U }
  private val queued = RegInit(0.U(log2Ceil(entries + p.telemetryReads + 4).W)) // events and reads
  queued := queued + (io.event.valid +& io.read.valid) - (eventFirst +& reads.io.deq.fire)

  // Entries in the registers behind the memory are on their way, not waiting.
  private val most = undecided + ProtectedQueue.ofBlockRam
  io.open := queued <= most.U
  io.hold := RegNext(eventsCame - eventsGone > (most + 2 + spare).U, false.B)
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
