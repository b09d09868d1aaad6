// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4ReadData, ClockGate, FaultReport, RegisterSlice}
import anemone.nemo.Line
import chisel3._
import chisel3.util._

/** Telemetry lines between the engine and the read data of their channel, where they are merged with memory's.
  *
  * The engine answers at once, but AXI requires responses of one id in order, memory's included. So a line waits here
  * until no read of its id is ahead, and memory's response to that id waits until the line has gone. Lines of different
  * ids pass each other, so in whatever order memory responds, nothing waits for a later request.
  *
  * Memory has priority, but after [[ExpanderParams.memoryRun]] of its beats a ready line goes.
  *
  * Latency: one cycle for memory; six from `line` to `out` if nothing is ahead; ten from the `beat` of a refused line.
  * Throughput: one response per cycle, even when memory and lines answer the same id alternately.
  */
class TelemetryReorderBuffer(p: ExpanderParams) extends Module {
  private val aheadBits = log2Ceil(p.readsInFlight) + 1
  val io = IO(new Bundle {

    /** A register. */
    val available = Output(Bool())
    val beat = Flipped(Valid(new TelemetryBeat(p)))

    /** Reads of the beat's id ahead of it, [[SameIdTracker.latency]] cycles after `beat`, without those that `answered`
      * reports up to this cycle.
      */
    val ahead = Input(UInt(aheadBits.W))

    /** `ahead` is zero. */
    val noneAhead = Input(Bool())

    /** Lines from the engine, in the order of the `Okay` beats, at least four cycles after the beat. */
    val line = Flipped(Valid(new Line(p.nemo)))

    val memory = Flipped(Decoupled(new Axi4ReadData(p.memory)))

    /** A read is outstanding at memory; otherwise its response matches no request and is dropped. */
    val expected = Input(Bool())
    val stray = Output(Bool())

    /** `out` has memory's response and it is accepted. */
    val passed = Output(Bool())

    /** Memory's responses merged with the lines; needs a [[ReadResponseSlice]] after it. */
    val out = Decoupled(new ReadResponse(p))

    /** A read of this id was answered in the last cycle, by memory or by a line. */
    val answered = Valid(UInt(p.memory.idBits.W))

    /** It is the id of the beat that `ahead` is for. */
    val answersAsked = Output(Bool())

    /** Faults, with the line's id if known, and injections, per memory of [[TelemetryReorderBuffer.memories]]. */
    val faults = Output(Vec(TelemetryReorderBuffer.memories.length, new FaultReport(p.memory.idBits, p.faultLineBits)))
    val inject = Flipped(Vec(TelemetryReorderBuffer.memories.length, Valid(Bool())))
  })

  private val answered = RegInit(0.U.asTypeOf(Valid(UInt(p.memory.idBits.W))))
  io.answered := answered

  // The lines, whose clock stops while there are none.
  private val holds = WireInit(false.B)
  private val comes = io.beat.valid || io.inject.map(_.valid).reduce(_ || _)
  private val buffer = withClock(ClockGate(p.nemo.clockGates, comes || holds))(Module(new TelemetryLineBuffer(p)))
  holds := buffer.io.holds
  io.available := buffer.io.available
  buffer.io.beat := io.beat
  buffer.io.ahead := io.ahead
  buffer.io.noneAhead := io.noneAhead
  buffer.io.line := io.line
  buffer.io.answered := answered
  io.answersAsked := buffer.io.answersAsked
  io.faults := buffer.io.faults
  buffer.io.inject := io.inject

  // Memory's responses, control and data apart.
  private val slice = Module(new RegisterSlice(new TelemetryBeat(p)))
  slice.io.in.valid := io.memory.valid
  slice.io.in.bits.id := io.memory.bits.id
  slice.io.in.bits.last := io.memory.bits.last
  slice.io.in.bits.resp := io.memory.bits.resp
  io.memory.ready := slice.io.in.ready
  // The data are in two registers in turn: whether the head leaves is known late, and only `leaving` waits for it.
  private val entering, leaving = RegInit(false.B)
  private val halves = Seq(false.B, true.B).map { half =>
    RegEnable(Cat(io.memory.bits.user, io.memory.bits.data), io.memory.fire && entering === half)
  }
  when(io.memory.fire) { entering := !entering }
  when(slice.io.out.fire) { leaving := !leaving }
  buffer.io.memory := MemoryHead(slice, p)
  private val arbiter = Module(new ReadResponseArbiter(p.memoryRun))
  private val memoryPasses =
    slice.io.out.valid && io.expected && !arbiter.io.lineFirst && !buffer.io.beforeMemory
  arbiter.io.memory := memoryPasses
  private val offer = buffer.io.offer
  arbiter.io.line := offer.valid
  arbiter.io.ready := io.out.ready
  io.passed := io.out.ready && memoryPasses
  io.stray := slice.io.out.valid && !io.expected
  slice.io.out.ready := io.passed || !io.expected
  io.out.valid := memoryPasses || offer.valid
  io.out.bits.isLine := !memoryPasses
  io.out.bits.memoryData := Mux(leaving, halves(1), halves(0))
  io.out.bits.lineData := Cat(offer.bits.user, offer.bits.data)
  private val (answer, line) = (slice.io.out.bits, Wire(new TelemetryBeat(p)))
  line.id := offer.bits.id
  line.last := offer.bits.last
  line.resp := offer.bits.resp
  io.out.bits.beat := Mux(memoryPasses, answer, line)
  private val memoryAnswers = io.passed && answer.last
  buffer.io.memoryAnswers := memoryAnswers
  buffer.io.taken := arbiter.io.taken
  answered.valid := memoryAnswers || arbiter.io.taken
  answered.bits := io.out.bits.beat.id
}

object TelemetryReorderBuffer {

  /** Memories that report faults. */
  val memories: Seq[Int] = FaultMemory(Seq("telemetry_lines", "line_order", "ready_lines"))
}
