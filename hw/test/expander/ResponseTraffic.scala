// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4
import chiseltest._
import org.scalatest.Assertions
import scala.collection.mutable
import scala.util.Random

/** Random reads through a [[TelemetryReorderBuffer]] between a memory and an engine, and a check of all outputs. */
class ResponseTraffic(dut: TelemetryReorderBuffer, p: ExpanderParams, load: Load, random: Random) extends Assertions {
  private val reads = new PlainReads(load, random)
  // Beats of earlier cycles.
  private val lookedUp = mutable.Queue.fill(SameIdTracker.latency)(Option.empty[PlainRead])
  private val lines = mutable.Queue[(Int, PlainRead)]() // the engine's lines, and the cycles in which they come
  private var (cycle, number) = (0, 0)
  private var answered = Option.empty[Int] // in the last cycle
  private val inside = mutable.Queue[PlainRead]() // memory's responses
  private var run = 0 // memory beats since a line is ready

  /** Responses, and the cases that they met. */
  var (memory, refused, poisoned, memoryWaited, lineWaited, full) = (0, 0, 0, 0, 0, 0)
  var okay = 0
  def answers: Int = memory + okay + refused

  private def maybe(chance: Double) = random.nextDouble() < chance

  /** At most one read is issued. */
  private def issue(): Option[PlainRead] = {
    val available = dut.io.available.peekBoolean()
    if (!maybe(load.reads) || reads.count >= p.readsInFlight) None
    else {
      val (memory, bad) = (maybe(load.memory), maybe(load.refused))
      // A memory read reaches memory one cycle later; its response comes back two cycles later, after a register.
      val due = cycle + 1 + (if (memory) 2 + random.nextInt(load.latency) else 0)
      val resp = if (bad) Axi4.Resp.DecErr else Axi4.Resp.Okay
      if (!memory && !available) full += 1
      Option.when(memory || available)(new PlainRead(random.nextInt(load.ids), memory, due, number, resp))
    }
  }

  private def step(generate: Boolean): Unit = {
    // A beat, and the reads ahead of an earlier one.
    val issued = if (generate) issue() else None
    number += issued.size
    val beat = issued.filter(!_.memory)
    dut.io.beat.valid.poke(beat.nonEmpty)
    beat.foreach(_.poke(dut.io.beat.bits))
    lookedUp.enqueue(beat)
    val found = lookedUp.dequeue()
    val ahead = found.fold(random.nextInt(p.readsInFlight))(reads.ahead)
    dut.io.ahead.poke(ahead)
    dut.io.noneAhead.poke(ahead == 0)

    // The engine's line.
    val line = lines.headOption.filter(_._1 <= cycle).map(_ => lines.dequeue()._2)
    dut.io.line.valid.poke(line.nonEmpty)
    for (read <- line) {
      dut.io.line.bits.words.zip(read.words).foreach { case (to, word) => to.poke(word) }
      dut.io.line.bits.poison.poke(read.poison)
      read.arrived = Some(cycle)
    }

    // Memory's responses enter, and responses leave: for each id in the order of its reads.
    val offer = reads.memoryOffers(cycle)
    dut.io.memory.valid.poke(offer.nonEmpty)
    offer.foreach(_.poke(dut.io.memory.bits))
    val taken = maybe(load.taken)
    dut.io.out.ready.poke(taken)
    val waits = inside.headOption.exists(read => !reads.first(read.id).contains(read))
    if (waits) memoryWaited += 1
    // A line is ready when it has come and has been next in order for the latency of its fetch.
    val could = reads.recordFirst(cycle).filter(line => !line.okay || line.arrived.nonEmpty)
    val late = could.filter(line => line.firstSince.get + 10 <= cycle && line.arrived.forall(_ + 6 <= cycle))
    if ((inside.nonEmpty && !waits) || late.nonEmpty) dut.io.out.valid.expect(true, "a cycle is lost")
    val leaving = Option.when(dut.io.out.valid.peekBoolean())(dut.io.out.bits.beat.id.peekInt().toInt)
    for (id <- leaving) {
      val first = reads.first(id)
      assert(first.nonEmpty, s"an answer of id $id that nobody waits for")
      if (first.get.memory) assert(inside.headOption == first, "memory's answer of an id before the line ahead of it")
      else assert(!first.get.okay || first.get.arrived.exists(_ + 6 <= cycle), "a line before it can be there")
      first.get.expect(dut.io.out.bits)
    }
    val answer = leaving.filter(_ => taken)
    dut.io.answered.valid.expect(answered.nonEmpty)
    answered.foreach(dut.io.answered.bits.expect(_))
    found.foreach(read => dut.io.answersAsked.expect(answered.contains(read.id)))
    for (id <- answer) {
      if (!reads.first(id).get.memory || late.isEmpty) run = 0 else run += 1
      assert(run <= p.memoryRun, "memory passes a line again and again")
      if (reads.first(id).get.memory) inside.dequeue()
    }
    for (read <- offer if dut.io.memory.ready.peekBoolean()) {
      read.sent = true
      inside += read
    }

    for (read <- answer.map(reads.answer)) {
      if (read.memory) memory += 1 else if (read.okay) okay += 1 else refused += 1
      if (read.poison && !read.memory) poisoned += 1
      if (read.arrived.exists(_ + 20 < cycle)) lineWaited += 1
    }
    answered = answer
    issued.foreach(reads.issue)
    // Lines come in the order of their beats.
    for (read <- beat if read.okay) {
      val rmwSlots = if (maybe(load.serialRmws)) p.nemo.lineWords - 1 else 0
      lines += (((cycle + ChannelTraffic.engineLatency).max(lines.lastOption.fold(0)(_._1 + 1)) + rmwSlots, read))
    }
    dut.clock.step()
    cycle += 1
  }

  /** Sends reads for `cycles` cycles. Returns the mean responses per cycle, without the first cycles. */
  def run(cycles: Int, warm: Int = 0): Double = {
    for (_ <- 0 until warm) step(generate = true)
    val before = answers
    for (_ <- 0 until cycles) step(generate = true)
    (answers - before) / cycles.toDouble
  }

  /** Steps until all outstanding reads are answered. */
  def drain(): Unit = {
    val end = cycle + 40 * (reads.count + load.latency + 100)
    while (reads.count > 0) {
      assert(cycle < end, s"${reads.count} reads were lost")
      step(generate = false)
    }
    for (_ <- 0 until 20) step(generate = false)
  }
}
