// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.{MemoryFault, ProtectedQueue}
import chisel3._
import chisel3.util._

/** Puts a channel's memory events and telemetry reads in one order, a slot a cycle.
  *
  * An event has priority and takes the slot of its own cycle; a read takes a slot without an event. So telemetry never
  * delays a memory request. A serial RMW reserves `lineWords` slots, an acknowledge [[AcknowledgeUnit.slots]]; events
  * that arrive meanwhile wait in a queue. It cannot overflow, because the next read starts only when it is empty. An
  * event with an uncorrectable error in the queue is dropped.
  *
  * Latency: one cycle from port to slot; up to `lineWords - 1` more for an event behind a serial RMW, and
  * [[AcknowledgeUnit.slots]] more behind an acknowledge.
  *
  * @param maxAcknowledgeSlots slots of an acknowledge; fewer keep a formal proof small
  * @param protect             the queue has an error-correcting code; the proof leaves it out
  */
class SlotArbiter(p: NemoParams, maxAcknowledgeSlots: Int, protect: Boolean = true) extends Module {
  def this(p: NemoParams) = this(p, AcknowledgeUnit.slots(p))
  val io = IO(new Bundle {
    val event = Flipped(Valid(new MemoryEvent(p)))
    val read = Flipped(Decoupled(new LineRead(p)))

    /** By pipeline: a read with effect is a serial RMW. */
    val serialRmw = Input(Vec(p.pipelines, Bool()))

    /** No read may start, because a rule is about to change. */
    val hold = Input(Bool())

    /** A serial RMW or an acknowledge has the slots. */
    val reserved = Output(Bool())

    /** An acknowledge's slot. An acknowledge may begin in the cycle after one that is `available`. */
    val acknowledge = Input(new AcknowledgeSlot(p))
    val acknowledgeTarget = Input(new LineAddress(p))
    val available = Output(Bool())

    /** A read is accepted in this cycle unless an event comes. */
    val open = Output(Bool())
    val slot = Output(new Slot(p))

    /** Of the event queue. */
    val fault = Output(new MemoryFault)
    val inject = Flipped(Valid(Bool()))
  })

  // At most one event a reserved slot; a serial RMW's first slot has none.
  private val depth = Seq(
    if (p.features.serialRmw) p.lineWords - 1 else 0,
    if (p.features.acknowledges) maxAcknowledgeSlots else 0
  ).max
  private val eventQueue =
    Option.when(depth > 0)(Module(new ProtectedQueue(new MemoryEvent(p), depth, flow = true, protect)))
  private val inSerialRmw = RegInit(false.B)
  private val word = RegInit(0.U(p.wordIndexBits.W))
  private val target = Reg(new LineRead(p))
  private val backlog = eventQueue.map(_.io.deq.valid).getOrElse(false.B)

  private val acknowledging = if (p.features.acknowledges) io.acknowledge.busy else false.B
  private val busy = inSerialRmw || acknowledging

  io.open := !busy && !backlog && !io.hold
  io.read.ready := io.open && !io.event.valid
  private val startsSerialRmw =
    p.features.serialRmw.B && io.read.fire && io.read.bits.effect && NemoParams.pick(
      io.serialRmw,
      io.read.bits.pipeline
    )
  io.reserved := busy
  io.available := io.open && !startsSerialRmw
  assert(!(inSerialRmw && acknowledging), "a serial RMW and an acknowledge at once")

  when(startsSerialRmw) {
    inSerialRmw := true.B
    word := 1.U
    target := io.read.bits
  }.elsewhen(inSerialRmw) {
    word := word + 1.U
    inSerialRmw := word =/= (p.lineWords - 1).U
  }

  io.fault := 0.U.asTypeOf(io.fault)
  for (queue <- eventQueue) {
    io.fault := queue.io.fault
    queue.io.inject := io.inject
    queue.io.enq.valid := io.event.valid && (busy || backlog)
    queue.io.enq.bits := io.event.bits
    queue.io.deq.ready := !busy
    assert(!queue.io.enq.valid || queue.io.enq.ready, "an event was lost")
  }

  private val next = Wire(new Slot(p))
  next.event := !busy && Mux(backlog, !eventQueue.fold(false.B)(_.io.bad), io.event.valid)
  next.request := eventQueue.fold(io.event.bits)(queue => Mux(backlog, queue.io.deq.bits, io.event.bits))
  next.read := Mux(acknowledging, io.acknowledge.read, inSerialRmw || io.read.fire)
  next.target := Mux(inSerialRmw, target, io.read.bits)
  when(acknowledging) {
    next.target.pipeline := io.acknowledgeTarget.pipeline
    next.target.line := io.acknowledgeTarget.line
    next.target.effect := io.acknowledge.effect
  }
  next.serialRmw := Mux(acknowledging, io.acknowledge.serialRmw, inSerialRmw || startsSerialRmw)
  next.word := Mux(acknowledging, io.acknowledge.word, Mux(inSerialRmw, word, 0.U))
  next.acknowledge := acknowledging
  next.op := io.acknowledge.op

  io.slot := Slot.delayed(next, 1)
}
