// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Params}
import anemone.nemo.NemoParams
import chisel3._
import chisel3.util.DecoupledIO
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

/** The order that [[RequestArbiter]]'s scaladoc states, in plain Scala: one call per cycle. */
class PlainArbiter(p: ExpanderParams, channel: Int, windows: WindowBases) {

  /** The readys and the other gates of a cycle. */
  case class Ready(
      memoryRead: Boolean,
      memoryWrite: Boolean,
      dropped: Boolean,
      open: Boolean,
      line: Boolean,
      readable: Boolean
  )

  /** Expected outputs of a cycle. `beat`: id, last, response, and the request to the engine. */
  case class Seen(
      read: Boolean = false,
      write: Boolean = false,
      memoryRead: Boolean = false,
      memoryWrite: Boolean = false,
      dropped: Boolean = false,
      event: Option[(Int, Boolean)] = None,
      beat: Option[(Int, Boolean, Int, Option[(Int, Int, Boolean)])] = None,
      issue: Option[Int] = None
  )

  private var readNext = true
  private var burst = Option.empty[Boolean] // of memory: writes, or reads

  private def event(beat: Beat, write: Boolean) =
    Option.when(beat.addr < (1 << p.nemo.addressBits))((beat.addr, write))

  private def takes(beat: Beat, write: Boolean): Seen = {
    readNext = write
    burst = Option.when(!beat.region && !beat.last)(write)
    val id = beat.request.id
    if (write && beat.region) Seen(write = true, dropped = true)
    else if (write) Seen(write = true, memoryWrite = beat.first, event = event(beat, write))
    else if (beat.region) {
      val (resp, line) = beat.answer(windows, channel, p)
      Seen(read = true, beat = Some((id, beat.last, resp, line)), issue = Some(id))
    } else
      Seen(read = true, memoryRead = beat.first, event = event(beat, write), issue = Option.when(beat.first)(id))
  }

  def step(read: Option[Beat], write: Option[Beat], ready: Ready): Seen = {
    val answerable = ready.open && ready.line && ready.readable
    def readCan = read.exists(beat => if (beat.region) answerable else ready.memoryRead && ready.readable)
    def writeCan = write.exists(beat => if (beat.region) ready.dropped else ready.memoryWrite)
    // Only the engine keeps the read waiting.
    val waits = read.exists(_.region) && ready.line && ready.readable && !ready.open && readNext
    burst match {
      case Some(true)                  => takes(write.get, write = true)
      case Some(false)                 => takes(read.get, write = false)
      case None if readCan && readNext => takes(read.get, write = false)
      case None if waits               => readNext = false; Seen()
      case None if writeCan            => takes(write.get, write = true)
      case None if readCan             => takes(read.get, write = false)
      case None                        => Seen()
    }
  }
}

class RequestArbiterSpec extends AnyFlatSpec with ChiselScalatestTester {
  // A device of 16 KiB in an address space of 64 KiB; windows of 4 KiB, a quarter of which is no pipeline's.
  private val p = ExpanderParams(
    NemoParams(pipelines = 3, channels = 2, states = 64, table = 16, addressBits = 14),
    Axi4Params(addressBits = 16, idBits = 3, lenBits = 4),
    telemetryReads = 4,
    readsInFlight = 4
  )
  private val windows = WindowBases(effect = Some(0x8000), snapshot = Some(0xa000))

  /** Everything can be accepted. */
  private def open(dut: RequestArbiter): Unit = {
    Seq(dut.io.memoryRead.ready, dut.io.memoryWrite.ready, dut.io.regionWrite.ready).foreach(_.poke(true))
    Seq(dut.io.open, dut.io.available, dut.io.readable).foreach(_.poke(true))
    dut.io.channel.poke(0)
  }
  private def offer(to: DecoupledIO[RequestBeat], beat: Option[Beat]): Unit = {
    to.valid.poke(beat.nonEmpty)
    beat.foreach(_.poke(to.bits))
  }
  private def one(request: Request, write: Boolean = false): Option[Beat] =
    request.beats(windows, write, p).headOption

  private def event(dut: RequestArbiter): Option[(Int, Boolean)] =
    Option.when(dut.io.event.valid.peekBoolean()) {
      (dut.io.event.bits.address.peekInt().toInt, dut.io.event.bits.write.peekBoolean())
    }
  private def line(dut: RequestArbiter): Option[(Int, Int, Boolean)] =
    Option.when(dut.io.read.valid.peekBoolean()) {
      val read = dut.io.read.bits
      (read.pipeline.peekInt().toInt, read.line.peekInt().toInt, read.effect.peekBoolean())
    }

