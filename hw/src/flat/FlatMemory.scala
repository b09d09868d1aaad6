// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.{
  Axi4Pins,
  Axi4Port,
  FaultReport,
  Injection,
  MemoryFault,
  ProtectedQueue,
  ProtectedRam,
  RegisterSlice
}
import chisel3._
import chisel3.util._

/** Flat memory mode: near and far form one flat space, each line is in exactly one of them, and swaps move one
  * cacheline at a time (Memstrata §3.1).
  *
  * Ports: AXI4 from the host, to near and to far. `reset` is a warm reset and keeps every line; `powerOn`, asserted
  * together with `reset`, starts with empty memories. After `powerOn` ends, only the policy in `config` may change.
  *
  * Latency: a read hit adds [[FlatMemory.hitLatency]] cycles to near's latency, or [[FlatMemory.busyHitLatency]] while an
  * MSHR is in use. Throughput: one request per cycle.
  */
class FlatMemory(p: FlatParams) extends Module {
  val powerOn = IO(Input(Bool()))
  val host = IO(Flipped(new Axi4Pins(p.memory)))
  val near = IO(new Axi4Pins(p.memory))
  val near_wsideband = IO(Output(UInt(p.sidebandBits.W)))
  val near_rsideband = IO(Input(UInt(p.sidebandBits.W)))
  val far = IO(new Axi4Pins(p.memory))
  val config = IO(Input(new FlatConfig(p)))

  /** Number of this channel in the device. */
  val channel = IO(Input(UInt(p.channelBits.W)))

  /** From the next cycle on, new requests are not accepted; accepted ones complete. `quiet`: nothing is in flight for
    * the host, near or far, so a reset loses nothing, even if it resets the memories too.
    */
  val quiesce = IO(Input(Bool()))
  val quiet = IO(Output(Bool()))

  /** The controller accepts requests. */
  val initialised = IO(Output(Bool()))
  val counters = IO(Output(new FlatCounts))

  /** Near or far sent a response that matches no outstanding request. */
  val stray = IO(Output(Bool()))

  /** A set whose sideband failed its check, and software's commands for it. */
  val untrusted = IO(Output(new UntrustedSet(p)))
  val rearm = IO(Input(Bool()))
  val repair = IO(Input(Bool()))

  /** Bit flips found in each of [[FlatMemory.memories]], and bit flips to inject. */
  val faults = IO(Output(Vec(FlatMemory.memories.length, new FaultReport(p.memory.idBits, p.nearIndexBits))))
  val inject = IO(Flipped(Valid(new Injection)))

  /** One per request, in acceptance order. */
  val outcome = IO(Valid(new Outcome))

  /** One per access to an existing line, in acceptance order; never later than the access's response. */
  val event = Option.when(p.events)(IO(Valid(new FlatEvent(p))))

  /** Accept no access: the consumer of events is full. */
  val hold = Option.when(p.events)(IO(Input(Bool())))

  private val hostPort = Wire(Flipped(new Axi4Port(p.memory)))
  host.drives(hostPort)
  private val nearPort = Module(new LinePort(p, p.sidebandBits))
  private val farPort = Module(new LinePort(p, 0))
  near.drivenBy(nearPort.io.axi)
  near_wsideband := nearPort.io.wsideband
  // This is done before the register slice of near's responses, so TagCheck has less logic after it.
  nearPort.io.rsideband := new SidebandCode(p).predecoded(near_rsideband)
  far.drivenBy(farPort.io.axi)
  farPort.io.rsideband := 0.U

  for (port <- Seq(nearPort, farPort)) port.io.powerOn := powerOn

  private val requests = Module(new HostRequests(p.memory, p.clockGates))
  private val responses = Module(new HostResponses(p))
  private val map = Module(new AddressMap(p))
  private val allocator = Module(new MshrAllocator(p))
  private val lookup = Module(new NearLookup(p))
  private val check = Module(new TagCheck(p))
  private val opLists = Module(new MshrOpLists(p))
  private val states = Module(new MshrStates(p))
  private val sequencer = Module(new SwapSequencer(p))
  private val pendingWrites = Module(new PendingWriteResponses(p))
  private val lines = Module(new LineBuffer(p))
  private val initialiser = Module(new NearInitialiser(p))
  private val repairs = Module(new SetRepair(p))
  private val flatCounters = Module(new FlatCounters)

