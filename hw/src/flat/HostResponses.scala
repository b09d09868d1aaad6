// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{
  Axi4,
  Axi4ReadData,
  Axi4WriteResponse,
  BitSlicedCam,
  MemoryFault,
  OneHot,
  ProtectedQueue,
  ProtectedRam
}
import chisel3._
import chisel3.util._

/** A read response on its way to the host. */
class ReadAnswer(p: FlatParams) extends Bundle {
  val request = UInt(p.requestBits.W)
  val data = UInt(p.memory.dataBits.W)
  val poison = Bool()
  val resp = UInt(2.W)
}

/** Completed writes, one bit per request. */
class WritesDone(p: FlatParams) extends Bundle {
  val done = UInt(p.requests.W)

  /** Those of `done` that failed, and those to a line that does not exist. */
  val failed = UInt(p.requests.W)
  val outside = UInt(p.requests.W)
}

/** A response in the output queue. The data are in the lowest bits, so an injected double flip hits the data. */
private class OutgoingResponse(p: FlatParams) extends Bundle {
  val id = UInt(p.memory.idBits.W)
  val last = Bool()
  val resp = UInt(2.W)
  val poison = Bool()
  val data = UInt(p.memory.dataBits.W)
}

/** Tracks the host's requests from acceptance to response and keeps AXI's order: responses of one id leave in request
  * order, separately for reads and writes; different ids may pass each other.
  *
  * Each request knows its predecessor of the same id and kind, and waits for that one's response. Each beat of a burst
  * is one request. The write response is that of the last beat, and collects the errors of all beats.
  *
  * Latency: a read response that is next in order passes in the same cycle if the output is free. Otherwise it is
  * stored and takes four cycles from the cycle in which it is next. Throughput: one per cycle either way. A flipped bit
  * in a stored response is corrected; an uncorrectable response is poisoned.
  */
class HostResponses(p: FlatParams) extends Module {
  import HostResponses._
  private val entries = p.requests
  val io = IO(new Bundle {
    val accept = Flipped(Valid(new HostBeat(p.memory)))

    /** Number of the request from acceptance to response. */
    val request = Output(UInt(p.requestBits.W))
    val available = Output(Bool())

    /** Requests are in flight. */
    val busy = Output(Bool())

    /** Answered requests whose numbers are still in use. */
    val held = Input(UInt(p.requests.W))
    val answer = Flipped(Valid(new ReadAnswer(p)))
    val writes = Input(new WritesDone(p))
    val r = Decoupled(new Axi4ReadData(p.memory))
    val b = Decoupled(new Axi4WriteResponse(p.memory))

    /** Fault in a stored read response, and its id. */
    val fault = Output(new MemoryFault)
    val faultId = Output(UInt(p.memory.idBits.W))
    val inject = Flipped(Valid(Bool()))

    /** Fault in a response in the output queue, and its id. */
    val leavingFault = Output(new MemoryFault)
    val leavingId = Output(UInt(p.memory.idBits.W))
    val leavingInject = Flipped(Valid(Bool()))
  })
  private def mask: UInt = RegInit(0.U(entries.W))
  private val (used, waits, done) = (mask, mask, mask)
  private val (writes, lastBeats, youngest, failed, outside) = (mask, mask, mask, mask, mask)
  private val ids = new BitSlicedCam(entries, p.memory.idBits)
  private val predecessors = new BitSlicedCam(entries, p.requestBits)

  // A request takes a free entry and follows the youngest request of its id and kind.
  private val occupied = used | io.held
  private val free = OneHot.first(~occupied, entries)
  io.available := !occupied.andR
  io.request := OHToUInt(free)
  private val accepts = OneHot.onlyIf(io.accept.valid, free)
  assert(!io.accept.valid || io.available, "a request without a free entry")
  private val sameKind = used & youngest & Mux(io.accept.bits.write, writes, ~writes)
  private val predecessor = sameKind & ids.equal(io.accept.bits.id)
  ids.write(accepts -> io.accept.bits.id)
  predecessors.write(accepts -> OHToUInt(predecessor))

  // Reads: a response that is next in order bypasses storage unless a stored one waits; stored ones are picked
  // round-robin.
  private val out = Module(new ProtectedQueue(new OutgoingResponse(p), stored, flow = true))
  private val credits = RegInit(stored.U(log2Ceil(stored + 1).W))
  io.busy := occupied.orR || credits =/= stored.U
  private val incoming = UIntToOH(io.answer.bits.request, entries)
  private val isNext = !(waits & incoming).orR
  private val candidates = used & done & ~writes & ~waits
  private val storedFirst = RegInit(false.B) // a stored response goes before one that could bypass
  private val bypasses = io.answer.valid && isNext && credits === stored.U && io.r.ready && !storedFirst
  private val rotation = mask
  private val next = OneHot.firstFrom(candidates, rotation, entries)
  private val picks = candidates.orR && credits =/= 0.U && !bypasses
  storedFirst := candidates.orR && !picks
  when(picks) { rotation := OneHot.above(next, entries) }
  credits := credits + out.io.deq.fire - picks
  private val readLeaves = Mux(bypasses, incoming, OneHot.onlyIf(picks, next))