  /** Checks all outputs of a cycle. */
  private def check(dut: RequestArbiter, seen: PlainArbiter#Seen, read: Option[Beat], write: Option[Beat]): Unit = {
    val io = dut.io
    io.reads.ready.expect(seen.read)
    io.writes.ready.expect(seen.write)
    io.memoryRead.valid.expect(seen.memoryRead)
    io.memoryWrite.valid.expect(seen.memoryWrite)
    if (seen.memoryRead) assert(read.map(_.request).contains(Request.peek(io.memoryRead.bits)))
    if (seen.memoryWrite) assert(write.map(_.request).contains(Request.peek(io.memoryWrite.bits)))
    io.regionWrite.valid.expect(seen.dropped)
    if (seen.dropped) {
      io.regionWrite.bits.id.expect(write.get.request.id)
      io.regionWrite.bits.acknowledges.expect(write.get.acknowledges)
    }
    assert(event(dut) == seen.event)
    assert(line(dut) == seen.beat.flatMap(_._4))
    io.telemetry.valid.expect(seen.beat.nonEmpty)
    for ((id, last, resp, _) <- seen.beat) {
      io.telemetry.bits.id.expect(id)
      io.telemetry.bits.last.expect(last)
      io.telemetry.bits.resp.expect(resp)
    }
    io.issue.valid.expect(seen.issue.nonEmpty)
    seen.issue.foreach(io.issue.bits.expect(_))
  }

  /** Random requests and back-pressure for `cycles` cycles. Returns how often each case was seen. */
  private def runTraffic(dut: RequestArbiter, seed: Int, cycles: Int): Map[String, Int] = {
    val random = new Random(seed)
    def maybe(chance: Double) = random.nextDouble() < chance
    def base() = random.nextInt(16) * 4096
    val channel = seed % 2
    val effect = Option.when(seed > 1)(base())
    val windows = WindowBases(effect, if (seed > 3) effect else Some(base()), Option.when(seed > 2)(base()))
    val plain = new PlainArbiter(p, channel, windows)
    val count = mutable.Map[String, Int]().withDefaultValue(0)
    val (load, free) = (0.3 + 0.7 * random.nextDouble(), 0.5 + 0.5 * random.nextDouble())
    val reads, writes = mutable.Queue[Beat]()
    dut.io.channel.poke(channel)
    for (cycle <- 0 until cycles) {
      def more(beats: mutable.Queue[Beat], write: Boolean): Unit = if (beats.isEmpty && maybe(load)) {
        val bases = windows.bases ++ Seq.fill(2)(base())
        beats ++= Request.random(random, p, bases(random.nextInt(bases.length))).beats(windows, write, p)
      }
      more(reads, write = false)
      more(writes, write = true)
      val (read, write) = (reads.headOption, writes.headOption)
      offer(dut.io.reads, read)
      offer(dut.io.writes, write)
      def poked(ready: Bool): Boolean = {
        val value = maybe(free)
        ready.poke(value)
        value
      }
      val io = dut.io
      val seen = plain.step(
        read,
        write,
        plain.Ready(
          poked(io.memoryRead.ready),
          poked(io.memoryWrite.ready),
          poked(io.regionWrite.ready),
          poked(io.open),
          poked(io.available),
          poked(io.readable)
        )
      )
      withClue(s"seed $seed, cycle $cycle, $read, $write: ")(check(dut, seen, read, write))
      val names = Seq(
        "read" -> seen.memoryRead,
        "write" -> seen.memoryWrite,
        "dropped" -> (seen.dropped && !write.get.acknowledges),
        "past the device" -> ((seen.memoryRead || seen.memoryWrite) && seen.event.isEmpty),
        "later beat" -> (seen.event.nonEmpty && !seen.memoryRead && !seen.memoryWrite),
        "line" -> seen.beat.exists(_._4.nonEmpty),
        "refused" -> seen.beat.exists(_._3 == Axi4.Resp.DecErr),
        "parts" -> seen.beat.exists(_._3 == Axi4.Resp.SlvErr)
      )
      for ((name, true) <- names) count(name) += 1
      if (seen.read) reads.dequeue()
      if (seen.write) writes.dequeue()
      dut.clock.step()
    }
    count.toMap
  }

