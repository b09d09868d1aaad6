// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4ReadData, BitPlanes, OneHot}
import chisel3._
import chisel3.util._

/** A beat that comes to [[ReadyLines]], a cycle before its data. */
class ReadyBeat(p: ExpanderParams) extends Bundle {
  val beat = new TelemetryBeat(p)

  /** Reads of its id that were ahead of it three cycles ago, those answered in that cycle aside; [[ReadyLines.ahead]] at
    * most.
    */
  val ahead = UInt(log2Ceil(ReadyLines.ahead + 1).W)
}

/** Telemetry lines that are about to leave: fetched before it is their turn, so that they can follow an answer of their
  * id in the very next cycle.
  *
  * One line is on offer, a register; it stays until it is taken. The next one is another that has its turn, or else the
  * one whose turn comes by the answer of this cycle: there is one at most, as that has one id. They take turns.
  *
  * Latency: a line can be on offer two cycles after `in`.
  */
class ReadyLines(p: ExpanderParams) extends Module {
  private val places = ReadyLines.places
  val io = IO(new Bundle {

    /** There is always a place: who asks counts those that left. */
    val in = Flipped(Valid(new ReadyBeat(p)))

    /** Poison and data of what came a cycle ago. */
    val data = Input(UInt((p.memory.dataBits + 1).W))

    /** The ids that were answered one and two cycles ago. */
    val answered = Input(Vec(2, Valid(UInt(p.memory.idBits.W))))
    val memory = Input(new MemoryHead(p))

    /** A read is answered in this cycle: by memory's head, or by the line on offer. */
    val memoryAnswers = Input(Bool())
    val taken = Input(Bool())
    val offer = Valid(new Axi4ReadData(p.memory))

    /** The line on offer has the id of memory's next head. */
    val offerIsNext = Output(Bool())

    /** A line of the id of memory's head had its turn a cycle ago, or was next but one. */
    val hadTurn = Output(Bool())
    val wasSecond = Output(Bool())
  })
  private def mask: UInt = RegInit(0.U(places.W))
  private val used = mask
  private val ids = new BitPlanes(places, p.memory.idBits)

  /** The lines that so many reads are ahead of. */
  private val distance = Seq.fill(ReadyLines.ahead + 1)(mask)
  private val (turn, second) = (distance(0), distance(1))

  /** By place, the lines of its id. */
  private val same = Seq.fill(places)(Reg(UInt(places.W)))

  private val free = mask
  private val enters = OneHot.onlyIf(io.in.valid, free)
  free := OneHot.first(~(used | enters), places)
  assert(!io.in.valid || free.orR, "a telemetry line without a place")
  private val id = io.in.bits.beat.id
  private val sameAsNew = ids.equal(id)
  ids.next(0.U, enters, id)
  for ((row, place) <- same.zipWithIndex)
    row := Mux(enters(place), sameAsNew, (row & ~enters) | OneHot.onlyIf(sameAsNew(place), enters))
  private val watch = new HeadWatch(ids, places, io.memory, enters, id)

  private val offered = RegInit(false.B)
  private val offer = mask
  private val sameAsOffer = VecInit(same.map(row => (row & offer).orR)).asUInt
  io.offerIsNext := watch.next(offer)
  private val left = OneHot.onlyIf(io.taken, offer)
  used := (used & ~left) | enters

  // Every answer of its id brings a line forward. Those of the cycles that it took to come here count now.
  private val forward = OneHot.onlyIf(io.memoryAnswers, watch.head) | OneHot.onlyIf(io.taken, sameAsOffer)
  assert((forward & turn & ~left) === 0.U, "a telemetry line was overtaken")
  private val counts = io.answered.map(answer => answer.valid && answer.bits === id) :+
    ((io.memoryAnswers && io.memory.isHead(id)) || (io.taken && (sameAsNew & offer).orR))
  private val came = counts.foldLeft(UIntToOH(io.in.bits.ahead, distance.length)) { (at, count) =>
    Mux(count, at >> 1, at)
  }
  for ((lines, k) <- distance.zipWithIndex) {
    val before = distance.lift(k + 1).getOrElse(0.U(places.W))
    val moved = (lines & ~forward) | (before & forward)
    lines := (moved & ~left & ~enters) | OneHot.onlyIf(came(k), enters)
  }
  io.hadTurn := RegNext(watch.next(turn))
  io.wasSecond := RegNext(watch.next(second))

  // Those behind the one that left before the one on offer go first.
  private val behind = mask
  private val others = turn & ~offer
  private val other = others.orR
  when(io.taken) { behind := OneHot.above(offer, places) }
  when(io.taken || !offered) {
    offer := Mux(other, OneHot.firstFrom(others, behind, places), forward & second)
    offered := other || (io.memoryAnswers && (watch.head & second).orR) || (io.taken && (sameAsOffer & second).orR)
  }

  // Read in the cycle in which it may leave: the RAM of look-up tables.
  private val beats = Mem(places, new TelemetryBeat(p))
  private val data = Mem(places, UInt((p.memory.dataBits + 1).W))
  when(io.in.valid) { beats.write(OHToUInt(free), io.in.bits.beat) }
  when(RegNext(io.in.valid, false.B)) { data.write(RegNext(OHToUInt(free)), io.data) }
  private val leaving = beats.read(OHToUInt(offer))
  private val line = data.read(OHToUInt(offer))
  io.offer.valid := offered
  io.offer.bits.id := leaving.id
  io.offer.bits.data := line
  io.offer.bits.user := line(p.memory.dataBits)
  io.offer.bits.resp := leaving.resp
  io.offer.bits.last := leaving.last
}

object ReadyLines {
  val places: Int = 20

  /** Places that only lines with nothing ahead take, so that those that wait for others never keep these out, nor slow
    * them down: they are as many as cycles from the pick of a line until its place is counted as free.
    */
  val reserved: Int = 7

  /** Answers a line may be away from its turn when it is fetched: as many as there can be while it is. */
  val ahead: Int = 7
}
