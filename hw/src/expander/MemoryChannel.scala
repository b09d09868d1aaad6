// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Port, Axi4ReadData, FaultReport, Injection, MemoryFault, RegisterSlice}
import anemone.nemo.{Line, LineAcknowledge, LineRead, MemoryEvent}
import chisel3._
import chisel3.util._

/** What went wrong in a cycle of a channel. */
class ChannelErrors extends Bundle {
  val droppedWrite = Bool()
  val refusedRead = Bool()
  val memoryRead = Bool()
  val memoryWrite = Bool()
}

/** One memory channel: its requests pass, and are events; those for the telemetry region are answered here.
  *
  * Latency: one cycle for requests and write data, one for responses and read data, each through a [[RegisterSlice]].
  * One request a cycle, read or write; one beat of data a cycle each way.
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
    val acknowledged = Flipped(Valid(Bool()))
    val errors = Output(new ChannelErrors)

    /** What was found flipped in each of [[MemoryChannel.memories]], and what is to be. */
    val faults = Output(Vec(MemoryChannel.memories.length, new FaultReport(p.memory.idBits, p.nearLineBits)))
    val inject = Flipped(Valid(new Injection))
  })

  // Requests.
  private val arbiter = Module(new RequestArbiter(p))
  private val gate = Module(new WriteGate(p))
  arbiter.io.ar <> io.upstream.ar
  arbiter.io.aw <> io.upstream.aw
  arbiter.io.windows := io.windows
  arbiter.io.channel := io.channel
  arbiter.io.open := io.open
  io.downstream.ar <> RegisterSlice(arbiter.io.memoryRead)
  private val memoryWrite = Wire(chiselTypeOf(arbiter.io.memoryWrite))
  memoryWrite.valid := arbiter.io.memoryWrite.valid
  memoryWrite.bits := arbiter.io.memoryWrite.bits
  arbiter.io.memoryWrite.ready := memoryWrite.ready && !gate.io.closed
  io.downstream.aw <> RegisterSlice(memoryWrite)
  io.event := arbiter.io.event
  io.read := arbiter.io.read

  io.acknowledge.valid := false.B
  io.acknowledge.bits := DontCare

  // Write data and responses.
  gate.io.granted := arbiter.io.memoryWrite.fire
  gate.io.dropped <> arbiter.io.droppedWrite
  gate.io.data <> io.upstream.w
  io.downstream.w <> RegisterSlice(gate.io.memoryData)
  gate.io.memoryResponse <> io.downstream.b
  io.upstream.b <> RegisterSlice(gate.io.response)

  // Read data, memory's and telemetry's.
  private val order = Module(new ReadOrder(p))
  private val telemetry = Module(new TelemetryResponses(p))
  order.io.issue := arbiter.io.issue
  arbiter.io.readable := order.io.ready
  arbiter.io.room := telemetry.io.room
  telemetry.io.beat := arbiter.io.telemetry
  telemetry.io.ahead := order.io.ahead
  telemetry.io.line := io.line
  telemetry.io.memoryId := io.downstream.r.bits.id
  private val out = Wire(Decoupled(new Axi4ReadData(p.memory)))
  // Memory goes first: lines that wait cost nobody but their reader.
  private val memoryPasses = io.downstream.r.valid && !telemetry.io.memoryWaits
  out.valid := telemetry.io.out.valid || memoryPasses
  out.bits := Mux(memoryPasses, io.downstream.r.bits, telemetry.io.out.bits)
  telemetry.io.out.ready := out.ready && !memoryPasses
  io.downstream.r.ready := out.ready && !telemetry.io.memoryWaits
  io.upstream.r <> RegisterSlice(out)
  // One beat of telemetry is a read of its own; memory's burst is one.
  telemetry.io.answer.valid := out.fire && (!memoryPasses || out.bits.last)
  telemetry.io.answer.bits := out.bits.id
  order.io.answer := telemetry.io.answered

  private def failed(resp: UInt): Bool = resp(1)
  io.errors.droppedWrite := gate.io.drops
  io.errors.refusedRead := arbiter.io.telemetry.valid && failed(arbiter.io.telemetry.bits.resp)
  io.errors.memoryRead := io.downstream.r.fire && failed(io.downstream.r.bits.resp)
  io.errors.memoryWrite := io.downstream.b.fire && failed(io.downstream.b.bits.resp)

  // What was flipped where.
  private def arms(memory: Int, arm: ValidIO[Bool]): Unit = {
    arm.valid := io.inject.valid && io.inject.bits.memory === memory.U
    arm.bits := io.inject.bits.double
  }
  private def report(fault: MemoryFault): FaultReport = FaultReport(fault, p.memory.idBits, p.nearLineBits)
  io.faults := VecInit(report(order.io.fault))
  arms(MemoryChannel.order, order.io.inject)
}

object MemoryChannel {
  private val order = 8

  /** The memories that report, by their numbers in `fault_memory` of the registers. */
  val memories: Seq[Int] = Seq(order)
}