  // After a warm reset, the lines kept in the controller are written before requests are accepted.
  private val recovered = RegInit(false.B)
  when(initialiser.io.done && !states.io.unwritten.orR) { recovered := true.B }
  initialised := recovered

  // The host's requests, mapped to sets.
  requests.io.ar <> hostPort.ar
  requests.io.aw <> hostPort.aw
  requests.io.w <> hostPort.w
  requests.io.quiesce := quiesce
  // A request accepted in the cycle in which `quiesce` rises becomes visible two cycles later.
  private val quiesced = ShiftRegister(quiesce, 2, false.B, true.B)
  private val sources =
    Seq(requests.io.busy, responses.io.busy, allocator.io.busy, nearPort.io.busy, farPort.io.busy) :+
      repairs.io.untrusted.repairing
  quiet := RegNext(
    quiesced && initialiser.io.done && !(sources ++ Seq(hostPort.r.valid, hostPort.b.valid)).reduce(_ || _),
    false.B
  )
  private val beats = Wire(Decoupled(new Bundle {
    val request = UInt(p.requestBits.W)
    val line = UInt((p.memory.addressBits - 6).W)
    val write = Bool()
    val full = Bool()
  }))
  private val accepting =
    recovered && responses.io.available && !hold.getOrElse(false.B) && !repairs.io.untrusted.repairing
  requests.io.beat.ready := beats.ready && accepting
  beats.valid := requests.io.beat.valid && accepting
  beats.bits.request := responses.io.request
  beats.bits.line := requests.io.beat.bits.line
  beats.bits.write := requests.io.beat.bits.write
  beats.bits.full := requests.io.data.strb.andR
  responses.io.accept.valid := requests.io.beat.fire
  responses.io.accept.bits := requests.io.beat.bits
  private val beat = RegisterSlice(beats)
  map.io.line := beat.bits.line
  map.io.channel := channel
  map.io.config := config
  private val mapped = Wire(Decoupled(new MappedRequest(p)))
  mapped.valid := beat.valid
  beat.ready := mapped.ready
  mapped.bits.request := beat.bits.request
  mapped.bits.mapped := map.io.mapped
  mapped.bits.write := beat.bits.write
  mapped.bits.full := beat.bits.full
  lookup.io.in <> RegisterSlice(mapped)

  // Write data wait here until their operation runs.
  private val data = Module(new ProtectedRam(p.requests, (new StoredLine(p)).getWidth, gates = p.clockGates))
  private val hostData = Wire(new StoredLine(p))
  hostData.data := requests.io.data.data
  hostData.strobe := requests.io.data.strb
  hostData.poison := requests.io.data.user && requests.io.data.strb.orR
  data.io.write.valid := requests.io.beat.fire && requests.io.beat.bits.write
  data.io.write.bits.address := responses.io.request
  data.io.write.bits.data := hostData.asUInt
  data.io.read := sequencer.io.write
  sequencer.io.writeStored := StoredLine.from(data.io.data, data.io.fault, p)

  // MSHR allocation and near's tags.
  allocator.io.powerOn := powerOn
  allocator.io.next := lookup.io.next
  allocator.io.allocate <> lookup.io.allocate
  lookup.io.noneUsed := allocator.io.noneUsed
  lookup.io.grant := allocator.io.grant
  allocator.io.decided.valid := check.io.decided.valid && !check.io.decided.bits.outside
  allocator.io.decided.bits.mshr := UIntToOH(check.io.decided.bits.mshr, p.mshrs)
  allocator.io.decided.bits.request := check.io.decided.bits.request
  allocator.io.idle := ~(opLists.io.waiting | sequencer.io.busy | states.io.active)
  allocator.io.kept := states.io.unwritten
  nearPort.io.read <> lookup.io.nearRead
  check.io.config := config
  check.io.lookup <> lookup.io.out
  check.io.near <> nearPort.io.readAnswer
  check.io.swapDisabled := states.io.swapDisabled
  check.io.readsOnly := allocator.io.readsOnly
  allocator.io.opAdded := Mux(check.io.op.valid, UIntToOH(check.io.op.bits.mshr, p.mshrs), 0.U)
  opLists.io.push := check.io.op
  states.io.powerOn := powerOn
  states.io.allocated := check.io.allocated

