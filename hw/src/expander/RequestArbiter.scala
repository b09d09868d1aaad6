// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Address}
import anemone.nemo.{LineRead, MemoryEvent, NearOutcome}
import chisel3._
import chisel3.util._

/** One beat of a telemetry read: its id, and its response code. */
class TelemetryBeat(p: ExpanderParams) extends Bundle {
  val id = UInt(p.memory.idBits.W)
  val last = Bool()

  /** `Okay`: the line was requested from the engine. */
  val resp = UInt(2.W)

  /** All fields except the id. */
  def answer: UInt = Cat(last, resp)
}

object TelemetryBeat {

  /** Bits of [[TelemetryBeat.answer]]. */
  val answerBits: Int = 3

  def apply(p: ExpanderParams, id: UInt, answer: UInt): TelemetryBeat = {
    val beat = Wire(new TelemetryBeat(p))
    beat.id := id
    beat.last := answer(2)
    beat.resp := answer
    beat
  }
}

/** Puts a channel's requests into one order: one beat per cycle, read or write, to memory or to telemetry.
  *
  * Reads and writes alternate. The beats of a memory burst are one event each and go back to back, since their data
  * take as many cycles; the beats of a telemetry burst are arbitrated one by one. If the engine cannot take a telemetry
  * read yet, the read's turns stay empty so that the engine can catch up; if the read waits for anything else, writes
  * use its turns.
  *
  * A request past the device's end goes to memory but is no event.
  *
  * `reads.ready` and `writes.ready` mean that the beat goes in this cycle; they depend on what is offered. `memoryRead`
  * and `memoryWrite` need a [[RegisterSlice]] after them. Latency: none.
  */
class RequestArbiter(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val reads = Flipped(Decoupled(new RequestBeat(p)))
    val writes = Flipped(Decoupled(new RequestBeat(p)))
    val channel = Input(UInt(p.nemo.channelBits.W))

    val memoryRead = Decoupled(new Axi4Address(p.memory))
    val memoryWrite = Decoupled(new Axi4Address(p.memory))

    /** A write into the telemetry region. */
    val regionWrite = Decoupled(new RegionWrite(p))
    val event = Valid(new MemoryEvent(p.nemo))

    /** The engine accepts a read in this cycle. */
    val open = Input(Bool())
    val read = Valid(new LineRead(p.nemo))

    /** There is a buffer entry for a telemetry line; another read may be outstanding. */
    val available = Input(Bool())
    val readable = Input(Bool())
    val telemetry = Valid(new TelemetryBeat(p))

    /** A memory read or telemetry beat of this id is outstanding from now on. */
    val issue = Valid(UInt(p.memory.idBits.W))
  })
  private val (reading, writing) = (io.reads.bits, io.writes.bits)
  private val (readsRegion, writesRegion) = (reading.region.hit, writing.region.hit)

  // A memory burst in progress: only its beats go until its end.
  private val locked = RegInit(false.B)
  private val lockedByWrite = Reg(Bool())

  private val canBuffer = io.available && io.readable
  private val readCan = io.reads.valid && Mux(readsRegion, io.open && canBuffer, io.memoryRead.ready && io.readable)
  private val writeCan = io.writes.valid && Mux(writesRegion, io.regionWrite.ready, io.memoryWrite.ready)
  private val readNext = RegInit(true.B)
  private val waitsForEngine = io.reads.valid && readsRegion && canBuffer && !io.open && readNext
  private val picksRead = Mux(locked, !lockedByWrite, readCan && (readNext || !writeCan))
  private val picksWrite = Mux(locked, lockedByWrite, writeCan && !(readCan && readNext) && !waitsForEngine)
  when(picksWrite) { readNext := true.B }.elsewhen(picksRead || waitsForEngine) { readNext := false.B }
  locked := (picksRead && !readsRegion && !reading.last) || (picksWrite && !writing.last)
  lockedByWrite := picksWrite
  assert(!locked || Mux(lockedByWrite, io.writes.valid, io.reads.valid), "a burst without its next beat")

  io.reads.ready := picksRead
  io.writes.ready := picksWrite
  io.memoryRead.valid := picksRead && !readsRegion && reading.first
  io.memoryRead.bits := reading.transfer
  io.memoryWrite.valid := picksWrite && !writesRegion && writing.first
  io.memoryWrite.bits := writing.transfer

  private def line(beat: RequestBeat): LineDecoder = {
    val decoder = Module(new LineDecoder(p))
    decoder.io.address := beat.transfer.addr
    decoder.io.channel := io.channel
    decoder
  }
  private def fullLine(transfer: Axi4Address): Bool = transfer.size === 6.U
  private def oneBeat(transfer: Axi4Address): Bool = transfer.len === 0.U

  private val written = line(writing)
  io.regionWrite.valid := picksWrite && writesRegion
  io.regionWrite.bits.id := writing.transfer.id
  io.regionWrite.bits.acknowledges := writing.region.acknowledge && fullLine(writing.transfer) && oneBeat(
    writing.transfer
  )
  io.regionWrite.bits.refused := written.io.refused
  io.regionWrite.bits.pipeline := written.io.pipeline
  io.regionWrite.bits.line := written.io.line

  private def isEvent(beat: RequestBeat): Bool =
    !beat.region.hit && (beat.transfer.addr >> p.nemo.addressBits) === 0.U
  io.event.valid := (picksRead && isEvent(reading)) || (picksWrite && isEvent(writing))
  io.event.bits.address := Mux(picksWrite, writing.transfer.addr, reading.transfer.addr)
  io.event.bits.write := picksWrite
  // At acceptance the outcome in near is not known yet; see TieredMemory.
  io.event.bits.near.foreach(_ := NearOutcome.Any.U)

  // A burst of narrow beats would read each line several times and apply the effect as often, so it is refused.
  private val asked = line(reading)
  private val narrow = !fullLine(reading.transfer) && !oneBeat(reading.transfer)
  private val resp =
    Mux(asked.io.refused || reading.pastWindow, Axi4.Resp.DecErr.U, Mux(narrow, Axi4.Resp.SlvErr.U, Axi4.Resp.Okay.U))
  private val answers = picksRead && readsRegion
  io.telemetry.valid := answers
  io.telemetry.bits.id := reading.transfer.id
  io.telemetry.bits.last := reading.last
  io.telemetry.bits.resp := resp
  io.read.valid := answers && resp === Axi4.Resp.Okay.U
  io.read.bits.pipeline := asked.io.pipeline
  io.read.bits.line := asked.io.line
  io.read.bits.effect := reading.region.effect
  io.issue.valid := answers || io.memoryRead.valid
  io.issue.bits := reading.transfer.id
}
