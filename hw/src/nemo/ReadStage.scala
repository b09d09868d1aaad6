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

  private def joined[T <: Data](part: LinePart => T): T =
    io.parts.map(part(_).asUInt).reduce(_ | _).asTypeOf(part(io.parts.head))

  // The slot right before the read is one stage behind the others, so its value arrives when theirs were registered.
  private def arrived[T <: Data](part: LinePart => Vec[T]): Seq[T] =
    joined(l => part(l).head) +: (1 until UpdateStage.window).map(d => RegNext(joined(l => part(l)(d))))

  private val stored = RegNext(joined(_.stored))
  private val hits = arrived(_.hits)
  private val inFlight = arrived(_.inFlight)
  private val words = stored.zipWithIndex.map { case (word, k) =>
    hits.zip(inFlight).map { case (h, v) => Mux(h(k), v.data, 0.U) }.foldLeft(word.data)(_ | _)
  }
  private val badStored = stored.map(word => word.data.xorR ^ word.parity).reduce(_ || _)
  private val bad = hits.zip(inFlight).map { case (h, v) => h.orR && v.bad }.foldLeft(badStored)(_ || _)

  private val reading = RegNext(io.slot.read, false.B)
  private val gather = RegNext(io.slot.walk && io.slot.word =/= 0.U)
  private val last = RegNext(!io.slot.walk || io.slot.word === (p.lineWords - 1).U)
  private val line = Reg(new Line(p))
  for (k <- 0 until p.lineWords) {
    line.words(k) := words(k) | Mux(gather, line.words(k), 0.U)
  }
  line.poison := bad || (gather && line.poison)

  io.line.valid := RegNext(reading && last, false.B)
  io.line.bits := line
  io.pipeline := ShiftRegister(io.slot.target.pipeline, ReadStage.latency)
}

object ReadStage {
  val latency: Int = 2
}
