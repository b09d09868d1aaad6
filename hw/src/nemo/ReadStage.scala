// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The telemetry read path of one channel: joins what the pipelines contribute to a line.
  *
  * Words whose newest value was on its way to the state array when the read came are taken from there, as they pass the
  * write of the pipeline that is read. A walk's words arrive a slot apart and are gathered.
  *
  * Latency: [[ReadStage.latency]] cycles from `slot` to `line`; a line a cycle.
  */
class ReadStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {

    /** The slot as the update stages have it; its parts come [[UpdateStage.partLatency]] cycles later. */
    val slot = Input(new Slot(p))
    val parts = Input(Vec(p.pipelines, new LinePart(p)))
    val line = Valid(new Line(p))

    /** The pipeline that `line` came from. */
    val pipeline = Output(UInt(p.pipelineBits.W))
  })
  private val slots = Seq.iterate(io.slot, UpdateStage.window)(Slot.delayed(_, 1))
  private val slot = slots(UpdateStage.partLatency)

  private def joined(of: LinePart => UInt): UInt = io.parts.map(of).reduce(_ | _)

  // The slot d before the read is written 4 - d cycles behind the read's own.
  private def passing[T <: Data](d: Int, of: LinePart => T): T =
    NemoParams.pick(VecInit(io.parts.map(of)), slots(UpdateStage.window - d).target.pipeline)
  private def value(d: Int): InFlight = ShiftRegister(passing(d, _.result), d - 1)
  private val joinedHits = Seq.tabulate(UpdateStage.window)(d => joined(_.hits(d)))
  private def hit(d: Int): UInt = joinedHits(d - 1)

  // That of three before is there with what is stored, and has its parity; the others join them in the next cycle.
  private val third = RegNext(passing(3, part => Cat(part.parity, part.result.data)))
  private val words = Seq.tabulate(p.lineWords) { k =>
    RegEnable(joined(_.stored(k).asUInt) | Mux(hit(3)(k), third, 0.U), slot.read).asTypeOf(new StateWord(p))
  }
  private val badStored = words.map(word => word.data.xorR ^ word.parity).reduce(_ || _)
  private val others = Seq(1, 2, 4)
  private val values = others.map(value)
  private val hits = others.map(d => RegEnable(hit(d), slot.read))
  private val badNewest = hits.zip(values).map { case (hit, value) => hit.orR && value.bad }.reduce(_ || _)

  // Which of them has a word's newest value: a number, as one look-up of words and values is then a bit of the line.
  private def whole(k: Int): UInt = {
    val newest = RegEnable(VecInit(hit(1)(k) || hit(4)(k), hit(2)(k) || hit(4)(k)).asUInt, slot.read)
    words(k).data | MuxLookup(newest, 0.U)((1 to 3).map(i => i.U -> values(i - 1).data))
  }

  private val reading = RegNext(slot.read, false.B)
  private val walk = RegNext(slot.walk)
  private val word = RegNext(slot.word)
  private val gather = walk && word =/= 0.U
  private val last = !walk || word === (p.lineWords - 1).U
  private val line = Reg(new Line(p))
  when(reading) {
    for (k <- 0 until p.lineWords) {
      when(!walk || word === k.U) { line.words(k) := whole(k) }
    }
    line.poison := badStored || badNewest || (gather && line.poison)
  }

  io.line.valid := RegNext(reading && last, false.B)
  io.line.bits := line
  io.pipeline := ShiftRegister(slot.target.pipeline, 2)
}

object ReadStage {
  val latency: Int = UpdateStage.partLatency + 2
}