  private val answers = Module(new ProtectedRam(entries, 1 + p.memory.dataBits))
  private val stores = io.answer.valid && !bypasses
  answers.io.write.valid := stores
  answers.io.write.bits.address := io.answer.bits.request
  answers.io.write.bits.data := Cat(io.answer.bits.poison, io.answer.bits.data)
  answers.io.read.valid := picks
  answers.io.read.bits := OHToUInt(next)
  answers.io.inject := io.inject
  io.fault := answers.io.fault
  io.faultId := out.io.enq.bits.id

  private def resp(of: UInt): UInt = Cat(((failed | outside) & of).orR, (outside & of).orR)
  private val head = Wire(new Axi4ReadData(p.memory))
  head.id := ids(readLeaves)
  head.last := (lastBeats & readLeaves).orR
  head.data := io.answer.bits.data
  head.user := io.answer.bits.poison
  head.resp := Mux(bypasses, io.answer.bits.resp, resp(next))
  out.io.enq.valid := ShiftRegister(picks, ProtectedRam.latency, false.B, true.B)
  out.io.enq.bits.id := ShiftRegister(head.id, ProtectedRam.latency)
  out.io.enq.bits.last := ShiftRegister(head.last, ProtectedRam.latency)
  out.io.enq.bits.resp := ShiftRegister(head.resp, ProtectedRam.latency)
  out.io.enq.bits.data := answers.io.data
  out.io.enq.bits.poison := answers.io.data(p.memory.dataBits) || answers.io.fault.uncorrected
  io.r.valid := out.io.deq.valid || bypasses
  io.r.bits := head
  when(out.io.deq.valid) {
    io.r.bits.id := out.io.deq.bits.id
    io.r.bits.last := out.io.deq.bits.last
    io.r.bits.resp := out.io.deq.bits.resp
    io.r.bits.user := out.io.deq.bits.poison || out.io.bad
    io.r.bits.data := out.io.deq.bits.data
  }
  out.io.deq.ready := io.r.ready
  out.io.inject := io.leavingInject
  io.leavingFault := out.io.fault
  io.leavingId := out.io.deq.bits.id

  // Writes: a beat that is not its burst's last leaves without a response and hands its error to the next beat, so it
  // waits until that one has entered.
  private val written = used & done & writes & ~waits & (lastBeats | ~youngest)
  private val writeRotation = mask
  private val nextWrite = OneHot.firstFrom(written, writeRotation, entries)
  private val responds = (lastBeats & nextWrite).orR
  io.b.valid := written.orR && responds
  io.b.bits.id := ids(nextWrite)
  io.b.bits.resp := resp(nextWrite)
  private val writeLeaves = OneHot.onlyIf(written.orR && (io.b.ready || !responds), nextWrite)
  when(writeLeaves.orR) { writeRotation := OneHot.above(nextWrite, entries) }

  // A request that leaves frees its entry and releases its follower.
  private def follower(leaves: UInt): UInt = OneHot.onlyIf(leaves.orR, waits & predecessors.equal(OHToUInt(leaves)))
  private val (readFollower, writeFollower) = (follower(readLeaves), follower(writeLeaves))
  private val leaves = readLeaves | writeLeaves
  private def inheritedErrors(errors: UInt): UInt =
    OneHot.onlyIf(!responds && (errors & writeLeaves).orR, writeFollower)
  private def readErrors(resp: UInt): UInt = OneHot.onlyIf(stores && io.answer.bits.resp === resp, incoming)
  used := (used & ~leaves) | accepts
  waits := (waits & ~readFollower & ~writeFollower) | OneHot.onlyIf((predecessor & ~leaves).orR, accepts)
  done := (done & ~accepts) | OneHot.onlyIf(stores, incoming) | io.writes.done
  writes := (writes & ~accepts) | OneHot.onlyIf(io.accept.bits.write, accepts)
  lastBeats := (lastBeats & ~accepts) | OneHot.onlyIf(io.accept.bits.last, accepts)
  youngest := (youngest & ~OneHot.onlyIf(io.accept.valid, predecessor)) | accepts
  failed := (failed & ~accepts) | io.writes.failed | inheritedErrors(failed) | readErrors(Axi4.Resp.SlvErr.U)
  outside := (outside & ~accepts) | io.writes.outside | inheritedErrors(outside) | readErrors(Axi4.Resp.DecErr.U)
}

object HostResponses {

  /** Credits of the output queue: the cycles from taking a credit to getting it back. */
  val stored: Int = ProtectedRam.latency + 2
}