  // The sequencer reads one MSHR at a time.
  private val select = sequencer.io.select
  Seq(allocator.io.select, opLists.io.select, states.io.select, check.io.select).foreach(_ := select)
  pendingWrites.io.select := OHToUInt(select)
  sequencer.io.config := config
  sequencer.io.waiting := opLists.io.waiting
  sequencer.io.head := opLists.io.head
  opLists.io.request := sequencer.io.request
  sequencer.io.op := opLists.io.op
  opLists.io.pop := sequencer.io.opDone
  sequencer.io.state := states.io.state
  sequencer.io.state.ackPending := pendingWrites.io.ackPending
  sequencer.io.nearRow := states.io.nearRow
  sequencer.io.sideband.permutation := states.io.state.permutation
  sequencer.io.sideband.swapDisabled := states.io.state.swapDisabled
  sequencer.io.sideband.count := check.io.count
  sequencer.io.sideband.countedTag := check.io.countedTag
  sequencer.io.nearIndex := allocator.io.nearIndex
  sequencer.io.nearWritable := states.io.nearWritable
  sequencer.io.farWritable := states.io.farWritable
  sequencer.io.refused := states.io.refused
  states.io.commit := sequencer.io.commit
  lines.io.read := sequencer.io.row
  sequencer.io.rowStored := lines.io.stored

  // Requests to memory and its responses.
  private val fetches = Module(new ProtectedQueue(new LineRead(p), p.mshrs, registers = ProtectedQueue.ofBlockRam))
  fetches.io.enq.valid := sequencer.io.farRead.valid
  fetches.io.enq.bits := sequencer.io.farRead.bits
  assert(!fetches.io.enq.valid || fetches.io.enq.ready, "the queue of far reads is full")
  farPort.io.read <> fetches.io.deq
  private val initialising = !initialiser.io.done
  initialiser.io.powerOn := powerOn
  initialiser.io.nearLines := config.nearLines
  initialiser.io.answer := nearPort.io.writeAnswer

  // Only one writer is active at a time, except that after a warm reset the sequencer has lines to write and waits for
  // the initialiser.
  private val nearWriters = Module(new Arbiter(new LineWrite(p, p.sidebandBits), 3))
  nearWriters.io.in(0) <> initialiser.io.write
  nearWriters.io.in(1) <> repairs.io.nearWrite
  nearWriters.io.in(2).valid := sequencer.io.nearWrite.valid && !initialising
  nearWriters.io.in(2).bits := sequencer.io.nearWrite.bits
  sequencer.io.nearWrite.ready := nearWriters.io.in(2).ready && !initialising
  nearPort.io.write <> nearWriters.io.out
  private val farWriters = Module(new Arbiter(new LineWrite(p, 0), 2))
  farWriters.io.in(0) <> repairs.io.farWrite
  farWriters.io.in(1) <> sequencer.io.farWrite
  farPort.io.write <> farWriters.io.out

  private val fetched = farPort.io.readAnswer
  private val fetchedMshr = UIntToOH(fetched.bits.id, p.mshrs)
  assert(!fetched.valid || (states.io.fetching & fetchedMshr).orR, "far answers a read that no MSHR issued")
  fetched.ready := fetched.bits.error || lines.io.writes(1).ready
  private def byMshr(answer: ValidIO[LineWriteAnswer], refused: Boolean): UInt =
    Mux(answer.valid && (!refused.B || answer.bits.error), UIntToOH(answer.bits.id, p.mshrs), 0.U)
  private val nearWritten, farWritten = Wire(Valid(new LineWriteAnswer(p)))
  nearWritten := nearPort.io.writeAnswer
  nearWritten.valid := nearPort.io.writeAnswer.valid && !initialising && !repairs.io.writing
  farWritten := farPort.io.writeAnswer
  farWritten.valid := farPort.io.writeAnswer.valid && !repairs.io.writing
  private val events = states.io.events
  events.nearWritten := byMshr(nearWritten, refused = false)
  events.nearRefused := byMshr(nearWritten, refused = true)
  events.farWritten := byMshr(farWritten, refused = false)
  events.farRefused := byMshr(farWritten, refused = true)
  events.farRead := Mux(fetched.fire, fetchedMshr, 0.U)
  events.farReadRefused := Mux(fetched.fire && fetched.bits.error, fetchedMshr, 0.U)
  sequencer.io.wakeup := events.nearWritten | events.farWritten | events.farRead

