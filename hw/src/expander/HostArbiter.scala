// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4Address, Axi4Port, Axi4ReadData, Axi4WriteResponse, RegisterSlice}
import chisel3._
import chisel3.util._

/** Hosts that share a channel: arbitrates their requests round-robin and routes each response to its host.
  *
  * In the channel an id is the host number above the host's own id. So the ids of a host keep their order and never
  * wait for another host's.
  *
  * A write enters the channel when its first data beat is there, so a host that withholds its data blocks no other
  * host. A host that stops within a burst blocks the writes of the others. A host that stalls its responses blocks all
  * responses: as CXL.mem requires, a host must be able to accept what it requested.
  *
  * Latency: one cycle for requests and data, one for responses. Throughput per cycle: one request of each kind, one
  * beat each way.
  */
class HostArbiter(p: ExpanderParams) extends Module {
  private val hostBits = log2Ceil(p.hosts)
  val io = IO(new Bundle {
    val hosts = Vec(p.hosts, Flipped(new Axi4Port(p.hostPort)))
    val channel = new Axi4Port(p.memory)

    /** `quiesce`: accept no request. `passed`: the channel has all accepted requests. `quiet`: the hosts also have all
      * responses.
      */
    val quiesce = Input(Bool())
    val passed = Output(Bool())
    val quiet = Output(Bool())
  })

  // Registered inputs of each host.
  private val gates = io.hosts.map { host =>
    val gate = Module(new QuiesceGate(p))
    gate.io.quiesce := io.quiesce
    gate.io.address := host.aw.fire
    gate.io.data := host.w.fire
    gate.io.last := host.w.bits.last
    gate
  }
  private def accepted[T <: Data](from: DecoupledIO[T], closed: Bool): RegisterSlice[T] = {
    val slice = Module(new RegisterSlice(chiselTypeOf(from.bits)))
    slice.io.in.valid := from.valid && !closed
    slice.io.in.bits := from.bits
    from.ready := slice.io.in.ready && !closed
    slice
  }
  private val hosts = io.hosts.zip(gates.map(_.io.closed))
  private val reads = hosts.map { case (host, closed) => accepted(host.ar, closed.reads).io.out }
  private val writes = hosts.map { case (host, closed) => accepted(host.aw, closed.writes).io.out }
  private val data = hosts.map { case (host, closed) => accepted(host.w, closed.data).io }

  // Addresses.
  private def arbitrate(requests: Seq[DecoupledIO[Axi4Address]], eligible: Seq[Bool]): RRArbiter[Axi4Address] = {
    val arbiter = Module(new RRArbiter(new Axi4Address(p.memory), p.hosts))
    // A host whose request stalled stays chosen: the channel's request must not change until it is accepted.
    val stalled = RegNext(arbiter.io.out.valid && !arbiter.io.out.ready, false.B)
    val chosen = RegNext(arbiter.io.chosen)
    for (((in, request), h) <- arbiter.io.in.zip(requests).zipWithIndex) {
      val allowed = eligible(h) && (!stalled || chosen === h.U)
      in.valid := request.valid && allowed
      in.bits := request.bits
      in.bits.id := Cat(h.U(hostBits.W), request.bits.id)
      request.ready := in.ready && allowed
    }
    arbiter
  }
  io.channel.ar <> arbitrate(reads, Seq.fill(p.hosts)(true.B)).io.out

  // Data follow their address until the last beat.
  private val writing = RegInit(false.B)
  private val writer = Reg(UInt(hostBits.W))
  private val ends = io.channel.w.fire && io.channel.w.bits.last
  private val canWrite = data.zipWithIndex.map { case (of, h) =>
    // The front beat of the host that is writing belongs to the write in progress.
    val nextWriteReady = of.in.valid || !of.in.ready
    (!writing || ends) && Mux(writing && writer === h.U, nextWriteReady, of.out.valid)
  }
  private val address = arbitrate(writes, canWrite)
  io.channel.aw <> address.io.out
  when(address.io.out.fire) {
    writing := true.B
    writer := address.io.out.bits.id >> p.hostPort.idBits
  }.elsewhen(ends) { writing := false.B }
  io.channel.w.valid := writing && VecInit(data.map(_.out.valid))(writer)
  io.channel.w.bits := VecInit(data.map(_.out.bits))(writer)
  for ((of, h) <- data.zipWithIndex) of.out.ready := writing && writer === h.U && io.channel.w.ready

  // Responses.
  private def route[T <: Bundle](from: DecoupledIO[T], id: T => UInt, to: Seq[DecoupledIO[T]]): Unit = {
    val host = id(from.bits) >> p.hostPort.idBits
    for ((out, h) <- to.zipWithIndex) {
      out.valid := from.valid && host === h.U
      out.bits := from.bits
    }
    from.ready := VecInit(to.map(_.ready))(host)
  }
  // The host number above the id is dropped here.
  private def registered[T <: Data](to: DecoupledIO[T]): DecoupledIO[T] = {
    val slice = Module(new RegisterSlice(chiselTypeOf(to.bits)))
    to <> slice.io.out
    slice.io.in
  }
  private val (lines, responses) = (io.hosts.map(host => registered(host.r)), io.hosts.map(host => registered(host.b)))
  route[Axi4ReadData](io.channel.r, _.id, lines)
  route[Axi4WriteResponse](io.channel.b, _.id, responses)

  private val requested = (reads ++ writes ++ data.map(_.out)).map(_.valid).reduce(_ || _) || writing
  private val open = gates.map(gate => !gate.io.closed.reads || !gate.io.balanced).reduce(_ || _)
  io.passed := RegNext(!open && !requested, false.B)
  io.quiet := RegNext(!io.hosts.map(host => host.r.valid || host.b.valid).reduce(_ || _), false.B)
}
