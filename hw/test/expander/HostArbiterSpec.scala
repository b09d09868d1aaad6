// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class HostArbiterSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val verilator = Seq(VerilatorBackendAnnotation)
  private def params(hosts: Int) = ExpanderParams(memory = Axi4Params(idBits = 4, lenBits = 2), hosts = hosts)

  behavior of "HostArbiter"
  for (hosts <- Seq(2, 4)) {
    it should s"give each of $hosts hosts the answers to its requests, and quiesce" in {
      test(new HostArbiter(params(hosts))).withAnnotations(verilator) { dut =>
        dut.clock.setTimeout(0)
        var uneven = 0
        for (seed <- 0 until 12) {
          val random = new Random(seed)
          val traffic = new HostTraffic(dut, params(hosts), seed)
          for (_ <- 0 until 6) {
            dut.io.quiesce.poke(false)
            for (_ <- 0 until 100 + random.nextInt(50)) traffic.step()
            uneven += traffic.uneven.min(1)
            dut.io.quiesce.poke(true)
            var left = 2000
            while (
              !(dut.io.passed.peekBoolean() && dut.io.quiet.peekBoolean() && traffic.answered == traffic.accepted.sum)
            ) {
              traffic.step()
              left -= 1
              assert(left > 0, s"seed $seed: not quiet")
            }
            // Begun requests are complete, and none begins.
            assert(traffic.uneven == 0, s"seed $seed")
            val before = traffic.accepted
            for (_ <- 0 until 20) {
              traffic.step()
              dut.io.passed.expect(true)
              dut.io.quiet.expect(true)
            }
            assert(traffic.accepted == before, s"seed $seed: quiet, and a request is accepted")
          }
          dut.io.quiesce.poke(false)
          traffic.finish()
          assert(traffic.accepted.min > 50, s"seed $seed: ${traffic.accepted}")
        }
        assert(uneven > 10, "hardly a write was cut by a quiesce")
      }
    }
  }

  it should "pass a request, a write and an answer of each kind a cycle, by turns, in the cycles that it promises" in {
    val p = params(2)
    test(new HostArbiter(p)).withAnnotations(verilator) { dut =>
      val (down, cycles) = (dut.io.channel, 40)
      for (ready <- Seq(down.ar.ready, down.aw.ready, down.w.ready)) ready.poke(true)
      for ((host, h) <- dut.io.hosts.zipWithIndex) {
        for (valid <- Seq(host.ar.valid, host.aw.valid, host.w.valid, host.w.bits.last)) valid.poke(true)
        for (address <- Seq(host.ar.bits, host.aw.bits)) address.id.poke(h)
        host.w.bits.data.poke(h)
        for (ready <- Seq(host.r.ready, host.b.ready)) ready.poke(true)
      }
      val hostIds = 1 << p.hostPort.idBits
      var lastReader, lastWriter = -1
      dut.clock.step() // the cycle of the latency
      for (cycle <- 0 until cycles) {
        down.ar.valid.expect(true)
        down.aw.valid.expect(true)
        for (id <- Seq(down.ar.bits.id, down.aw.bits.id)) {
          val host = id.peekInt().toInt / hostIds
          assert(id.peekInt() == host * hostIds + host)
        }
        if (cycle > 0) {
          down.w.valid.expect(true)
          down.w.bits.data.expect(lastWriter)
        }
        assert(lastReader != down.ar.bits.id.peekInt().toInt / hostIds, "a host has two turns")
        lastReader = down.ar.bits.id.peekInt().toInt / hostIds
        lastWriter = down.aw.bits.id.peekInt().toInt / hostIds
        val to = cycle % 2
        down.r.valid.poke(true)
        down.b.valid.poke(true)
        down.r.bits.id.poke(to * hostIds + 1)
        down.b.bits.id.poke((1 - to) * hostIds + 1)
        down.r.ready.expect(true)
        down.b.ready.expect(true)
        if (cycle > 0) {
          dut.io.hosts(1 - to).r.valid.expect(true)
          dut.io.hosts(to).r.valid.expect(false)
          dut.io.hosts(to).b.valid.expect(true)
          dut.io.hosts(to).b.bits.id.expect(1)
        }
        dut.clock.step()
      }
    }
  }
  it should "not wait for a host that keeps the data of its write" in {
    val p = params(2)
    test(new HostArbiter(p)).withAnnotations(verilator) { dut =>
      val (late, other) = (dut.io.hosts(0), dut.io.hosts(1))
      for (ready <- Seq(dut.io.channel.ar.ready, dut.io.channel.aw.ready, dut.io.channel.w.ready)) ready.poke(true)
      late.aw.valid.poke(true)
      for (valid <- Seq(other.aw.valid, other.w.valid, other.w.bits.last)) valid.poke(true)
      var passed = 0
      for (_ <- 0 until 20) {
        if (dut.io.channel.aw.valid.peekBoolean()) {
          assert(dut.io.channel.aw.bits.id.peekInt() >> p.hostPort.idBits == 1, "without its data")
          passed += 1
        }
        dut.clock.step()
      }
      assert(passed >= 18)
    }
  }
}
