// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Address, Axi4Port, FaultReport, Injection, MemoryFault, RegisterSlice}
import anemone.nemo.{Line, LineAcknowledge, LineRead, MemoryEvent}
import chisel3._
import chisel3.util._

/** What went wrong in a cycle of a channel. */
class ChannelErrors extends Bundle {
  val droppedWrite = Bool()
  val refusedRead = Bool()
  val memoryRead = Bool()
  val memoryWrite = Bool()

  /** An answer of memory, to a read and to a write, that nobody waits for. */
  val strayRead = Bool()
  val strayWrite = Bool()
}

/** One memory channel: its requests pass, and are events; those for the telemetry region are answered here.
  *
  * Latency: two cycles for requests and write data, two for responses and read data: each is in a register before it is
  * looked at and in another behind, so that no output of a port depends on an input in the same cycle. One request a
  * cycle, read or write; one beat of data a cycle each way.
  */
class MemoryChannel(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val upstream = Flipped(new Axi4Port(p.memory))
    val downstream = new Axi4Port(p.memory)
    val windows = Input(new Windows(p))
    val channel = Input(UInt(p.nemo.channelBits.W))
    val event = Valid(new MemoryEvent(p.nemo))
    val open = Input(Bool())
    val read = Valid(new LineRead(p.nemo))
    val line = Flipped(Valid(new Line(p.nemo)))
    val acknowledge = Decoupled(new LineAcknowledge(p.nemo))

    /** What is taken is done in that cycle; true: it was applied. */
    val acknowledged = Flipped(Valid(Bool()))
    val errors = Output(new ChannelErrors)

    /** What was found flipped in each of [[MemoryChannel.memories]], and what is to be. */
    val faults = Output(Vec(MemoryChannel.memories.length, new FaultReport(p.memory.idBits, p.faultLineBits)))
    val inject = Flipped(Valid(new Injection))

    /** No request is accepted; `quiet`: nothing is under way any more. */
    val quiesce = Input(Bool())
    val quiet = Output(Bool())
  })

  // Requests.
  private val arbiter = Module(new RequestArbiter(p))
  private val gate = Module(new RegionWriteSink(p))
  private val accepts = Module(new QuiesceGate(p))
  accepts.io.quiesce := io.quiesce
  accepts.io.address := io.upstream.aw.fire
  accepts.io.data := io.upstream.w.fire
  accepts.io.last := io.upstream.w.bits.last
  private def beats(of: DecoupledIO[Axi4Address], write: Boolean, closed: Bool): DecoupledIO[RequestBeat] = {
    val requests = Module(new BurstSplitter(p, write))
    requests.io.in <> of
    requests.io.windows := io.windows
    requests.io.closed := closed
    requests.io.out
  }
  arbiter.io.reads <> beats(io.upstream.ar, write = false, accepts.io.closed.reads)
  arbiter.io.writes <> beats(io.upstream.aw, write = true, accepts.io.closed.writes)
  arbiter.io.channel := io.channel
  arbiter.io.open := io.open
  io.downstream.ar <> RegisterSlice(arbiter.io.memoryRead)
  private val memoryWrite = Wire(chiselTypeOf(arbiter.io.memoryWrite))
  memoryWrite.valid := arbiter.io.memoryWrite.valid
  memoryWrite.bits := arbiter.io.memoryWrite.bits
  // Flat memory mode is below in the same reset, and looks after its own memories.
  private val late = if (p.flat.isDefined) false.B
  else {
    val answers = Module(new StaleResponseDrain(p))
    answers.io.read := io.downstream.ar.fire
    answers.io.readBeat := io.downstream.r.fire
    answers.io.last := io.downstream.r.bits.last
    answers.io.write := io.downstream.aw.fire
    answers.io.writeAnswered := io.downstream.b.fire
    answers.io.late
  }
  arbiter.io.memoryWrite.ready := memoryWrite.ready && !gate.io.closed && !late
  io.downstream.aw <> RegisterSlice(memoryWrite)
  io.event := arbiter.io.event
  io.read := arbiter.io.read

  // Write data and responses.
  gate.io.granted.valid := arbiter.io.memoryWrite.fire
  gate.io.granted.bits := arbiter.io.memoryWrite.bits.id
  gate.io.region <> arbiter.io.regionWrite
  private val data = Wire(chiselTypeOf(gate.io.data))
  data.valid := io.upstream.w.valid && !accepts.io.closed.data
  data.bits := io.upstream.w.bits
  io.upstream.w.ready := data.ready && !accepts.io.closed.data
  gate.io.data <> RegisterSlice(data)
  io.downstream.w <> RegisterSlice(gate.io.memoryData)
  gate.io.memoryResponse <> RegisterSlice(io.downstream.b)
  io.upstream.b <> RegisterSlice(gate.io.response)
  io.acknowledge <> gate.io.acknowledge
  gate.io.acknowledged := io.acknowledged

  // Read data, memory's and telemetry's.
  private val order = Module(new SameIdTracker(p.memory.idBits, p.readsInFlight))
  private val underWay = RegInit(0.U((log2Ceil(p.readsInFlight) + 1).W))
  private val telemetry = Module(new TelemetryReorderBuffer(p))
  order.io.issue := arbiter.io.issue
  order.io.counts := true.B
  order.io.answer := telemetry.io.answered
  underWay := underWay + arbiter.io.issue.valid - telemetry.io.answered.valid
  arbiter.io.readable := order.io.ready && !late && !underWay(log2Ceil(p.readsInFlight))
  arbiter.io.room := telemetry.io.room
  telemetry.io.beat := arbiter.io.telemetry
  telemetry.io.ahead := order.io.ahead
  telemetry.io.line := io.line
  telemetry.io.memory <> io.downstream.r
  io.upstream.r <> RegisterSlice(telemetry.io.out)
  // An answer to no read is for nobody: perhaps it is to one of before a reset, which memory did not share.
  private val fromBelow = RegInit(0.U((log2Ceil(p.readsInFlight) + 1).W)) // reads that memory has to answer
  fromBelow := fromBelow + arbiter.io.memoryRead.fire - (telemetry.io.passed && telemetry.io.out.bits.last)
  telemetry.io.owed := fromBelow =/= 0.U

  private def failed(resp: UInt): Bool = resp(1)
  io.errors.droppedWrite := gate.io.drops
  io.errors.refusedRead := arbiter.io.telemetry.valid && failed(arbiter.io.telemetry.bits.resp)
  io.errors.memoryRead := telemetry.io.passed && failed(telemetry.io.out.bits.resp)
  io.errors.strayRead := telemetry.io.stray
  io.errors.strayWrite := gate.io.stray
  io.errors.memoryWrite := gate.io.failed

  // Nothing is in a register, and nobody has anything to answer.
  private val held = Seq(arbiter.io.reads, arbiter.io.writes, gate.io.data) ++
    Seq(io.downstream.ar, io.downstream.aw, io.downstream.w, io.upstream.r, io.upstream.b)
  io.quiet := RegNext(
    accepts.io.closed.reads && accepts.io.even && gate.io.idle && underWay === 0.U && !held.map(_.valid).reduce(_ || _),
    false.B
  )

  // What was flipped where.
  private def report(fault: MemoryFault): FaultReport = FaultReport(fault, p.memory.idBits, p.faultLineBits)
  private val reports = (order.io.fault +: gate.io.faults).map(report)
  for ((report, id) <- reports.drop(2).zip(Seq(gate.io.planId, gate.io.lineId))) {
    report.id.valid := true.B
    report.id.bits := id
  }
  io.faults := VecInit(reports ++ telemetry.io.faults)
  for ((arm, memory) <- ((order.io.inject +: gate.io.inject) ++ telemetry.io.inject).zip(MemoryChannel.memories))
    arm := Injection.to(memory, io.inject)
}

object MemoryChannel {

  /** The memories that report. */
  val memories: Seq[Int] = (FaultMemory("read_order") +: RegionWriteSink.memories) ++ TelemetryReorderBuffer.memories
}
