// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4WriteData, Axi4WriteResponse, ClockGate, MemoryFault, OneHot, ProtectedQueue}
import anemone.nemo.{LineAddress, LineWordRead}
import chisel3._
import chisel3.util._

/** A write into the telemetry region. */
class RegionWrite(p: ExpanderParams) extends Bundle {
  val id = UInt(p.memory.idBits.W)

  /** It acknowledges a line if its data are whole; any other write is dropped. */
  val acknowledges = Bool()

  /** There is no such line. */
  val refused = Bool()
  val pipeline = UInt(p.nemo.pipelineBits.W)
  val line = UInt(p.nemo.lineBits.W)
}

/** Write data and write responses of one channel: memory's pass, and writes into the telemetry region end here.
  *
  * Data come in the order of the write grants. A region write is answered when it is done and every earlier write of
  * its id has been answered. Memory's response to a later write of the same id waits for it, and memory's responses of
  * its id wait for [[SameIdTracker.latency]] cycles, in which it finds its place; nothing else does. A whole line that
  * acknowledges goes to the engine; all other data are dropped and counted by beat. A region write with an
  * uncorrectable error while it waits is dropped too, and answered SLVERR.
  *
  * Data of memory writes pass in the cycle of the grant or later; data of region writes are consumed from the cycle
  * after it. `memoryData` and `response` need a [[RegisterSlice]] after them, `data` and `memoryResponse` one before.
  */
class RegionWriteSink(p: ExpanderParams) extends Module {
  private val slots = p.regionWrites
  private val slotBits = log2Ceil(slots)
  private val countBits = log2Ceil(p.writesInFlight) + 1
  val io = IO(new Bundle {

    /** A write to memory with this id was granted. */
    val granted = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** Grant no write to memory. */
    val closed = Output(Bool())
    val region = Flipped(Decoupled(new RegionWrite(p)))
    val data = Flipped(Decoupled(new Axi4WriteData(p.memory)))
    val memoryData = Decoupled(new Axi4WriteData(p.memory))
    val memoryResponse = Flipped(Decoupled(new Axi4WriteResponse(p.memory)))
    val response = Decoupled(new Axi4WriteResponse(p.memory))
    val acknowledge = Decoupled(new LineAddress(p.nemo))

    /** Completion of an accepted acknowledge, in the same cycle; true: it was applied. */
    val acknowledged = Flipped(Valid(Bool()))
    val acknowledgeWords = Flipped(new LineWordRead(p.nemo))

    /** A data beat was dropped; a response that matches no write was dropped. */
    val drops = Output(Bool())
    val stray = Output(Bool())

    /** Memory answered a write with an error. */
    val failed = Output(Bool())

    /** Nothing is in flight. */
    val idle = Output(Bool())

    /** Faults and injections, per memory of [[RegionWriteSink.memories]]. */
    val faults = Output(Vec(RegionWriteSink.memories.length, new MemoryFault))
    val inject = Flipped(Vec(RegionWriteSink.memories.length, Valid(Bool())))

    /** Id of the write in which the second memory, or the third, found the fault. */
    val planId, lineId = Output(UInt(p.memory.idBits.W))
  })

  // Writes to memory: granted; those of them whose data have passed; those that are not answered.
  private val granted, passed = RegInit(0.U(countBits.W))
  private val outstanding = RegInit(0.U(countBits.W))
  private val order = Module(new SameIdTracker(p.memory.idBits, p.writesInFlight))
  io.closed := !order.io.ready || outstanding(countBits - 1)
  granted := granted + io.granted.valid
  private val answered = Wire(Valid(UInt(p.memory.idBits.W)))
  outstanding := outstanding + io.granted.valid - answered.valid
  // A response that matches no write is dropped; it may belong to a request from before a reset that memory did not
  // share.
  private val expected = outstanding > 1.U || (outstanding(0) && !answered.valid)
  private val forWrite = io.memoryResponse.valid && expected
  io.stray := io.memoryResponse.valid && !expected
  io.failed := io.memoryResponse.fire && expected && io.memoryResponse.bits.resp(1)
  answered.valid := RegNext(io.memoryResponse.fire && expected, false.B)
  answered.bits := RegNext(io.memoryResponse.bits.id)

  // A region write takes the next slot of the ring.
  private val tail = RegInit(0.U(slotBits.W))
  private val atTail = UIntToOH(tail, slots)
  private val used = RegInit(0.U(slots.W))
  private val enters = OneHot.onlyIf(io.region.fire, atTail)
  io.region.ready := order.io.ready && !(used & atTail).orR
  when(io.region.fire) { tail := tail + 1.U }

