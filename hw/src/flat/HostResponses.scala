// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{
  Axi4,
  Axi4ReadData,
  Axi4WriteResponse,
  BitSlicedCam,
  ClockGate,
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
  * order, separately for reads and writes; different ids may pass each other ([[ResponseOrder]]).
  *
  * Each beat of a burst is one request. The write response is that of the last beat, and collects the errors of all
  * beats.
  *
  * Latency: a read response that is next in order passes in the same cycle if no other is on its way to the output.
  * Otherwise it is stored and takes five cycles from the cycle in which it is next, six if the one before it passed. A
  * write response takes two. No request may be answered within three cycles of its acceptance. Throughput: a read and a
  * write response per cycle. A flipped bit in a stored response is corrected; an uncorrectable response is poisoned.
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
  private val (used, writes, lastBeats, youngest) = (mask, mask, mask, mask)
  private val (failed, outside) = (mask, mask)

  /** Beats whose burst goes on with a beat that has not entered. */
  private val unfollowed = mask
  private val ids = new BitSlicedCam(entries, p.memory.idBits)
  private val readOrder = Module(new ResponseOrder(entries, passing = true))
  private val writeOrder = Module(new ResponseOrder(entries, passing = false))

  // The number of the next request is chosen before the request comes.
  private val number = mask
  private val occupied = used | io.held
  private val accepts = OneHot.onlyIf(io.accept.valid, number)
  io.available := number.orR
  io.request := OneHot.number(number, entries)
  when(io.accept.valid || !io.available) { number := OneHot.first(~(occupied | number), entries) }
  assert(!io.accept.valid || io.available, "a request without a number")

  // A cycle later, the request finds the youngest of its id and kind; in the next it follows that one, if it has not
  // left.
  private val accepted = RegNext(accepts, 0.U)
  private val anyAccepted = RegNext(io.accept.valid, false.B)
  private val beat = RegEnable(io.accept.bits, io.accept.valid)
  private val sameKind = used & youngest & Mux(beat.write, writes, ~writes)
  private val predecessor = OneHot.onlyIf(anyAccepted, sameKind & ids.equal(beat.id) & ~accepted)
  ids.write(accepted -> beat.id)
  writes := (writes & ~accepted) | OneHot.onlyIf(beat.write, accepted)
  lastBeats := (lastBeats & ~accepted) | OneHot.onlyIf(beat.last, accepted)
  youngest := (youngest & ~predecessor) | accepted
  unfollowed := (unfollowed & ~predecessor & ~accepted) | OneHot.onlyIf(!beat.last, accepted)
  private val linked = RegNext(accepted, 0.U)
  private val followed = RegNext(OneHot.number(predecessor, entries))
  for ((order, write) <- Seq(readOrder -> false.B, writeOrder -> true.B)) {
    order.io.link.valid := RegNext(predecessor.orR && beat.write === write, false.B)
    order.io.link.bits.request := linked
    order.io.link.bits.predecessor := followed
    assert(!(order.io.done & (accepts | accepted | linked)).orR, "an answer sooner than the order is known")
  }

  // Reads: a response that is next in order bypasses storage if no other is on its way out.
  private val credits = RegInit(stored.U(log2Ceil(stored + 1).W))
  private val arrival = readOrder.io.arrival.get
  private val idle = credits === stored.U && !readOrder.io.next.valid
  private val bypasses = io.answer.valid && arrival.inTurn && idle && io.r.ready
  private val stores = io.answer.valid && !bypasses
  private val arrives = OneHot.onlyIf(io.answer.valid, UIntToOH(io.answer.bits.request, entries))
  arrival.request := io.answer.bits.request
  arrival.leaves := bypasses
  readOrder.io.done := OneHot.onlyIf(!bypasses, arrives)
  readOrder.io.withheld := 0.U
  readOrder.io.next.ready := credits =/= 0.U
  private val picks = readOrder.io.next.fire
  private val picked = readOrder.io.next.bits

  // A response is written in the cycle after its arrival; it is read in the one after that, or later.
  private val answers = Module(new ProtectedRam(entries, 1 + p.memory.dataBits, gates = p.clockGates))
  answers.io.write.valid := RegNext(stores, false.B)
  withClock(ClockGate.during(p.clockGates, stores)) {
    answers.io.write.bits.address := RegNext(io.answer.bits.request)
    answers.io.write.bits.data := RegNext(Cat(io.answer.bits.poison, io.answer.bits.data))
  }
  answers.io.read.valid := picks
  answers.io.read.bits := readOrder.io.number.get
  answers.io.inject := io.inject
  io.fault := answers.io.fault

  private def resp(of: UInt): UInt = Cat(((failed | outside) & of).orR, (outside & of).orR)
  private val head = Wire(new Axi4ReadData(p.memory))
  head.id := ids.at(io.answer.bits.request)
  head.last := lastBeats(io.answer.bits.request)
  head.data := io.answer.bits.data
  head.user := io.answer.bits.poison
  head.resp := io.answer.bits.resp
  private val out = Module(
    new ProtectedQueue(
      new OutgoingResponse(p),
      stored,
      flow = true,
      registers = ProtectedQueue.ofBlockRam,
      gates = p.clockGates
    )
  )
  out.io.enq.valid := ShiftRegister(picks, ProtectedRam.latency, false.B, true.B)
  out.io.enq.bits.id := ShiftRegister(ids(picked), ProtectedRam.latency)
  out.io.enq.bits.last := ShiftRegister((lastBeats & picked).orR, ProtectedRam.latency)
  out.io.enq.bits.resp := ShiftRegister(resp(picked), ProtectedRam.latency)
  out.io.enq.bits.data := answers.io.data
  out.io.enq.bits.poison := answers.io.data(p.memory.dataBits) || answers.io.fault.uncorrected
  io.faultId := out.io.enq.bits.id
  credits := credits + out.io.deq.fire - picks
  io.busy := occupied.orR || credits =/= stored.U
  assert(!(bypasses && out.io.deq.valid), "a response passes one on its way out")
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
  private val written = writeOrder.io.next.bits
  writeOrder.io.done := io.writes.done
  writeOrder.io.withheld := unfollowed
  private val responds = (lastBeats & written).orR
  io.b.valid := writeOrder.io.next.valid && responds
  io.b.bits.id := ids(written)
  io.b.bits.resp := resp(written)
  writeOrder.io.next.ready := io.b.ready

  // A request that has left frees its number.
  used := (used & ~readOrder.io.leaves & ~writeOrder.io.leaves) | accepts
  private def errors(of: UInt, found: UInt, resp: UInt): UInt = {
    val handsOn = io.b.ready && (of & written & ~lastBeats).orR
    val inherited = OneHot.onlyIf(handsOn, writeOrder.io.follower.get)
    (of & ~accepted) | found | inherited | OneHot.onlyIf(io.answer.bits.resp === resp, arrives)
  }
  failed := errors(failed, io.writes.failed, Axi4.Resp.SlvErr.U)
  outside := errors(outside, io.writes.outside, Axi4.Resp.DecErr.U)
}

object HostResponses {

  /** Credits of the output queue: the cycles from taking a credit to getting it back. */
  val stored: Int = ProtectedRam.latency + ProtectedQueue.ofBlockRam + 3
}
