// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import anemone.nemo.NemoParams
import chisel3.util.ReadyValidIO
import chiseltest._
import chiseltest.internal.CachingAnnotation
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable

class MemoryChannelSpec extends AnyFlatSpec with ChiselScalatestTester {

  // A code is slow to interpret; tests of one configuration share what was compiled.
  private val compiled = Seq(VerilatorBackendAnnotation, CachingAnnotation)
  private val p = ExpanderParams(
    NemoParams(pipelines = 3, channels = 2, states = 64, table = 16, addressBits = 14),
    Axi4Params(addressBits = 16, idBits = 3, lenBits = 4),
    telemetryReads = 4,
    readsInFlight = 16,
    lateCycles = 2
  )
  private val (effect, snapshot) = (0x8000, 0xa000)
  private val windows = WindowBases(Some(effect), Some(snapshot))

  /** The engine accepts reads, nothing is offered, and the counters by id are cleared. */
  private def start(dut: MemoryChannel, windows: WindowBases, channel: Int): Unit = {
    val (up, down) = (dut.io.upstream, dut.io.downstream)
    windows.poke(dut.io.windows)
    dut.io.channel.poke(channel)
    dut.io.open.poke(true)
    Seq(dut.io.quiesce, dut.io.inject.valid).foreach(_.poke(false))
    Seq(up.ar.valid, up.aw.valid, up.w.valid, down.r.valid, down.b.valid, dut.io.line.valid).foreach(_.poke(false))
    Seq(dut.io.acknowledge.ready, dut.io.acknowledged.valid).foreach(_.poke(false))
    Seq(down.ar.ready, down.aw.ready, down.w.ready, up.r.ready, up.b.ready).foreach(_.poke(true))
    dut.clock.step((1 << p.memory.idBits) + 2)
  }

  behavior of "MemoryChannel"
  it should "answer every request once, in the order of its id, whatever memory, engine and host do" in {
    test(new MemoryChannel(p)).withAnnotations(compiled) { dut =>
      val choices =
        Seq(
          windows.copy(acknowledge = Some(0x4000)),
          WindowBases(Some(effect), None, Some(effect)),
          WindowBases(Some(0x1000), Some(0x1000), Some(0x2000)),
          WindowBases(None, Some(effect))
        )
      var applied, notApplied = 0
      val errors = for (seed <- 1 to 12) yield {
        val (now, channel) = (choices(seed % choices.length), seed % 2)
        start(dut, now, channel)
        val traffic = new ChannelTraffic(dut, p, now, channel, seed)
        info(s"seed $seed")
        traffic.run(900)
        applied += traffic.applied
        notApplied += traffic.notApplied
        traffic.expectedErrors.toSeq
      }
      assert(applied > 20 && notApplied > 4, s"acknowledges: $applied applied, $notApplied not")
      assert(errors.transpose.forall(_.sum > 50), s"dropped, refused, read and write errors by seed: $errors")
    }
  }

  it should "take a request a cycle, which is downstream two later, and let answers pass as fast" in {
    test(new MemoryChannel(p)).withAnnotations(compiled) { dut =>
      val (up, down) = (dut.io.upstream, dut.io.downstream)
      start(dut, windows, 0)
      Seq(up.w.bits.last, down.r.bits.last).foreach(_.poke(true))
      def valid(on: Boolean)(ports: ReadyValidIO[_]*): Unit = ports.foreach(_.valid.poke(on))
      // Each port accepts two at once, and then one every other cycle.
      val taken = Seq(up.ar, up.aw, up.w).map(_ -> mutable.Buffer[Int]()).toMap[ReadyValidIO[_], mutable.Buffer[Int]]
      val below =
        Seq(down.ar, down.aw, down.w).map(_ -> mutable.Buffer[Int]()).toMap[ReadyValidIO[_], mutable.Buffer[Int]]
      for (cycle <- 0 until 40) {
        valid(cycle < 30)(up.ar, up.aw, up.w)
        Request(1, 0x40 * taken(up.ar).length).poke(up.ar.bits)
        Request(2, 0x40 * taken(up.aw).length).poke(up.aw.bits)
        up.w.bits.data.poke(taken(up.w).length)
        for ((port, when) <- taken if cycle < 30 && port.ready.peekBoolean()) when += cycle
        if (down.ar.valid.peekBoolean()) assert(Request.peek(down.ar.bits) == Request(1, 0x40 * below(down.ar).length))
        if (down.aw.valid.peekBoolean()) assert(Request.peek(down.aw.bits) == Request(2, 0x40 * below(down.aw).length))
        if (down.w.valid.peekBoolean()) down.w.bits.data.expect(below(down.w).length)
        for ((port, when) <- below if port.valid.peekBoolean()) when += cycle
        dut.clock.step()
      }
      assert(taken.values.forall(_.length >= 15), "half of the cycles are a port's")
      assert(below(down.ar).take(14) == Seq.tabulate(14)(2 + 2 * _), "reads first, two cycles from port to port")
      for (port <- Seq(down.aw, down.w)) assert(below(port).take(14) == Seq.tabulate(14)(3 + 2 * _), "writes between")
      for (cycle <- 0 to 10) {
        valid(cycle < 10)(down.r, down.b)
        down.r.bits.id.poke(1)
        down.r.bits.data.poke(cycle)
        down.b.bits.id.poke(2)
        down.b.bits.resp.poke(cycle % 4)
        if (cycle < 10) Seq(down.r, down.b).foreach(_.ready.expect(true))
        Seq(up.r, up.b).foreach(_.valid.expect(cycle > 1))
        if (cycle > 1) up.r.bits.data.expect(cycle - 2)
        if (cycle > 1) up.b.bits.resp.expect((cycle - 2) % 4)
        dut.clock.step()
      }
    }
  }

  it should "hold a line behind its id's memory reads and let those of other ids pass" in {
    test(new MemoryChannel(p)).withAnnotations(compiled) { dut =>
      val (up, down) = (dut.io.upstream, dut.io.downstream)
      start(dut, windows, 0)
      def cycle(read: Option[Request] = None, line: Boolean = false, answer: Boolean = false): Option[Int] = {
        up.ar.valid.poke(read.nonEmpty)
        read.foreach(_.poke(up.ar.bits))
        dut.io.line.valid.poke(line)
        down.r.valid.poke(answer)
        down.r.bits.id.poke(1)
        down.r.bits.last.poke(true)
        down.r.bits.resp.poke(2)
        if (read.nonEmpty) up.ar.ready.expect(true)
        if (answer) down.r.ready.expect(true)
        val seen =
          Option.when(up.r.valid.peekBoolean())(up.r.bits.id.peekInt().toInt * 10 + up.r.bits.resp.peekInt().toInt)
        dut.clock.step()
        seen
      }
      cycle(Some(Request(1, 0x40)))
      cycle(Some(Request(1, effect)))
      cycle(Some(Request(2, effect)))
      for (_ <- 0 until 6) cycle()
      val before = Seq(cycle(line = true), cycle(line = true)) ++ Seq.fill(100)(cycle())
      assert(before.flatten == Seq(20), "the other id's line alone")
      val after = cycle(answer = true) +: Seq.fill(20)(cycle())
      assert(after.flatten == Seq(12, 10), "memory's answer, then the line")
    }
  }
}
