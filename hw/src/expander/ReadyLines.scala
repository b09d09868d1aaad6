// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4ReadData
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

    /** Memory's next answer has this id, and a line is ahead of it. */
    val memoryId = Input(UInt(p.memory.idBits.W))
    val memoryWaits = Output(Bool())
    val out = Decoupled(new Axi4ReadData(p.memory))
  })
  private val used = RegInit(VecInit(Seq.fill(places)(false.B)))
  private val filled = Reg(Vec(places, Bool()))
  private val entries = Reg(Vec(places, new ReadyBeat(p)))
  private val data = Reg(Vec(places, UInt((p.memory.dataBits + 1).W)))

  // One of an id at most has nothing ahead of it.
  private val turn = used.zip(entries).map { case (used, entry) => used && entry.ahead === 0.U }
  private val may = VecInit(turn.zip(filled).map { case (turn, filled) => turn && filled }).asUInt

  // Those behind the one that left last go first.
  private val behind = RegInit(0.U(places.W))
  private val next = Mux((may & behind).orR, may & behind, may)
  private val leaves = PriorityEncoderOH(next)
  when(io.out.fire) { behind := ~(leaves | (leaves - 1.U)) }
  private val line = Mux1H(leaves, data)
  private val leaving = Mux1H(leaves, entries).beat
  io.out.valid := may.orR
  io.out.bits.id := leaving.id
  io.out.bits.data := line
  io.out.bits.user := line(p.memory.dataBits)
  io.out.bits.resp := leaving.resp
  io.out.bits.last := leaving.last

  private val free = PriorityEncoderOH(used.map(!_))
  private val arrives = ShiftRegister(VecInit(free).asUInt, 2)
  private val came = ShiftRegister(io.in.valid, 2, false.B, true.B)
  assert(!io.in.valid || !used.reduce(_ && _), "a telemetry line without a place")
  for (i <- 0 until places) {
    val answered = io.answer.valid && io.answer.bits === entries(i).beat.id
    when(answered) { entries(i).ahead := entries(i).ahead - 1.U }
    when(io.out.fire && leaves(i)) { used(i) := false.B }
    assert(!(answered && turn(i)) || (io.out.fire && leaves(i)), "a telemetry line was overtaken")
    when(came && arrives(i)) {
      filled(i) := true.B
      data(i) := io.data
    }
    when(io.in.valid && free(i)) {
      used(i) := true.B
      filled(i) := false.B
      entries(i) := io.in.bits
      val same = io.answer.valid && io.answer.bits === io.in.bits.beat.id
      entries(i).ahead := io.in.bits.ahead - same
    }
  }
  io.memoryWaits := turn.zip(entries).map { case (turn, entry) => turn && entry.beat.id === io.memoryId }.reduce(_ || _)
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