  // Sets whose sideband failed its check.
  allocator.io.decidedSelect := RegNext(UIntToOH(check.io.decided.bits.mshr, p.mshrs))
  repairs.io.found.valid := RegNext(check.io.untrusted, false.B)
  repairs.io.found.bits := allocator.io.decidedSet
  repairs.io.nearLines := config.nearLines
  repairs.io.rearm := rearm
  repairs.io.repair := repair
  repairs.io.quiet := !responses.io.busy && !allocator.io.busy
  repairs.io.nearAnswer := nearPort.io.writeAnswer
  repairs.io.farAnswer := farPort.io.writeAnswer
  untrusted := repairs.io.untrusted

  // Lines to buffer, from the sequencer, from far and from near.
  lines.io.writes(0).valid := sequencer.io.bufferWrite.valid
  lines.io.writes(0).bits := sequencer.io.bufferWrite.bits
  lines.io.writes(1).valid := fetched.valid && !fetched.bits.error
  lines.io.writes(1).bits.row := Cat(fetched.bits.id, !(states.io.nearRows & fetchedMshr).orR)
  lines.io.writes(1).bits.stored.data := fetched.bits.data
  lines.io.writes(1).bits.stored.strobe := Fill(p.memory.strbBits, 1.U)
  lines.io.writes(1).bits.stored.poison := fetched.bits.poison
  lines.io.writes(2) <> check.io.bufferWrite

  // Responses to the host: the sequencer cannot be stalled, the tag check can.
  private val answer = responses.io.answer
  answer.valid := sequencer.io.answer.valid || check.io.answer.valid
  answer.bits := Mux(sequencer.io.answer.valid, sequencer.io.answer.bits, check.io.answer.bits)
  responses.io.held := sequencer.io.held
  check.io.answer.ready := !sequencer.io.answer.valid
  pendingWrites.io.merged := sequencer.io.merged
  private val commit = sequencer.io.commit
  private val committed = OHToUInt(commit.bits.mshr)
  pendingWrites.io.nearWrites.valid := commit.valid && commit.bits.nearWrite
  pendingWrites.io.nearWrites.bits := committed
  pendingWrites.io.farWrites.valid := commit.valid && commit.bits.farWrite
  pendingWrites.io.farWrites.bits := committed
  pendingWrites.io.undone.valid := commit.valid && commit.bits.change.undoes
  pendingWrites.io.undone.bits := committed
  pendingWrites.io.nearAnswer := nearWritten
  pendingWrites.io.farAnswer := farWritten
  private val done = Seq(check.io.writes, sequencer.io.writes, pendingWrites.io.writes)
  responses.io.writes.done := done.map(_.done).reduce(_ | _)
  responses.io.writes.failed := done.map(_.failed).reduce(_ | _)
  responses.io.writes.outside := done.map(_.outside).reduce(_ | _)
  hostPort.r <> RegisterSlice(responses.io.r, p.clockGates)
  hostPort.b <> RegisterSlice(responses.io.b)

