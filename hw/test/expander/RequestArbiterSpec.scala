// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Address, Axi4Params}
import anemone.nemo.NemoParams
import chisel3._
import chisel3.util.DecoupledIO
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

/** The order that [[RequestArbiter]]'s scaladoc promises, a cycle a call, in plain Scala. */
class PlainArbiter(p: ExpanderParams, channel: Int) {

  /** What can be taken in a cycle. */
  case class Room(memoryRead: Boolean, memoryWrite: Boolean, dropped: Boolean, line: Boolean, readable: Boolean)

  /** What is to be seen in a cycle. `beat`: id, last, answer, and what the engine is asked for. */
  case class Seen(
      ar: Boolean = false,
      aw: Boolean = false,
      dropped: Boolean = false,
      memory: Boolean = false,
      event: Option[(Int, Boolean)] = None,
      beat: Option[(Int, Boolean, Int, Option[(Int, Int, Boolean)])] = None,
      issue: Option[Int] = None
  )

  private case class Beat(request: Request, addr: Int, write: Boolean, telemetry: Boolean, last: Boolean)
  private val beats = mutable.Queue[Beat]()
  private var readsTurn = true
  def busy: Boolean = beats.nonEmpty

  private def accept(request: Request, write: Boolean, telemetry: Boolean): Unit = {
    readsTurn = write
    val addresses = request.addresses
    for ((addr, i) <- addresses.zipWithIndex) beats += Beat(request, addr, write, telemetry, i == addresses.length - 1)
  }

  private def beat(places: Places): Seen = {
    val Beat(request, addr, write, telemetry, last) = beats.dequeue()
    if (telemetry) {
      val (resp, line) = places.answer(request, addr, channel, p)
      Seen(beat = Some((request.id, last, resp, line)), issue = Some(request.id))
    } else Seen(event = Some((addr, write)).filter(_._1 < (1 << p.nemo.addressBits)))
  }

