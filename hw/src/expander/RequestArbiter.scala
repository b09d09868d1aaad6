// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Address, Beats}
import anemone.nemo.{LineRead, MemoryEvent, NearOutcome}
import chisel3._
import chisel3.util._

/** One beat of a telemetry read: who gets the line, and whether there is one. */
class TelemetryBeat(p: ExpanderParams) extends Bundle {
  val id = UInt(p.memory.idBits.W)
  val last = Bool()

  /** `Okay`: the engine was asked for the line. */
  val resp = UInt(2.W)
}

/** Gives a channel's requests their one order: a request a cycle, read or write, to memory or to the telemetry.
  *
  * AR and AW take turns. The beats of a burst are one event or one telemetry line each, a cycle each, and the next
  * request waits behind them: a burst needs as many cycles of data. A telemetry read that the engine can't take yet
  * leaves the cycles empty in which it has the turn, so that the engine can catch up.
  *
  * A request for an address past the device goes to memory, but is no event.
  *
  * `ar.ready` and `aw.ready` depend on what is offered; `memoryRead` and `memoryWrite` want a [[RegisterSlice]] behind
  * them. Latency: none, a request's event is in the cycle in which it is accepted.
  */
class RequestArbiter(p: ExpanderParams) extends Module {
  val io = IO(new Bundle {
    val ar = Flipped(Decoupled(new Axi4Address(p.memory)))
    val aw = Flipped(Decoupled(new Axi4Address(p.memory)))
    val windows = Input(new Windows(p))
    val channel = Input(UInt(p.nemo.channelBits.W))

    val memoryRead = Decoupled(new Axi4Address(p.memory))
    val memoryWrite = Decoupled(new Axi4Address(p.memory))

    /** A write into the telemetry region: the id that waits for an answer. */
    val droppedWrite = Decoupled(UInt(p.memory.idBits.W))
    val event = Valid(new MemoryEvent(p.nemo))

    /** The engine takes a read in this cycle. */
    val open = Input(Bool())
    val read = Valid(new LineRead(p.nemo))

    /** There is room to keep a telemetry line, and another read may be under way. */
    val room = Input(Bool())
    val readable = Input(Bool())
    val telemetry = Valid(new TelemetryBeat(p))

    /** A memory read or a telemetry beat of this id is under way from here on. */
    val issue = Valid(UInt(p.memory.idBits.W))
  })

  // The burst that still has beats.
  private val beats = RegInit(0.U(p.memory.lenBits.W))
  private val transfer = Reg(new Axi4Address(p.memory))
  private val write = Reg(Bool())
  private val telemetry = Reg(Bool())
  private val busy = beats =/= 0.U

  private val decoder = Module(new RegionDecoder(p))
  private val reading = Mux(busy, transfer, io.ar.bits)
  decoder.io.address := reading.addr
  decoder.io.windows := io.windows
  decoder.io.channel := io.channel
  private val toRegion = decoder.io.hit
  private val dropped = RegionDecoder.hit(io.windows, io.aw.bits.addr, p)

  private val answerable = io.open && io.room && io.readable
  private val readCan = io.ar.valid && !busy && Mux(toRegion, answerable, io.memoryRead.ready && io.readable)
  private val writeCan = io.aw.valid && !busy && Mux(dropped, io.droppedWrite.ready, io.memoryWrite.ready)
  private val readsTurn = RegInit(true.B)
  private val waits = io.ar.valid && toRegion && !answerable && readsTurn && !busy
  private val picksRead = readCan && (readsTurn || !writeCan)
  private val picksWrite = writeCan && !(readCan && readsTurn) && !waits
  when(picksWrite) { readsTurn := true.B }.elsewhen(picksRead || waits) { readsTurn := false.B }

  io.ar.ready := picksRead
  io.aw.ready := picksWrite
  io.memoryRead.valid := picksRead && !toRegion
  io.memoryRead.bits := io.ar.bits
  io.memoryWrite.valid := picksWrite && !dropped
  io.memoryWrite.bits := io.aw.bits
  io.droppedWrite.valid := picksWrite && dropped
  io.droppedWrite.bits := io.aw.bits.id

  // The beat of this cycle.
  private val current = Mux(busy, transfer, Mux(picksWrite, io.aw.bits, io.ar.bits))
  private val answers = Mux(busy, telemetry && answerable, picksRead && toRegion)
  private val moves = picksRead || (picksWrite && !dropped) || (busy && (!telemetry || answers))
  when(moves) {
    beats := Mux(busy, beats - 1.U, current.len)
    transfer := current
    transfer.addr := Beats.next(current, current.addr, p.memory)
    when(!busy) {
      write := picksWrite
      telemetry := toRegion && !picksWrite
    }
  }

  io.event.valid := Mux(busy, !telemetry, (picksRead && !toRegion) || (picksWrite && !dropped)) &&
    (current.addr >> p.nemo.addressBits) === 0.U
  io.event.bits.address := current.addr
  io.event.bits.write := Mux(busy, write, picksWrite)
  // Of a request that is only just accepted nothing more is known; see TieredMemory.
  io.event.bits.near.foreach(_ := NearOutcome.Any.U)

  // A burst of beats narrower than a line would read its lines several times, and apply the effect as often.
  private val narrow = reading.size =/= 6.U && reading.len =/= 0.U
  private val resp =
    Mux(!toRegion || decoder.io.refused, Axi4.Resp.DecErr.U, Mux(narrow, Axi4.Resp.SlvErr.U, Axi4.Resp.Okay.U))
  io.telemetry.valid := answers
  io.telemetry.bits.id := reading.id
  io.telemetry.bits.last := Mux(busy, beats === 1.U, reading.len === 0.U)
  io.telemetry.bits.resp := resp
  io.read.valid := answers && resp === Axi4.Resp.Okay.U
  io.read.bits := decoder.io.target
  io.issue.valid := answers || (picksRead && !toRegion)
  io.issue.bits := reading.id
}
