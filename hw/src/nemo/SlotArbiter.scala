// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.{MemoryFault, ProtectedQueue}
import chisel3._
import chisel3.util._

/** Gives a channel's memory events and telemetry reads their one order, a slot a cycle.
  *
  * An event is never held back: it takes the slot of its own cycle, and a telemetry read takes a slot in which no
  * event came. A read that walks its line takes `lineWords` slots; the few events that arrive meanwhile wait in a
  * queue that can't overflow, because the next read is let in only when it has drained; one that can't be corrected there
  * is dropped. So not even a walk is felt
  * on the memory path. So it is with an acknowledgement, which has [[AcknowledgeUnit.slots]] slots in a row.
  *
  * Latency: one cycle from port to slot; up to `lineWords - 1` more for an event behind a walk, and
  * [[AcknowledgeUnit.slots]] behind an acknowledgement.
  *
  * @param most slots that an acknowledgement may have, or less to keep a formal proof small
  * @param code of the events that wait, or none for that proof
  */
class SlotArbiter(p: NemoParams, most: Int, code: Boolean = true) extends Module {
  def this(p: NemoParams) = this(p, AcknowledgeUnit.slots(p))
  val io = IO(new Bundle {
    val event = Flipped(Valid(new MemoryEvent(p)))
    val read = Flipped(Decoupled(new LineRead(p)))

    /** The rule's read effect is an update op: a read with effect walks. A bit a pipeline. */
    val walks = Input(Vec(p.pipelines, Bool()))

    /** No new read may start: a rule is about to change. */
    val hold = Input(Bool())

    /** Slots are a walk's or an acknowledgement's. */
    val walking = Output(Bool())

    /** What of this cycle is an acknowledgement's; it may begin in a cycle behind one that is `free`. */
    val take = Input(new TakeSlot(p))
    val takeTarget = Input(new LineRead(p))
    val free = Output(Bool())

    /** A read is accepted in this cycle if no event comes. */
    val open = Output(Bool())
    val slot = Output(new Slot(p))

    /** Of the events that wait. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  // One event a slot of the walk after its first, or of an acknowledgement.
  private val depth = Seq(
    if (p.features.walks) p.lineWords - 1 else 0,
    if (p.features.acknowledges) most else 0
  ).max
  private val waiting = Option.when(depth > 0)(Module(new ProtectedQueue(new MemoryEvent(p), depth, flow = true, code)))
  private val walk = RegInit(false.B)
  private val word = RegInit(0.U(p.wordIndexBits.W))
  private val target = Reg(new LineRead(p))
  private val backlog = waiting.map(_.io.deq.valid).getOrElse(false.B)

  private val taken = if (p.features.acknowledges) io.take.busy else false.B
  private val busy = walk || taken

  io.open := !busy && !backlog && !io.hold
  io.read.ready := io.open && !io.event.valid
  private val startsWalk =
    p.features.walks.B && io.read.fire && io.read.bits.effect && NemoParams.pick(io.walks, io.read.bits.pipeline)
  io.walking := busy
  io.free := io.open && !startsWalk
  assert(!(walk && taken), "a walk and an acknowledgement at once")

  when(startsWalk) {
    walk := true.B
    word := 1.U
    target := io.read.bits
  }.elsewhen(walk) {
    word := word + 1.U
    walk := word =/= (p.lineWords - 1).U
  }

  io.fault := 0.U.asTypeOf(io.fault)
  for (queue <- waiting) {
    io.fault := queue.io.fault
    queue.io.inject := io.inject
    queue.io.enq.valid := io.event.valid && (busy || backlog)
    queue.io.enq.bits := io.event.bits
    queue.io.deq.ready := !busy
    assert(!queue.io.enq.valid || queue.io.enq.ready, "an event was lost")
  }

  private val next = Wire(new Slot(p))
  next.event := !busy && Mux(backlog, !waiting.fold(false.B)(_.io.bad), io.event.valid)
  next.request := waiting.fold(io.event.bits)(queue => Mux(backlog, queue.io.deq.bits, io.event.bits))
  next.read := Mux(taken, io.take.read, walk || io.read.fire)
  next.target := Mux(taken, io.takeTarget, Mux(walk, target, io.read.bits))
  when(taken) { next.target.effect := io.take.effect }
  next.walk := Mux(taken, io.take.walk, walk || startsWalk)
  next.word := Mux(taken, io.take.word, Mux(walk, word, 0.U))
  next.take := taken
  next.op := io.take.op

  io.slot := Slot.delayed(next, 1)
}
