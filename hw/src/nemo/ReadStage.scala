// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The telemetry read path of one channel: joins what the pipelines contribute to a line.
  *
  * Only the pipeline that is read contributes, so contributions are joined by OR; words whose newest value was still
  * on its way to the state array come from there. A walk's words arrive a slot apart and are gathered.
  *
  * Latency: two cycles from `slot` and `parts` to `line`; a line a cycle.
  */
class ReadStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {

    /** The slot, delayed to arrive with its parts. */
    val slot = Input(new Slot(p))
    val parts = Input(Vec(p.pipelines, new LinePart(p)))
    val line = Valid(new Line(p))

    /** The pipeline that `line` came from. */
    val pipeline = Output(UInt(p.pipelineBits.W))
  })

  private def joined(of: LinePart => UInt): UInt = io.parts.map(of).reduce(_ | _)
  private def kept(of: LinePart => UInt): UInt = RegEnable(joined(of), io.slot.read)

  private val stored = Seq.tabulate(p.lineWords)(k => kept(_.stored(k).data))
  private val parities = Seq.tabulate(p.lineWords)(k => kept(_.stored(k).parity))

  // The slot right before the read is one stage behind the others, so its value arrives when theirs were kept.
  private def arrived(of: LinePart => Int => UInt): Seq[UInt] =
    joined(of(_)(0)) +: (1 until UpdateStage.window).map(d => kept(of(_)(d)))
  private val hits = arrived(part => d => part.hits(d))
  private val values = arrived(part => d => part.inFlight(d).data)
  private val bads = arrived(part => d => part.inFlight(d).bad)
  private val words = stored.zipWithIndex.map { case (word, k) =>
    hits.zip(values).map { case (hit, value) => Mux(hit(k), value, 0.U) }.foldLeft(word)(_ | _)
  }
  private val badStored = stored.zip(parities).map { case (word, parity) => word.xorR ^ parity }.reduce(_ | _)
  private val badInFlight = hits.zip(bads).map { case (hit, bad) => hit.orR & bad }.reduce(_ | _)

  private val reading = RegNext(io.slot.read, false.B)
  private val gather = RegNext(io.slot.walk && io.slot.word =/= 0.U)
  private val last = RegNext(!io.slot.walk || io.slot.word === (p.lineWords - 1).U)
  private val line = Reg(new Line(p))
  when(reading) {
    for (k <- 0 until p.lineWords) {
      line.words(k) := words(k) | Mux(gather, line.words(k), 0.U)
    }
    line.poison := badStored.asBool || badInFlight.asBool || (gather && line.poison)
  }

  io.line.valid := RegNext(reading && last, false.B)
  io.line.bits := line
  io.pipeline := ShiftRegister(io.slot.target.pipeline, ReadStage.latency)
}

object ReadStage {
  val latency: Int = 2
}