  // Bit flips, by memory.
  faults.foreach(_ := 0.U.asTypeOf(faults.head))
  private def report(memory: Int, fault: MemoryFault, arm: ValidIO[Bool]): FaultReport = {
    faults(memory).fault := fault
    arm := Injection.to(memory, inject)
    faults(memory)
  }
  private val ofLines = Seq(
    report(FlatMemory.lines, lines.io.fault, lines.io.inject),
    report(FlatMemory.writeData, data.io.fault, data.io.inject)
  )
  for (of <- ofLines) {
    of.line.valid := true.B
    of.line.bits := sequencer.io.commitNearIndex
  }
  private val ofAnswers = Seq(
    report(FlatMemory.answers, responses.io.fault, responses.io.inject),
    report(FlatMemory.leavingAnswers, responses.io.leavingFault, responses.io.leavingInject)
  )
  for ((of, id) <- ofAnswers.zip(Seq(responses.io.faultId, responses.io.leavingId))) {
    of.id.valid := true.B
    of.id.bits := id
  }
  report(FlatMemory.leavingLines, sequencer.io.fault, sequencer.io.inject)
  report(FlatMemory.lookups, lookup.io.fault, lookup.io.inject)
  report(FlatMemory.fetches, fetches.io.fault, fetches.io.inject)

  // Decisions come in request order, so the head of this queue is the address of the decision.
  event.foreach { event =>
    val undecided =
      Module(new ProtectedQueue(chiselTypeOf(event.bits.access), p.requests, registers = ProtectedQueue.ofBlockRam))
    report(FlatMemory.events, undecided.io.fault, undecided.io.inject)
    undecided.io.enq.valid := requests.io.beat.fire
    undecided.io.enq.bits.address := Cat(requests.io.beat.bits.line, requests.io.beat.bits.offset)
    undecided.io.enq.bits.write := requests.io.beat.bits.write
    undecided.io.deq.ready := check.io.decided.valid
    assert(!undecided.io.enq.valid || undecided.io.enq.ready, "more accesses undecided than in flight")
    assert(!undecided.io.deq.ready || undecided.io.deq.valid, "a decision without an access")
    event.valid := RegNext(check.io.decided.valid && !check.io.decided.bits.outside, false.B)
    event.bits.access := RegNext(undecided.io.deq.bits)
    event.bits.hit := RegNext(check.io.outcome.valid && !check.io.outcome.bits.isMiss)
    event.bits.miss := RegNext(check.io.outcome.valid && check.io.outcome.bits.isMiss)
  }

  // Counters.
  outcome.valid := RegNext(check.io.outcome.valid, false.B)
  outcome.bits := RegNext(check.io.outcome.bits)
  flatCounters.io.outcome := check.io.outcome
  flatCounters.io.forwarded := sequencer.io.forwarded
  private def refused(port: LinePort): Bool = port.io.writeAnswer.valid && port.io.writeAnswer.bits.error
  flatCounters.io.nearErrors := check.io.nearError +& refused(nearPort)
  flatCounters.io.farErrors := events.farReadRefused.orR +& refused(farPort)
  flatCounters.io.corrected := check.io.corrected
  flatCounters.io.untrusted := check.io.untrusted
  flatCounters.io.disablesSwap := states.io.disablesSwap
  private def poisoned(answer: DecoupledIO[LineReadAnswer]): Bool =
    answer.fire && answer.bits.poison && !answer.bits.error
  flatCounters.io.poisoned := poisoned(nearPort.io.readAnswer) +& poisoned(fetched)
  flatCounters.io.strays := nearPort.io.strays +& farPort.io.strays
  stray := RegNext(flatCounters.io.strays.orR, false.B)
  counters := flatCounters.io.counts
}

object FlatMemory {

  /** Memories that hold the only copy of their contents. The index is the memory's number from 0; the names are those
    * of `fault_memory` in the registers.
    */
  val memories: Seq[String] =
    Seq("lines", "writes", "answers", "lookups", "fetches", "events", "leaving_answers", "leaving_lines")
  private def number(name: String): Int = memories.indexOf(name)
  private val (lines, writeData, answers) = (number("lines"), number("writes"), number("answers"))
  private val (lookups, fetches, events) = (number("lookups"), number("fetches"), number("events"))
  private val (leavingAnswers, leavingLines) = (number("leaving_answers"), number("leaving_lines"))

  /** Cycles that a read hit adds to near's latency, from AR to R. */
  val hitLatency: Int = 7

  /** The same while an MSHR is in use: for another request, or for a swap that is still being written. Its set is then
    * compared first.
    */
  val busyHitLatency: Int = hitLatency + 1
}
