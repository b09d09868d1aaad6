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
  private def kept(of: LinePart => UInt): UInt = RegEnable(joined(of), slot.read)

  private val stored = Seq.tabulate(p.lineWords)(k => kept(_.stored(k).data))
  private val parities = Seq.tabulate(p.lineWords)(k => kept(_.stored(k).parity))
  private val hits = Seq.tabulate(UpdateStage.window)(d => kept(_.hits(d)))

  // The slot d before the read is written 4 - d cycles behind the read's own.
  private val passing = VecInit(io.parts.map(_.result))
  private val values = Seq.tabulate(UpdateStage.window) { d =>
    ShiftRegister(NemoParams.pick(passing, slots(UpdateStage.window - 1 - d).target.pipeline), d)
  }
  private val words = stored.zipWithIndex.map { case (word, k) =>
    hits.zip(values).map { case (hit, value) => Mux(hit(k), value.data, 0.U) }.foldLeft(word)(_ | _)
  }
  private val badStored = stored.zip(parities).map { case (word, parity) => word.xorR ^ parity }.reduce(_ | _)
  private val badInFlight = hits.zip(values).map { case (hit, value) => hit.orR && value.bad }.reduce(_ || _)

  private val reading = RegNext(slot.read, false.B)
  private val walk = RegNext(slot.walk)
  private val word = RegNext(slot.word)
  private val gather = walk && word =/= 0.U
  private val last = !walk || word === (p.lineWords - 1).U
  private val line = Reg(new Line(p))
  when(reading) {
    for (k <- 0 until p.lineWords) {
      when(!walk || word === k.U) { line.words(k) := words(k) }
    }
    line.poison := badStored.asBool || badInFlight || (gather && line.poison)
  }

  io.line.valid := RegNext(reading && last, false.B)
  io.line.bits := line
  io.pipeline := ShiftRegister(slot.target.pipeline, 2)
}

object ReadStage {
  val latency: Int = UpdateStage.partLatency + 2
}
