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

    /** The slot as the update stages have it; its parts come behind it as [[LinePart]] says. */
    val slot = Input(new Slot(p))
    val parts = Input(Vec(p.pipelines, new LinePart(p)))
    val line = Valid(new Line(p))

    /** The pipeline that `line` came from. */
    val pipeline = Output(UInt(p.pipelineBits.W))
  })
  private val slots = Seq.iterate(io.slot, ReadStage.latency)(Slot.delayed(_, 1))
  private def joined(of: LinePart => UInt): UInt = io.parts.map(of).reduce(_ | _)

  /** A register that is of use behind `slots(n)` alone. */
  private def kept[T <: Data](value: T, n: Int): T = RegEnable(value, slots(n).read)
  private def joinedValue(of: LinePart => InFlight): InFlight = joined(of(_).asUInt).asTypeOf(new InFlight(p))

  // Which slot before has a word's newest value.
  private val hits = Seq.tabulate(UpdateStage.window)(d => joined(_.hits(d)))
  private val newest = hits.zip(hits.scanLeft(0.U(p.lineWords.W))(_ | _)).map { case (hit, younger) => hit & ~younger }
  private def inCycle(n: Int, hit: UInt): UInt = (UpdateStage.partLatency until n).foldLeft(hit)(kept(_, _))

  // A value is copied to its words, zero in the others, and joins them by OR. That of four before is early enough to join
  // with what is stored, and has its parity.
  private def copies[T <: Data](value: T, hit: UInt, n: Int): Seq[T] =
    Seq.tabulate(p.lineWords)(k => kept(Mux(hit(k), value, 0.U.asTypeOf(value)), n))
  private val fourth = copies(joined(_.fourth.asUInt), newest(3), 1)
  private val words = fourth.zipWithIndex.map { case (copy, k) =>
    kept(joined(_.stored(k).asUInt) | copy, 2).asTypeOf(new StateWord(p))
  }
  private val (third, second) = (joinedValue(_.third), joinedValue(_.second))
  private val (thirdHit, secondHit) = (inCycle(3, newest(2)), inCycle(3, newest(1)))
  private val (thirds, seconds) = (copies(third.data, thirdHit, 3), copies(second.data, secondHit, 3))
  private val bad = kept(
    words.map(word => word.data.xorR ^ word.parity).reduce(_ || _) ||
      (thirdHit.orR && third.bad) || (secondHit.orR && second.bad),
    3
  )
  private val (first, firstHit) = (joinedValue(_.first), inCycle(4, newest(0)))
  private def whole(k: Int): UInt =
    kept(words(k).data, 3) | thirds(k) | seconds(k) | Mux(firstHit(k), first.data, 0.U)

  private val slot = slots(4)
  private val gather = slot.walk && slot.word =/= 0.U
  private val last = !slot.walk || slot.word === (p.lineWords - 1).U
  private val line = Reg(new Line(p))
  when(slot.read) {
    for (k <- 0 until p.lineWords) {
      when(!slot.walk || slot.word === k.U) { line.words(k) := whole(k) }
    }
    line.poison := bad || (firstHit.orR && first.bad) || (gather && line.poison)
  }

  io.line.valid := RegNext(slot.read && last, false.B)
  io.line.bits := line
  io.pipeline := RegNext(slot.target.pipeline)
}

object ReadStage {
  val latency: Int = UpdateStage.partLatency + 4
}
