// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec

/** Corner cases of the contract on the whole engine, which is elaborated once and reset between them. */
class TelemetryEngineSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = NemoParams(pipelines = 2, channels = 2, states = 16, table = 8, addressBits = 15)
  private val reset = TestRule(effectKind = ReadEffect.Reset)

  private val corners = scala.collection.mutable.LinkedHashMap[String, EngineBench => Unit]()

  private def corner(name: String)(rules: TestRule*)(body: EngineBench => Unit): Unit =
    corners(name) = { bench =>
      bench.reset()
      for ((rule, i) <- rules.zipWithIndex) {
        bench.load(i, rule)
        (0 until p.table).foreach(key => bench.map(i, key, key))
      }
      bench.dut.clock.step(4)
      body(bench)
    }

  corner("return the update of the cycle before a read with reset, and count on from zero")(reset) { bench =>
    for (distance <- 1 to 8) {
      bench.event(0, Some(0x1000))
      bench.dut.clock.step()
      bench.event(0, None)
      (1 until distance).foreach(_ => bench.dut.clock.step())
      assert(bench.line(0, 0, 0, effect = true)._1 == Seq(0, 1, 0, 0, 0, 0, 0, 0), s"distance $distance")
      assert(bench.line(0, 0, 0, effect = true)._1.forall(_ == 0), s"distance $distance")
    }
  }

  corner("count an update right behind a read with reset in the next interval")(reset) { bench =>
    var seen = Seq[Seq[BigInt]]()
    def step(): Unit = {
      bench.dut.clock.step()
      if (bench.dut.io.lines(0).valid.peekBoolean()) seen :+= bench.words(0)
    }
    for (_ <- 1 to 12) {
      bench.event(0, Some(0x1000))
      step()
      bench.event(0, None)
      bench.read(0, 0, 0, effect = true)
      step()
      bench.noRead(0)
    }
    bench.event(0, Some(0x1000))
    step()
    bench.event(0, None)
    (1 to 20).foreach(_ => step())
    assert(seen == Seq.fill(12)(Seq(0, 1, 0, 0, 0, 0, 0, 0)))
    assert(bench.line(0, 0, 0)._1(1) == 1)
    bench.dut.io.status(0).matched.expect(13)
  }

  corner("take an event and a read offered in one cycle, the event first")(reset) { bench =>
    bench.event(0, Some(0x2000))
    bench.read(0, 0, 0, effect = true)
    bench.dut.io.reads(0).ready.expect(false)
    bench.dut.clock.step()
    bench.event(0, None)
    assert(bench.line(0, 0, 0, effect = true)._1 == Seq(0, 0, 1, 0, 0, 0, 0, 0))
    bench.dut.io.status(0).matched.expect(1)
  }

  corner("answer a read after nine cycles, and one line a cycle behind it")(reset) { bench =>
    assert(bench.line(1, 0, 1)._2 == TelemetryEngine.readLatency(p))
    var lines = 0
    for (cycle <- 0 until 40 + TelemetryEngine.readLatency(p)) {
      if (cycle < 40) bench.read(1, cycle % 2, cycle % p.lines, effect = false) else bench.noRead(1)
      if (cycle < 40) bench.dut.io.reads(1).ready.expect(true)
      bench.dut.clock.step()
      if (bench.dut.io.lines(1).valid.peekBoolean()) lines += 1
    }
    assert(lines == 40)
  }

  corner("delay no event during a serial RMW")(
    TestRule(effectKind = ReadEffect.Op, effectOp = UpdateOp.Shr, effectOperand = 1)
  ) { bench =>
    for (_ <- 0 until 12) {
      bench.event(0, Some(0x3000))
      bench.dut.clock.step()
    }
    bench.event(0, None)
    bench.read(0, 0, 0, effect = true)
    bench.dut.io.reads(0).ready.expect(true)
    bench.dut.clock.step()
    bench.noRead(0)
    var line = Seq[BigInt]()
    for (_ <- 0 until 30) {
      bench.event(0, Some(0x3000))
      bench.dut.clock.step()
      if (bench.dut.io.lines(0).valid.peekBoolean()) line = bench.words(0)
    }
    bench.event(0, None)
    bench.dut.clock.step(30)
    assert(line == Seq(0, 0, 0, 12, 0, 0, 0, 0))
    assert(bench.line(0, 0, 0)._1(3) == 6 + 30)
    bench.dut.io.status(0).matched.expect(42)
  }

  corner("change a rule between two events")(TestRule()) { bench =>
    // An event counts one or a thousand; none is lost or counted by both rules.
    bench.offer(0, TestRule(operand = 1000))
    var events = 0
    while (!bench.dut.io.rule.ready.peekBoolean() && events < 100) {
      bench.event(0, Some(0x1000))
      bench.event(1, Some(0x1040))
      bench.dut.clock.step()
      events += 1
    }
    bench.dut.io.rule.valid.poke(false)
    bench.event(0, None)
    bench.event(1, None)
    bench.dut.clock.step(20)
    val counts = (0 to 1).map(bench.line(_, 0, 0)._1(1))
    assert(counts(0) == counts(1), "both channels change in one cycle")
    assert(counts(0) / 1000 + counts(0) % 1000 == events)
    assert(counts(0) >= 1000 && events < 100, "the new rule never took effect")
  }

  corner("latch the first hit, count all, and lose none to an acknowledge")(
    TestRule(notifyOp = Predicate.GreaterEqual, notifyOperand = 3)
  ) { bench =>
    def hit(channel: Int, key: Int): Unit = {
      bench.event(channel, Some(key << 12))
      bench.dut.clock.step()
      bench.event(channel, None)
    }
    val status = bench.dut.io.status(0)
    (1 to 2).foreach(_ => hit(1, 5))
    bench.dut.clock.step(20)
    status.notified.expect(false)
    hit(1, 5)
    hit(1, 5)
    (1 to 3).foreach(_ => hit(0, 6))
    bench.dut.clock.step(20)
    status.notified.expect(true)
    status.notifiedIndex.expect(5)
    status.notifiedChannel.expect(1)
    status.notifications.expect(3)

    // A hit after the re-arm or with it is latched next; one before it is re-armed away.
    val arrival = 1 + TelemetryLane.latency(p)
    for (offset <- -1 to 1) {
      hit(0, 6)
      bench.dut.clock.step(arrival - 1 + offset)
      bench.dut.io.rearm(0).poke(true)
      bench.dut.clock.step()
      bench.dut.io.rearm(0).poke(false)
      bench.dut.clock.step(20)
      status.notified.expect(offset <= 0)
      bench.dut.io.rearm(0).poke(true)
      bench.dut.clock.step()
      bench.dut.io.rearm(0).poke(false)
    }
  }

  corner("clear a pipeline and leave its neighbour")(reset, reset) { bench =>
    for (key <- 0 until 8) {
      bench.event(0, Some(key << 12))
      bench.dut.clock.step()
    }
    bench.event(0, None)
    bench.dut.io.clear.valid.poke(true)
    bench.dut.io.clear.bits.poke(1)
    bench.dut.clock.step()
    bench.dut.io.clear.valid.poke(false)
    bench.dut.io.status(1).clearing.expect(true)
    bench.dut.io.status(0).clearing.expect(false)
    // Up to the last cycle of the clear events and reads have no effect.
    while (bench.dut.io.status(1).clearing.peekBoolean()) {
      bench.event(0, Some(0x1000))
      bench.dut.clock.step()
    }
    bench.event(0, None)
    bench.dut.clock.step(20)
    assert(bench.line(0, 1, 0)._1.forall(_ == 0))
    bench.dut.io.status(1).matched.expect(0)
    bench.dut.io.status(1).unmapped.expect(0)
    assert(bench.line(0, 0, 0)._1(0) == 1)
    bench.event(0, Some(0x1000))
    bench.dut.clock.step()
    bench.event(0, None)
    bench.dut.clock.step(20)
    bench.dut.io.status(1).unmapped.expect(1)
  }

  behavior of "TelemetryEngine"
  it should "keep its contract in every corner" in {
    // Treadle takes minutes to load a whole engine.
    test(new TelemetryEngine(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      val bench = new EngineBench(dut, p)
      for ((name, body) <- corners) {
        info(name)
        withClue(s"$name: ")(body(bench))
      }
    }
  }
}
