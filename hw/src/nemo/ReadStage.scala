// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The telemetry read path of one channel: joins what the pipelines contribute to a line.
  *
  * Words whose newest value was on its way to the state array when the read came are taken from there, as they pass the
  * write of the pipeline that is read. A walk's words arrive a slot apart and are gathered. A line that is read to be
  * acknowledged is not valid, and stays until the next read: what is put to its words is none.
  *
  * Latency: [[ReadStage.latency]] cycles from `slot` to `line`, which is not registered again; a line a cycle.
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
  private val asked = WireDefault(io.slot)
  asked.read := io.slot.read && !(io.slot.takes && io.slot.walks)
  asked.walk := io.slot.walk && !io.slot.takes
  private val slots = Seq.iterate(asked, ReadStage.latency + 1)(Slot.delayed(_, 1))
  private def joined(of: LinePart => UInt): UInt = io.parts.map(of).reduce(_ | _)

  /** A register that is of use behind `slots(n)` alone. */
  private def kept[T <: Data](value: T, n: Int): T = RegEnable(value, slots(n).read)
  private def joinedValue(of: LinePart => InFlight): InFlight = joined(of(_).asUInt).asTypeOf(new InFlight(p))

  /** The same of one word: it holds what it has while a walk goes on to the others. */
  private def keptWord[T <: Data](value: T, k: Int, n: Int): T =
    RegEnable(value, slots(n).read && (!slots(n).walks || slots(n).word === k.U))
  private def goesOn(n: Int): Bool = slots(n).walks && slots(n).word =/= 0.U

  // Which slot before has a word's newest value.
  private val own = Mux(slots(1).walks, UIntToOH(slots(1).word, p.lineWords), Fill(p.lineWords, 1.U))
  private val hits = Seq.tabulate(UpdateStage.window) { d =>
    val hit = joined(_.hits(d).asUInt).asTypeOf(new LineHit(p))
    Mux(hit.valid, own & Mux(hit.whole, Fill(p.lineWords, 1.U), UIntToOH(hit.word, p.lineWords)), 0.U)
  }
  private val newest = hits.zip(hits.scanLeft(0.U(p.lineWords.W))(_ | _)).map { case (hit, younger) => hit & ~younger }
  private def inCycle(n: Int, hit: UInt): UInt = (UpdateStage.partLatency until n).foldLeft(hit)(kept(_, _))

  // A value is copied to its words, zero in the others, and joins them by OR. That of four before is early enough to join
  // with what is stored, and has its parity; what is stored of words that slots behind it have is old.
  private def copies[T <: Data](value: T, hit: UInt, n: Int): Seq[T] =
    Seq.tabulate(p.lineWords)(k => keptWord(Mux(hit(k), value, 0.U.asTypeOf(value)), k, n))
  private val fourths = copies(joined(_.fourth.asUInt), newest(3), 1)
  private val old = inCycle(2, hits.init.reduce(_ | _))
  private val words = fourths.zipWithIndex.map { case (fourth, k) =>
    keptWord(Mux(old(k), 0.U, joined(_.stored(k).asUInt) | fourth), k, 2).asTypeOf(new StateWord(p))
  }
  private val (third, second) = (kept(joinedValue(_.third), 2), joinedValue(_.second))
  private val (thirdHit, secondHit) = (inCycle(3, newest(2)), inCycle(3, newest(1)))
  private val (thirds, seconds) = (copies(third.data, thirdHit, 3), copies(second.data, secondHit, 3))
  private val badStored = kept(words.map(word => word.bad).reduce(_ || _), 3)
  private val badLater = Reg(Bool())
  when(slots(3).read) {
    badLater := (thirdHit.orR && third.bad) || (secondHit.orR && second.bad) || (goesOn(3) && badLater)
  }

  // The slot right before a walk's is an event for its first word alone, so only that holds the value.
  private val slot = slots(4)
  private val (first, firstHit) = (joinedValue(_.first), inCycle(4, newest(0)))
  private val held = RegEnable(Mux(firstHit(0), first, 0.U.asTypeOf(first)), slot.read && !goesOn(4))
  assert(!(slot.read && goesOn(4) && firstHit.orR), "a walk met its own last word")
  private def newestFirst(k: Int): UInt = {
    val own = Mux(firstHit(k), first.data, 0.U)
    if (k == 0) Mux(goesOn(4), held.data, own) else own
  }
  for (k <- 0 until p.lineWords)
    io.line.bits.words(k) := kept(words(k).data, 3) | thirds(k) | seconds(k) | newestFirst(k)
  io.line.bits.poison := badStored || badLater || Mux(goesOn(4), held.bad, firstHit.orR && first.bad)
  io.line.valid := slot.read && !slot.takes && (!slot.walks || slot.word === (p.lineWords - 1).U)
  io.pipeline := slot.target.pipeline
}

object ReadStage {
  val latency: Int = UpdateStage.partLatency + 3
}
