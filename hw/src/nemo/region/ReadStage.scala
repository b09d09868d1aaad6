// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The read path of one channel: joins the contributions of all pipelines to a line.
  *
  * Words whose newest value is in flight come from the forwarding paths of the pipeline that is read. The words of a
  * serial RMW arrive one slot apart and are gathered. A line that is read for an acknowledge is not valid; it has only
  * the word of its slot, and the poison of all. The acknowledge's updates do not count as reads.
  *
  * Latency: [[ReadStage.latency]] cycles from `slot` to `line`, which has no register behind it; a line a cycle.
  */
class ReadStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {

    /** As the update stages have it; its contributions follow as [[LineContribution]] says. */
    val slot = Input(new Slot(p))
    val contributions = Input(Vec(p.pipelines, new LineContribution(p)))
    val line = Valid(new Line(p))

    /** The pipeline that `line` is of. */
    val pipeline = Output(UInt(p.pipelineBits.W))
  })
  private val request = WireDefault(io.slot)
  request.read := io.slot.read && !(io.slot.isAcknowledge && io.slot.isSerialRmw)
  request.serialRmw := io.slot.serialRmw && !io.slot.isAcknowledge
  private val slots = Seq.iterate(request, ReadStage.latency + 1)(Slot.delayed(_, 1))
  private def joined(of: LineContribution => UInt): UInt = io.contributions.map(of).reduce(_ | _)

  /** A register that is loaded behind `slots(n)` if that is a read. */
  private def hold[T <: Data](value: T, n: Int): T = RegEnable(value, slots(n).read)
  private def joinedValue(of: LineContribution => InFlight): InFlight = joined(of(_).asUInt).asTypeOf(new InFlight(p))

  /** The same for one word, which holds while a serial RMW goes on to the others. */
  private def holdWord[T <: Data](value: T, k: Int, n: Int): T =
    RegEnable(value, slots(n).read && (!slots(n).isSerialRmw || slots(n).word === k.U))
  private def continues(n: Int): Bool = slots(n).isSerialRmw && slots(n).word =/= 0.U

  // The slot before that has a word's newest value.
  private val slotWords = Mux(slots(1).isSerialRmw, UIntToOH(slots(1).word, p.lineWords), Fill(p.lineWords, 1.U))
  private val hits = Seq.tabulate(UpdateStage.hazardDepth) { d =>
    val hit = joined(_.hits(d).asUInt).asTypeOf(new LineHit(p))
    Mux(hit.valid, slotWords & Mux(hit.wholeLine, Fill(p.lineWords, 1.U), UIntToOH(hit.word, p.lineWords)), 0.U)
  }
  private val newest = hits.zip(hits.scanLeft(0.U(p.lineWords.W))(_ | _)).map { case (hit, younger) => hit & ~younger }
  private def delayedTo(n: Int, hit: UInt): UInt = (UpdateStage.contributionLatency until n).foldLeft(hit)(hold(_, _))

  // Each value is copied to the words that it belongs to and is zero in the others, so OR joins them. forward4 is early
  // enough to join the stored words, with its parity. Stored words that a later slot has in flight are old.
  private def copies[T <: Data](value: T, hit: UInt, n: Int): Seq[T] =
    Seq.tabulate(p.lineWords)(k => holdWord(Mux(hit(k), value, 0.U.asTypeOf(value)), k, n))
  private val forward4Words = copies(joined(_.forward4.asUInt), newest(3), 1)
  private val overwritten = delayedTo(2, hits.init.reduce(_ | _))
  private val words = forward4Words.zipWithIndex.map { case (forward4, k) =>
    holdWord(Mux(overwritten(k), 0.U, joined(_.stored(k).asUInt) | forward4), k, 2).asTypeOf(new StateWord(p))
  }
  private val (forward3, forward2) = (hold(joinedValue(_.forward3), 2), joinedValue(_.forward2))
  private val (forward3Hit, forward2Hit) = (delayedTo(3, newest(2)), delayedTo(3, newest(1)))
  private val (forward3Words, forward2Words) =
    (copies(forward3.data, forward3Hit, 3), copies(forward2.data, forward2Hit, 3))
  private val storedParityError = hold(words.map(word => word.parityError).reduce(_ || _), 3)
  private val forwardParityError = Reg(Bool())
  when(slots(3).read) {
    forwardParityError := (forward3Hit.orR && forward3.parityError) || (forward2Hit.orR && forward2.parityError) ||
      (continues(3) && forwardParityError)
  }

  // Within a serial RMW the slot before is never an event, so only the first word holds forward1.
  private val slot = slots(4)
  private val (forward1, forward1Hit) = (joinedValue(_.forward1), delayedTo(4, newest(0)))
  private val heldForward1 =
    RegEnable(Mux(forward1Hit(0), forward1, 0.U.asTypeOf(forward1)), slot.read && !continues(4))
  assert(!(slot.read && continues(4) && forward1Hit.orR), "a serial RMW met its own last word")
  private def newestForward1(k: Int): UInt = {
    val current = Mux(forward1Hit(k), forward1.data, 0.U)
    if (k == 0) Mux(continues(4), heldForward1.data, current) else current
  }
  // An acknowledge reads a word when nothing of the line is in flight, or only what forward4 has.
  private val wanted = Mux(slots(3).isAcknowledge, UIntToOH(slots(3).word, p.lineWords), Fill(p.lineWords, 1.U))
  for (k <- 0 until p.lineWords)
    io.line.bits.words(k) := hold(
      Mux(wanted(k), words(k).data, 0.U),
      3
    ) | forward3Words(k) | forward2Words(k) | newestForward1(k)
  io.line.bits.poison := storedParityError || forwardParityError || Mux(
    continues(4),
    heldForward1.parityError,
    forward1Hit.orR && forward1.parityError
  )
  io.line.valid := slot.read && !slot.isAcknowledge && (!slot.isSerialRmw || slot.word === (p.lineWords - 1).U)
  io.pipeline := slot.target.pipeline
}

object ReadStage {
  val latency: Int = UpdateStage.contributionLatency + 3
}
