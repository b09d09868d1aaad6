// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** Gives a channel's memory events and telemetry reads their one order, a slot a cycle.
  *
  * An event is never held back: it takes the slot of its own cycle, and a telemetry read takes a slot in which no
  * event came. A read that walks its line takes `lineWords` slots; the few events that arrive meanwhile wait in a
  * queue that can't overflow, because the next read is let in only when it has drained. So not even a walk is felt
  * on the memory path.
  *
  * Latency: one cycle from port to slot; up to `lineWords - 1` more for an event behind a walk.
  */
class SlotArbiter(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val event = Flipped(Valid(new MemoryEvent(p)))
    val read = Flipped(Decoupled(new LineRead(p)))

    /** The rule's read effect is an update op: a read with effect walks. A bit a pipeline. */
    val walks = Input(Vec(p.pipelines, Bool()))

    /** No new read may start: a rule is about to change. */
    val hold = Input(Bool())
    val walking = Output(Bool())

    /** A read is accepted in this cycle if no event comes. */
    val open = Output(Bool())
    val slot = Output(new Slot(p))
  })

  // One event a slot of the walk after its first.
  private val waiting =
    Option.when(p.features.walks)(Module(new Queue(new MemoryEvent(p), p.lineWords - 1, pipe = true)))
  private val walk = RegInit(false.B)
  private val word = RegInit(0.U(p.wordIndexBits.W))
  private val target = Reg(new LineRead(p))
  private val backlog = waiting.map(_.io.deq.valid).getOrElse(false.B)

  io.open := !walk && !backlog && !io.hold
  io.read.ready := io.open && !io.event.valid
  private val startsWalk =
    p.features.walks.B && io.read.fire && io.read.bits.effect && NemoParams.pick(io.walks, io.read.bits.pipeline)
  io.walking := walk

  when(startsWalk) {
    walk := true.B
    word := 1.U
    target := io.read.bits
  }.elsewhen(walk) {
    word := word + 1.U
    walk := word =/= (p.lineWords - 1).U
  }

  for (queue <- waiting) {
    queue.io.enq.valid := io.event.valid && (walk || backlog)
    queue.io.enq.bits := io.event.bits
    queue.io.deq.ready := !walk
    assert(!queue.io.enq.valid || queue.io.enq.ready, "an event was lost")
  }

  private val next = Wire(new Slot(p))
  next.event := !walk && (backlog || io.event.valid)
  next.request := waiting.fold(io.event.bits)(queue => Mux(backlog, queue.io.deq.bits, io.event.bits))
  next.read := walk || io.read.fire
  next.target := Mux(walk, target, io.read.bits)
  next.walk := walk || startsWalk
  next.word := Mux(walk, word, 0.U)

  io.slot := Slot.delayed(next, 1)
}