  behavior of "RequestArbiter"
  for (seed <- 1 to 4) {
    it should s"do as the plain one does, cycle for cycle, seed $seed" in {
      test(new RequestArbiter(p)) { dut =>
        val count = runTraffic(dut, seed, 8000)
        info(count.toSeq.sorted.mkString(", "))
        assert(count.size == 8 && count.values.forall(_ >= 5), "the traffic misses something")
      }
    }
  }

  it should "take AR and AW by turns, a request and its event every cycle" in {
    test(new RequestArbiter(p)) { dut =>
      open(dut)
      for (cycle <- 0 until 20) {
        offer(dut.io.reads, one(Request(1, 0x40 * cycle)))
        offer(dut.io.writes, one(Request(2, 0x40 * cycle)))
        assert(event(dut).contains((0x40 * cycle, cycle % 2 == 1)), "in the cycle in which it is taken")
        dut.io.reads.ready.expect(cycle % 2 == 0)
        dut.io.writes.ready.expect(cycle % 2 == 1)
        dut.clock.step()
      }
    }
  }

  it should "let a request wait behind the beats of a burst of memory, as many cycles" in {
    test(new RequestArbiter(p)) { dut =>
      open(dut)
      val beats = Request(2, 0x1fe4, beats = 4).beats(windows, write = true, p).map(Some(_)) :+ None
      dut.io.reads.valid.poke(false)
      val events = for ((beat, cycle) <- beats.zipWithIndex) yield {
        offer(dut.io.writes, beat)
        dut.io.reads.ready.expect(cycle == 4)
        val now = event(dut)
        dut.clock.step()
        offer(dut.io.reads, one(Request(1, 0x8000)))
        now
      }
      assert(events == Seq(0x1fe4, 0x2000, 0x2040, 0x2080).map(addr => Some((addr, true))) :+ None)
    }
  }

  it should "keep half the cycles free for an engine that can't take a read yet, and no more" in {
    test(new RequestArbiter(p)) { dut =>
      open(dut)
      dut.io.open.poke(false)
      offer(dut.io.reads, one(Request(1, 0x8000)))
      for (cycle <- 0 until 20) {
        offer(dut.io.writes, one(Request(2, 0x40 * cycle)))
        assert(event(dut).nonEmpty == (cycle % 2 == 1))
        dut.clock.step()
      }
      dut.io.open.poke(true)
      assert(line(dut).contains((0, 0, true)), "asked in the cycle in which the engine opens and it has the turn")
    }
  }

  for ((what, full) <- Seq[(String, RequestArbiter => Bool)](("room", _.io.available), ("a count", _.io.readable))) {
    it should s"let writes go in every cycle while a line, or a burst of lines, waits for $what" in {
      test(new RequestArbiter(p)) { dut =>
        open(dut)
        val lines = Request(1, 0x8000, beats = 3).beats(windows, write = false, p)
        offer(dut.io.reads, lines.headOption)
        dut.io.reads.ready.expect(true)
        dut.clock.step()
        full(dut).poke(false)
        offer(dut.io.reads, Some(lines(1)))
        for (cycle <- 0 until 20) {
          dut.io.open.poke(cycle % 3 > 0)
          offer(dut.io.writes, one(Request(2, 0x40 * cycle), write = true))
          assert(event(dut).contains((0x40 * cycle, true)), "a write that needs none of it is held back")
          dut.clock.step()
        }
      }
    }
  }

  it should "refuse a burst of parts of lines beat by beat, and read a part by itself" in {
    test(new RequestArbiter(p)) { dut =>
      open(dut)
      val parts = Request(1, 0xa080, beats = 3, size = 3).beats(windows, write = false, p)
      for ((part, beat) <- parts.zipWithIndex) {
        offer(dut.io.reads, Some(part))
        assert(line(dut).isEmpty)
        dut.io.telemetry.bits.resp.expect(Axi4.Resp.SlvErr)
        dut.io.telemetry.bits.last.expect(beat == 2)
        dut.clock.step()
      }
      offer(dut.io.reads, one(Request(1, 0xa088, size = 3)))
      assert(line(dut).contains((0, 1, false)))
      dut.io.telemetry.bits.last.expect(true)
    }
  }
}