  // Its data follow the data of all memory writes that were granted before it.
  private class Plan extends Bundle {
    val memoryWrites = UInt(countBits.W)

    /** None of them was granted after the region write before it. */
    val follows = Bool()
    val write = new RegionWrite(p)
  }
  private val queueClock =
    ClockGate(p.nemo.clockGates, io.region.valid || used.orR || io.inject.map(_.valid).reduce(_ || _))
  private val plans = withClock(queueClock)(Module(new ProtectedQueue(new Plan, slots, flow = true)))
  plans.io.enq.valid := io.region.fire
  plans.io.enq.bits.write := io.region.bits
  plans.io.enq.bits.memoryWrites := granted
  private val follows = RegInit(true.B)
  when(io.region.fire) { follows := true.B }.elsewhen(io.granted.valid) { follows := false.B }
  plans.io.enq.bits.follows := follows
  assert(!plans.io.enq.valid || plans.io.enq.ready, "a write into the region without a free entry")
  private val oldest = RegInit(0.U(slotBits.W)) // oldest slot that waits for data
  private val plan = plans.io.deq.bits
  // Whether the next beat is a region write's is known from registers: a plan that comes first is compared with `passed`
  // as of the next cycle, and one behind another goes on when that ends, unless memory writes are between them.
  private val isDue, wasLast = RegInit(false.B)
  private val toRegion = isDue || (wasLast && plans.io.deq.valid && plan.follows)
  assert(
    plans.io.bad || toRegion === (plans.io.deq.valid && plan.memoryWrites === passed),
    "a write's data go to the wrong place"
  )
  private val toMemory = !toRegion && (passed =/= granted || io.granted.valid)
  io.memoryData.valid := io.data.valid && toMemory
  io.memoryData.bits := io.data.bits
  io.data.ready := toRegion || (toMemory && io.memoryData.ready)
  private val passes = io.memoryData.fire && io.data.bits.last
  passed := passed + passes
  private val lastToRegion = io.data.valid && toRegion && io.data.bits.last
  wasLast := lastToRegion
  private val turn = Mux(plans.io.deq.valid, plan.memoryWrites, granted)
  isDue := !lastToRegion && (plans.io.deq.valid || io.region.fire) &&
    Mux(passes, turn === passed + 1.U, turn === passed)
  private val hasData = OneHot.onlyIf(lastToRegion, UIntToOH(oldest, slots))
  plans.io.deq.ready := lastToRegion
  when(lastToRegion) { oldest := oldest + 1.U }

  // Acknowledges wait for the engine in a queue with an entry per slot.
  private val acknowledges =
    plan.write.acknowledges && !plan.write.refused && !plans.io.bad && io.data.bits.strb.andR && !io.data.bits.user
  private val lines = withClock(queueClock)(Module(new AcknowledgeQueue(p, slots)))
  lines.io.enq.valid := lastToRegion && acknowledges
  lines.io.enq.bits.pipeline := plan.write.pipeline
  lines.io.enq.bits.line := plan.write.line
  lines.io.line := io.data.bits.data.asTypeOf(lines.io.line)
  lines.io.words <> io.acknowledgeWords
  assert(!lines.io.enq.valid || lines.io.enq.ready, "an acknowledge without a free entry")
  io.acknowledge.valid := lines.io.deq.valid && !lines.io.bad
  io.acknowledge.bits := lines.io.deq.bits
  lines.io.deq.ready := io.acknowledge.ready || lines.io.bad
  // The first acknowledging slot of the ring, which starts at the oldest slot that waits for data.
  private val acknowledging = RegInit(0.U(slots.W))
  private val above = acknowledging & ~(UIntToOH(oldest, slots) - 1.U)
  private val oldestAcknowledging = OneHot.first(Mux(above.orR, above, acknowledging), slots)
  assert(io.acknowledged.valid === io.acknowledge.fire, "an acknowledge is taken when it is done")
  io.drops := io.data.valid && toRegion && !acknowledges

  // Slots that are done, and their responses.
  private val ended = OneHot.onlyIf(!acknowledges, hasData)
  private val applied = OneHot.onlyIf(lines.io.deq.fire, oldestAcknowledging)
  acknowledging := (acknowledging & ~applied) | OneHot.onlyIf(acknowledges, hasData)
  private val done = RegInit(0.U(slots.W))
  private val resps = Reg(Vec(slots, UInt(2.W)))
  // Incomplete data are dropped without an error. Poisoned data get an error, because the acknowledge did not happen.
  private val refusal = Mux(
    plan.write.acknowledges && plan.write.refused,
    Axi4.Resp.DecErr.U,
    Mux(plans.io.bad || (plan.write.acknowledges && io.data.bits.user), Axi4.Resp.SlvErr.U, Axi4.Resp.Okay.U)
  )
  for (slot <- 0 until slots) {
    when(ended(slot)) { resps(slot) := refusal }
    when(applied(slot)) {
      resps(slot) := Mux(io.acknowledged.bits && !lines.io.bad, Axi4.Resp.Okay.U, Axi4.Resp.SlvErr.U)
    }
  }