  def step(ar: Option[Request], aw: Option[Request], room: Room, places: Places): Seen = {
    val answerable = room.line && room.readable
    if (busy) return if (beats.head.telemetry && !answerable) Seen() else beat(places)

    def region(request: Request) = places.find(request.addr, p).nonEmpty
    val readCan = ar.exists(read => if (region(read)) answerable else room.memoryRead && room.readable)
    val writeCan = aw.exists(write => if (region(write)) room.dropped else room.memoryWrite)
    val waits = ar.exists(region) && !answerable && readsTurn
    if (readCan && (readsTurn || !writeCan)) {
      val telemetry = region(ar.get)
      accept(ar.get, write = false, telemetry)
      beat(places).copy(ar = true, memory = !telemetry, issue = Some(ar.get.id))
    } else if (waits) {
      readsTurn = false
      Seen()
    } else if (writeCan && region(aw.get)) {
      readsTurn = true
      Seen(aw = true, dropped = true)
    } else if (writeCan) {
      accept(aw.get, write = true, telemetry = false)
      beat(places).copy(aw = true, memory = true)
    } else Seen()
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
  private val places = Places(effect = Some(0x8000), snapshot = Some(0xa000))

  /** Everything can be taken. */
  private def open(dut: RequestArbiter): Unit = {
    places.poke(dut.io.windows)
    Seq(dut.io.memoryRead.ready, dut.io.memoryWrite.ready, dut.io.droppedWrite.ready).foreach(_.poke(true))
    Seq(dut.io.open, dut.io.room, dut.io.readable).foreach(_.poke(true))
  }
  private def offer(to: DecoupledIO[Axi4Address], request: Option[Request]): Unit = {
    to.valid.poke(request.nonEmpty)
    request.foreach(_.poke(to.bits))
  }

  private def event(dut: RequestArbiter): Option[(Int, Boolean)] =
    Option.when(dut.io.event.valid.peekBoolean()) {
      (dut.io.event.bits.address.peekInt().toInt, dut.io.event.bits.write.peekBoolean())
    }
  private def line(dut: RequestArbiter): Option[(Int, Int, Boolean)] =
    Option.when(dut.io.read.valid.peekBoolean()) {
      val read = dut.io.read.bits
      (read.pipeline.peekInt().toInt, read.line.peekInt().toInt, read.effect.peekBoolean())
    }

  /** All that the unit says in a cycle is as expected. */
  private def check(dut: RequestArbiter, seen: PlainArbiter#Seen, ar: Option[Request], aw: Option[Request]): Unit = {
    val io = dut.io
    assert((ar.nonEmpty && io.ar.ready.peekBoolean()) == seen.ar, "ar.ready")
    assert((aw.nonEmpty && io.aw.ready.peekBoolean()) == seen.aw, "aw.ready")
    io.memoryRead.valid.expect(seen.memory && seen.ar)
    io.memoryWrite.valid.expect(seen.memory && seen.aw)
    if (seen.memory && seen.ar) assert(ar.contains(Request.peek(io.memoryRead.bits)))
    if (seen.memory && seen.aw) assert(aw.contains(Request.peek(io.memoryWrite.bits)))
    io.droppedWrite.valid.expect(seen.dropped)
    if (seen.dropped) io.droppedWrite.bits.expect(aw.get.id)
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

  /** Random requests and room for as many cycles; how often each thing was seen. */
  private def play(dut: RequestArbiter, seed: Int, cycles: Int): Map[String, Int] = {
    val random = new Random(seed)
    val channel = seed % 2
    val plain = new PlainArbiter(p, channel)
    val count = mutable.Map[String, Int]().withDefaultValue(0)
    val (load, free) = (0.3 + 0.7 * random.nextDouble(), 0.5 + 0.5 * random.nextDouble())
    def maybe(chance: Double) = random.nextDouble() < chance
    def base() = random.nextInt(16) * 4096
    var windows = places
    var ar, aw = Option.empty[Request]
    dut.io.channel.poke(channel)
    windows.poke(dut.io.windows)
    for (cycle <- 0 until cycles) {
      if (maybe(0.02)) {
        // Bits below the window's size are to be ignored; now and then both are at one place.
        val effect = Option.when(maybe(0.8))(base() + random.nextInt(4096))
        windows = Places(effect, if (maybe(0.3)) effect else Option.when(maybe(0.8))(base()))
        windows.poke(dut.io.windows)
      }
      def request() = {
        val bases = windows.effect.toSeq ++ windows.snapshot ++ Seq.fill(2)(base())
        Request.random(random, p, bases(random.nextInt(bases.length)) / 4096 * 4096)
      }
      if (ar.isEmpty && maybe(load)) ar = Some(request())
      if (aw.isEmpty && maybe(load)) aw = Some(request())
      offer(dut.io.ar, ar)
      offer(dut.io.aw, aw)
      def poked(ready: Bool): Boolean = {
        val value = maybe(free)
        ready.poke(value)
        value
      }
      val free3 = Seq(dut.io.memoryRead.ready, dut.io.memoryWrite.ready, dut.io.droppedWrite.ready).map(poked)
      val (engine, kept, readable) = (poked(dut.io.open), poked(dut.io.room), poked(dut.io.readable))
      val burst = plain.busy
      val seen = plain.step(ar, aw, plain.Room(free3(0), free3(1), free3(2), engine && kept, readable), windows)
      withClue(s"seed $seed, cycle $cycle, $ar, $aw: ")(check(dut, seen, ar, aw))
      val names = Seq(
        "read" -> (seen.ar && seen.memory),
        "write" -> (seen.aw && seen.memory),
        "dropped" -> seen.dropped,
        "past the device" -> (seen.memory && seen.event.isEmpty),
        "later beat" -> (burst && seen.event.nonEmpty),
        "later line" -> (burst && seen.beat.exists(_._4.nonEmpty)),
        "refused" -> seen.beat.exists(_._3 == Axi4.Resp.DecErr),
        "parts" -> seen.beat.exists(_._3 == Axi4.Resp.SlvErr)
      )
      for ((name, true) <- names) count(name) += 1
      if (seen.ar) ar = None
      if (seen.aw) aw = None
      dut.clock.step()
    }
    count.toMap
  }

  behavior of "RequestArbiter"
  for (seed <- 1 to 4) {
    it should s"do as the plain one does, cycle for cycle, seed $seed" in {
      test(new RequestArbiter(p)) { dut =>
        val count = play(dut, seed, 8000)
        info(count.toSeq.sorted.mkString(", "))
        assert(count.size == 8 && count.values.forall(_ >= 5), "the traffic misses something")
      }
    }
  }

  it should "take AR and AW by turns, a request and its event every cycle" in {
    test(new RequestArbiter(p)) { dut =>
      open(dut)
      for (cycle <- 0 until 20) {
        offer(dut.io.ar, Some(Request(1, 0x40 * cycle)))
        offer(dut.io.aw, Some(Request(2, 0x40 * cycle)))
        assert(event(dut).contains((0x40 * cycle, cycle % 2 == 1)), "in the cycle of its acceptance")
        dut.io.ar.ready.expect(cycle % 2 == 0)
        dut.io.aw.ready.expect(cycle % 2 == 1)
        dut.clock.step()
      }
    }
  }

  it should "let a request wait behind the beats of a burst, as many cycles" in {
    test(new RequestArbiter(p)) { dut =>
      open(dut)
      offer(dut.io.aw, Some(Request(2, 0x1fe4, beats = 4)))
      dut.io.ar.valid.poke(false)
      val events = for (cycle <- 0 until 5) yield {
        dut.io.ar.ready.expect(cycle == 4)
        val now = event(dut)
        dut.clock.step()
        offer(dut.io.aw, None)
        offer(dut.io.ar, Some(Request(1, 0x8000)))
        now
      }
      assert(events == Seq(0x1fe4, 0x2000, 0x2040, 0x2080).map(addr => Some((addr, true))) :+ None)
    }
  }

  it should "keep half the cycles free for an engine that can't take a read yet, and no more" in {
    test(new RequestArbiter(p)) { dut =>
      open(dut)
      dut.io.open.poke(false)
      offer(dut.io.ar, Some(Request(1, 0x8000)))
      for (cycle <- 0 until 20) {
        offer(dut.io.aw, Some(Request(2, 0x40 * cycle)))
        assert(event(dut).nonEmpty == (cycle % 2 == 1))
        dut.clock.step()
      }
      dut.io.open.poke(true)
      assert(line(dut).contains((0, 0, true)), "asked in the cycle in which the engine opens and it has the turn")
    }
  }

  it should "refuse a burst of parts of lines beat by beat, and read a part by itself" in {
    test(new RequestArbiter(p)) { dut =>
      open(dut)
      offer(dut.io.ar, Some(Request(1, 0xa080, beats = 3, size = 3)))
      for (beat <- 0 until 3) {
        assert(line(dut).isEmpty)
        dut.io.telemetry.bits.resp.expect(Axi4.Resp.SlvErr)
        dut.io.telemetry.bits.last.expect(beat == 2)
        dut.clock.step()
        offer(dut.io.ar, Some(Request(1, 0xa088, size = 3)))
      }
      assert(line(dut).contains((0, 1, false)))
      dut.io.telemetry.bits.last.expect(true)
    }
  }
}
