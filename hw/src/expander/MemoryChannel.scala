// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Address, Axi4Port, FaultReport, Injection, MemoryFault, RegisterSlice}
import anemone.nemo.{Line, LineAddress, LineRead, LineWordRead, MemoryEvent}
import chisel3._
import chisel3.util._

/** Errors of a channel in one cycle. */
class ChannelErrors extends Bundle {
  val droppedWrite = Bool()
  val refusedRead = Bool()
  val memoryRead = Bool()
  val memoryWrite = Bool()

  /** A response of memory, to a read or a write, that matches no outstanding request. */
  val strayRead = Bool()
  val strayWrite = Bool()
}

/** One memory channel: requests to memory pass and become events; requests to the telemetry region are answered here.
  *
  * Latency: two cycles for requests and write data, two for responses and read data. Each is registered at the input
  * and at the output, so no output of a port depends combinationally on an input. Throughput per cycle: one request,
  * read or write, and one data beat each way.
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
    val acknowledge = Decoupled(new LineAddress(p.nemo))

    /** Completion of an accepted acknowledge, in the same cycle; true: it was applied. */
    val acknowledged = Flipped(Valid(Bool()))
    val acknowledgeWords = Flipped(new LineWordRead(p.nemo))
    val errors = Output(new ChannelErrors)

    /** Faults and injections, per memory of [[MemoryChannel.memories]]. */
    val faults = Output(Vec(MemoryChannel.memories.length, new FaultReport(p.memory.idBits, p.faultLineBits)))
    val inject = Flipped(Valid(new Injection))

    /** `quiesce`: accept no request. `quiet`: nothing is in flight any more. */
    val quiesce = Input(Bool())
    val quiet = Output(Bool())
  })

  // Requests.
  private val arbiter = Module(new RequestArbiter(p))
  private val writeSink = Module(new RegionWriteSink(p))
  private val quiesceGate = Module(new QuiesceGate(p))
  quiesceGate.io.quiesce := io.quiesce
  quiesceGate.io.address := io.upstream.aw.fire
  quiesceGate.io.data := io.upstream.w.fire
  quiesceGate.io.last := io.upstream.w.bits.last
  private def beats(of: DecoupledIO[Axi4Address], write: Boolean, closed: Bool): DecoupledIO[RequestBeat] = {
    val requests = Module(new BurstSplitter(p, write))
    requests.io.in <> of
    requests.io.windows := io.windows
    requests.io.closed := closed
    requests.io.out
  }
  arbiter.io.reads <> beats(io.upstream.ar, write = false, quiesceGate.io.closed.reads)
  arbiter.io.writes <> beats(io.upstream.aw, write = true, quiesceGate.io.closed.writes)
  arbiter.io.channel := io.channel
  arbiter.io.open := io.open
  io.downstream.ar <> RegisterSlice(arbiter.io.memoryRead)
  private val memoryWrite = Wire(chiselTypeOf(arbiter.io.memoryWrite))
  memoryWrite.valid := arbiter.io.memoryWrite.valid
  memoryWrite.bits := arbiter.io.memoryWrite.bits
  // Flat memory mode shares this reset and drains its own memories.
  private val draining = if (p.flat.isDefined) false.B
  else {
    val answers = Module(new StaleResponseDrain(p))
    answers.io.read := io.downstream.ar.fire
    answers.io.readBeat := io.downstream.r.fire
    answers.io.last := io.downstream.r.bits.last
    answers.io.write := io.downstream.aw.fire
    answers.io.writeAnswered := io.downstream.b.fire
    answers.io.draining
  }
  arbiter.io.memoryWrite.ready := memoryWrite.ready && !writeSink.io.closed && !draining
  io.downstream.aw <> RegisterSlice(memoryWrite)
  io.event := arbiter.io.event
  io.read := arbiter.io.read

  // Write data and responses.
  writeSink.io.granted.valid := arbiter.io.memoryWrite.fire
  writeSink.io.granted.bits := arbiter.io.memoryWrite.bits.id
  writeSink.io.region <> arbiter.io.regionWrite
  private val data = Wire(chiselTypeOf(writeSink.io.data))
  data.valid := io.upstream.w.valid && !quiesceGate.io.closed.data
  data.bits := io.upstream.w.bits
  io.upstream.w.ready := data.ready && !quiesceGate.io.closed.data
  writeSink.io.data <> RegisterSlice(data)
  io.downstream.w <> RegisterSlice(writeSink.io.memoryData)
  writeSink.io.memoryResponse <> RegisterSlice(io.downstream.b)
  io.upstream.b <> RegisterSlice(writeSink.io.response)
  io.acknowledge <> writeSink.io.acknowledge
  writeSink.io.acknowledged := io.acknowledged
  writeSink.io.acknowledgeWords <> io.acknowledgeWords

  // Read data of memory and telemetry.
  private val order = Module(new SameIdTracker(p.memory.idBits, p.readsInFlight, early = true))
  private val outstanding = RegInit(0.U((log2Ceil(p.readsInFlight) + 1).W))
  private val telemetry = Module(new TelemetryReorderBuffer(p))
  order.io.issue := arbiter.io.issue
  order.io.counts := true.B
  order.io.answer := telemetry.io.answered
  order.io.answersAsked.get := telemetry.io.answersAsked
  outstanding := outstanding + arbiter.io.issue.valid - telemetry.io.answered.valid
  arbiter.io.readable := order.io.ready && !draining && !outstanding(log2Ceil(p.readsInFlight))
  arbiter.io.available := telemetry.io.available
  telemetry.io.beat := arbiter.io.telemetry
  telemetry.io.ahead := order.io.ahead
  telemetry.io.noneAhead := order.io.noneAhead
  telemetry.io.line := io.line
  telemetry.io.memory <> io.downstream.r
  private val responses = Module(new ReadResponseSlice(p))
  responses.io.in <> telemetry.io.out
  io.upstream.r <> responses.io.out
  // A response that matches no read is dropped; it may belong to a request from before a reset that memory did not
  // share.
  private val outstandingAtMemory = RegInit(0.U((log2Ceil(p.readsInFlight) + 1).W)) // outstanding reads at memory
  private val memoryAnswered = telemetry.io.passed && telemetry.io.out.bits.beat.last
  outstandingAtMemory := outstandingAtMemory + arbiter.io.memoryRead.fire - memoryAnswered
  telemetry.io.expected := outstandingAtMemory =/= 0.U

  private def failed(resp: UInt): Bool = resp(1)
  io.errors.droppedWrite := writeSink.io.drops
  io.errors.refusedRead := arbiter.io.telemetry.valid && failed(arbiter.io.telemetry.bits.resp)
  io.errors.memoryRead := telemetry.io.passed && failed(telemetry.io.out.bits.beat.resp)
  io.errors.strayRead := telemetry.io.stray
  io.errors.strayWrite := writeSink.io.stray
  io.errors.memoryWrite := writeSink.io.failed

  // No register holds anything, and no response is outstanding.
  private val ports = Seq(arbiter.io.reads, arbiter.io.writes, writeSink.io.data) ++
    Seq(io.downstream.ar, io.downstream.aw, io.downstream.w, io.upstream.r, io.upstream.b)
  io.quiet := RegNext(
    quiesceGate.io.closed.reads && quiesceGate.io.balanced && writeSink.io.idle && outstanding === 0.U && !ports.map(
      _.valid
    ).reduce(_ || _),
    false.B
  )

  // Faults, by memory.
  private def report(fault: MemoryFault): FaultReport = FaultReport(fault, p.memory.idBits, p.faultLineBits)
  private val reports = (order.io.fault +: writeSink.io.faults).map(report)
  for ((report, id) <- reports.drop(2).zip(Seq(writeSink.io.planId, writeSink.io.lineId))) {
    report.id.valid := true.B
    report.id.bits := id
  }
  io.faults := VecInit(reports ++ telemetry.io.faults)
  for ((arm, memory) <- ((order.io.inject +: writeSink.io.inject) ++ telemetry.io.inject).zip(MemoryChannel.memories))
    arm := Injection.to(memory, io.inject)
}

object MemoryChannel {

  /** Memories that report faults. */
  val memories: Seq[Int] = (FaultMemory("read_order") +: RegionWriteSink.memories) ++ TelemetryReorderBuffer.memories
}