  // Per slot: the memory writes of its id ahead of it, and the region slots of its id ahead of it. Until the first is
  // `known` it is zero, so memory's responses wait: they may be to later writes.
  // The response of this cycle is known late, so it is counted in the next cycle, in which `next` already includes it.
  private val ids = Reg(Vec(slots, UInt(p.memory.idBits.W)))
  private val ahead = Reg(Vec(slots, UInt(countBits.W)))
  private val known = RegInit(0.U(slots.W))
  private val sameIdBefore = Reg(Vec(slots, UInt(slots.W))) // earlier slots with the same id
  order.io.issue.valid := io.granted.valid || io.region.fire
  order.io.issue.bits := Mux(io.granted.valid, io.granted.bits, io.region.bits.id)
  order.io.counts := io.granted.valid
  order.io.answer := answered
  io.faults := VecInit(order.io.fault, plans.io.fault, lines.io.fault)
  for ((arm, from) <- Seq(order.io.inject, plans.io.inject, lines.io.inject).zip(io.inject)) arm := from
  io.planId := plan.write.id
  io.lineId := Mux1H(oldestAcknowledging, ids)
  private val lookedUp = ShiftRegister(enters, SameIdTracker.latency, 0.U(slots.W), true.B)
  known := (known & ~enters) | lookedUp
  private val same = VecInit(ids.map(_ === io.memoryResponse.bits.id)).asUInt
  private val justAnswered = RegNext(OneHot.onlyIf(io.memoryResponse.fire && expected, same), 0.U(slots.W))
  private val next = VecInit(ahead.zipWithIndex.map { case (count, slot) =>
    count >> 1 === 0.U && (!count(0) || justAnswered(slot))
  }).asUInt
  private val memoryWaits = (used & next & same).orR
  for (slot <- 0 until slots) {
    when(lookedUp(slot)) { ahead(slot) := order.io.ahead }
      .elsewhen(known(slot) && justAnswered(slot)) { ahead(slot) := ahead(slot) - 1.U }
    sameIdBefore(slot) := sameIdBefore(slot) & ~enters // an earlier occupant of a slot is not the entering one
    when(enters(slot)) {
      ahead(slot) := 0.U
      ids(slot) := io.region.bits.id
      sameIdBefore(slot) := used & VecInit(ids.map(_ === io.region.bits.id)).asUInt
    }
  }

  // A slot that may be answered is registered here. If region and memory both can answer, they take turns.
  private val noneAhead = VecInit(ahead.map(_ === 0.U)).asUInt
  assert(!(used & known & noneAhead & justAnswered).orR, "a write into the region was overtaken")
  private val answerable =
    used & known & noneAhead & done & ~VecInit(sameIdBefore.map(older => (older & used).orR)).asUInt
  private val leaves = RegInit(0.U(slots.W))
  private val held = Reg(new Axi4WriteResponse(p.memory))
  private val regionWasLast = RegInit(false.B)
  private val regionResponds = leaves.orR && !regionWasLast
  private val regionFires = regionResponds && io.response.ready
  private val chosen = OneHot.onlyIf(!leaves.orR, OneHot.first(answerable, slots))
  regionWasLast := regionFires
  when(regionFires) { leaves := 0.U }.elsewhen(chosen.orR) { leaves := chosen }
  when(!leaves.orR) {
    held.id := Mux1H(chosen, ids)
    held.resp := Mux1H(chosen, resps)
  }
  done := (done & ~chosen) | ended | applied
  used := (used & ~OneHot.onlyIf(regionFires, leaves)) | enters
  io.idle := outstanding === 0.U && !used.orR
  io.response.valid := regionResponds || (forWrite && !memoryWaits)
  io.response.bits := Mux(regionResponds, held, io.memoryResponse.bits)
  io.memoryResponse.ready := !expected || (io.response.ready && !regionResponds && !memoryWaits)
}

object RegionWriteSink {

  /** Memories of this unit. */
  val memories: Seq[Int] = FaultMemory(Seq("write_order", "region_writes", "acknowledges"))
}
