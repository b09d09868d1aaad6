// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4ReadData, BitPlanes, OneHot}
import chisel3._
import chisel3.util._

/** A beat that comes to [[ReadyLines]], two cycles before its data. */
class ReadyBeat(p: ExpanderParams) extends Bundle {
  val beat = new TelemetryBeat(p)

  /** Reads of its id that are ahead of it, answers of this cycle aside; [[ReadyLines.ahead]] at most. */
  val ahead = UInt(log2Ceil(ReadyLines.ahead + 1).W)
}

/** Telemetry lines that are about to leave: fetched before it is their turn, so that they can follow an answer of their
  * id in the very next cycle.
  *
  * A line that has its turn leaves whatever the others wait for; of several, they take turns.
  *
  * Latency: a line can leave three cycles after `in`.
  */
class ReadyLines(p: ExpanderParams) extends Module {
  private val places = ReadyLines.places
  val io = IO(new Bundle {

    /** There is always a place: who asks counts those that left. */
    val in = Flipped(Valid(new ReadyBeat(p)))

    /** Poison and data of what came two cycles ago. */
    val data = Input(UInt((p.memory.dataBits + 1).W))

    /** A read of this id is answered in this cycle, by memory or from here. */
    val answer = Flipped(Valid(UInt(p.memory.idBits.W)))

    /** Memory's next answer has this id: it must wait for a line ahead of it. */
    val memoryId = Input(UInt(p.memory.idBits.W))
    val memoryWaits = Output(Bool())
    val out = Decoupled(new Axi4ReadData(p.memory))
  })
  private def mask: UInt = RegInit(0.U(places.W))
  private val (used, filled) = (mask, mask)
  private val ids = new BitPlanes(places, p.memory.idBits)
  private val ahead = new BitPlanes(places, io.in.bits.ahead.getWidth)

  // One of an id at most has nothing ahead of it. Those behind the one that left last go first.
  private val turn = used & ahead.atMost(0)
  private val may = turn & filled
  private val behind = mask
  private val leaves = OneHot.firstFrom(may, behind, places)
  private val left = OneHot.onlyIf(io.out.fire, leaves)
  when(io.out.fire) { behind := OneHot.above(leaves, places) }

  private val free = OneHot.first(~used, places)
  private val arrived = ShiftRegister(VecInit(free.asBools), 2).asUInt
  private val enters = OneHot.onlyIf(io.in.valid, free)
  private val fills = OneHot.onlyIf(ShiftRegister(io.in.valid, 2, false.B, true.B), arrived)
  assert(!io.in.valid || free.orR, "a telemetry line without a place")
  used := (used & ~left) | enters
  filled := (filled & ~enters) | fills

  private val answered = OneHot.onlyIf(io.answer.valid, used & ids.equal(io.answer.bits))
  assert((answered & turn & ~left) === 0.U, "a telemetry line was overtaken")
  ids.next(0.U, enters, io.in.bits.beat.id)
  ahead.next(
    answered,
    enters,
    io.in.bits.ahead - (io.answer.valid && io.answer.bits === io.in.bits.beat.id)
  )
  io.memoryWaits := (turn & ids.equal(io.memoryId)).orR

  // Read in the cycle in which it is known which: registers, or the RAM of look-up tables.
  private val beats = Mem(places, new TelemetryBeat(p))
  private val data = Mem(places, UInt((p.memory.dataBits + 1).W))
  when(io.in.valid) { beats.write(OHToUInt(free), io.in.bits.beat) }
  when(fills.orR) { data.write(OHToUInt(arrived), io.data) }
  private val leaving = beats.read(OHToUInt(leaves))
  private val line = data.read(OHToUInt(leaves))
  io.out.valid := may.orR
  io.out.bits.id := leaving.id
  io.out.bits.data := line
  io.out.bits.user := line(p.memory.dataBits)
  io.out.bits.resp := leaving.resp
  io.out.bits.last := leaving.last
}

object ReadyLines {
  val places: Int = 16

  /** Places that only lines with nothing ahead take, so that those that wait for others never keep these out, nor slow
    * them down: they are as many as cycles from the pick of a line to its leaving.
    */
  val reserved: Int = 6

  /** Answers a line may be away from its turn when it is fetched: as many as there can be while it is. */
  val ahead: Int = 5
}
