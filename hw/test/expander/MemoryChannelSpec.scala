// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import anemone.nemo.NemoParams
import chisel3.util.ReadyValidIO
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec

class MemoryChannelSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = ExpanderParams(
    NemoParams(pipelines = 3, channels = 2, states = 64, table = 16, addressBits = 14),
    Axi4Params(addressBits = 16, idBits = 3, lenBits = 4),
    telemetryReads = 4,
    readsInFlight = 16
  )
  private val (effect, snapshot) = (0x8000, 0xa000)
  private val places = Places(Some(effect), Some(snapshot))

  /** Open, nothing offered, and the counts by id zeroed. */
  private def start(dut: MemoryChannel, places: Places, channel: Int): Unit = {
    val (up, down) = (dut.io.upstream, dut.io.downstream)
    places.poke(dut.io.windows)
    dut.io.channel.poke(channel)
    dut.io.open.poke(true)
    Seq(up.ar.valid, up.aw.valid, up.w.valid, down.r.valid, down.b.valid, dut.io.line.valid).foreach(_.poke(false))
    Seq(down.ar.ready, down.aw.ready, down.w.ready, up.r.ready, up.b.ready).foreach(_.poke(true))
    dut.clock.step((1 << p.memory.idBits) + 2)
  }

  behavior of "MemoryChannel"
  it should "answer every request once, in the order of its id, whatever memory, engine and host do" in {
    test(new MemoryChannel(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      val windows =
        Seq(places, Places(Some(effect), None), Places(Some(0x1000), Some(0x1000)), Places(None, Some(effect)))
      val errors = for (seed <- 1 to 12) yield {
        val (now, channel) = (windows(seed % windows.length), seed % 2)
        start(dut, now, channel)
        val traffic = new ChannelTraffic(dut, p, now, channel, seed)
        info(s"seed $seed")
        traffic.run(900)
        traffic.expectedErrors.toSeq
      }
      assert(errors.transpose.forall(_.sum > 50), s"dropped, refused, read and write errors by seed: $errors")
    }
  }

  it should "take a request a cycle, which is downstream in the next, and let answers pass as fast" in {
    test(new MemoryChannel(p)) { dut =>
      val (up, down) = (dut.io.upstream, dut.io.downstream)
      start(dut, places, 0)
      Seq(up.w.bits.last, down.r.bits.last).foreach(_.poke(true))
      def valid(on: Boolean)(ports: ReadyValidIO[_]*): Unit = ports.foreach(_.valid.poke(on))
      for (cycle <- 0 to 20) {
        val (read, write) = (cycle % 2 == 1, cycle > 0 && cycle % 2 == 0)
        valid(cycle < 20)(up.ar, up.aw, up.w)
        Request(1, 0x40 * cycle).poke(up.ar.bits)
        Request(2, 0x40 * cycle).poke(up.aw.bits)
        up.w.bits.data.poke(cycle)
        if (cycle < 20) {
          up.ar.ready.expect(cycle % 2 == 0)
          Seq(up.aw, up.w).foreach(_.ready.expect(cycle % 2 == 1, "a write's data go with its grant"))
        }
        down.ar.valid.expect(read)
        Seq(down.aw, down.w).foreach(_.valid.expect(write))
        if (read) assert(Request.peek(down.ar.bits) == Request(1, 0x40 * (cycle - 1)))
        if (write) assert(Request.peek(down.aw.bits) == Request(2, 0x40 * (cycle - 1)))
        if (write) down.w.bits.data.expect(cycle - 1)
        dut.clock.step()
      }
      for (cycle <- 0 to 10) {
        valid(cycle < 10)(down.r, down.b)
        down.r.bits.id.poke(1)
        down.r.bits.data.poke(cycle)
        down.b.bits.id.poke(cycle % 8)
        if (cycle < 10) Seq(down.r, down.b).foreach(_.ready.expect(true))
        Seq(up.r, up.b).foreach(_.valid.expect(cycle > 0))
        if (cycle > 0) up.r.bits.data.expect(cycle - 1)
        if (cycle > 0) up.b.bits.id.expect((cycle - 1) % 8)
        dut.clock.step()
      }
    }
  }

  it should "hold a line behind its id's memory reads and let those of other ids pass" in {
    test(new MemoryChannel(p)) { dut =>
      val (up, down) = (dut.io.upstream, dut.io.downstream)
      start(dut, places, 0)
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
