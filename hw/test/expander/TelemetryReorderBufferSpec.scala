// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Params}
import anemone.nemo.NemoParams
import chiseltest._
import chiseltest.internal.CachingAnnotation
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class TelemetryReorderBufferSpec extends AnyFlatSpec with ChiselScalatestTester {

  // A code is slow to interpret; tests of one configuration share what was compiled.
  private val compiled = Seq(VerilatorBackendAnnotation, CachingAnnotation)
  private def params(slots: Int, inFlight: Int, idBits: Int = 4) = ExpanderParams(
    NemoParams(pipelines = 2, channels = 1, states = 64, table = 16),
    Axi4Params(idBits = idBits),
    telemetryReads = slots,
    readsInFlight = inFlight
  )
  private val p = params(64, 256)

  /** Leaves reset with idle ports. */
  private def restart(dut: TelemetryReorderBuffer): Unit = {
    dut.io.expected.poke(true)
    Seq(dut.io.beat.valid, dut.io.line.valid, dut.io.memory.valid, dut.io.out.ready).foreach(_.poke(false))
    dut.reset.asBool.poke(true)
    dut.clock.step(2)
    dut.reset.asBool.poke(false)
    dut.clock.step() // then a slot is free
  }

  behavior of "TelemetryReorderBuffer"
  for (slots <- Seq(8, 64))
    it should s"answer every beat once, in the order of its id, whatever the others wait for, $slots slots" in {
      val p = params(slots, 2 * slots)
      test(new TelemetryReorderBuffer(p)).withAnnotations(compiled) { dut =>
        val seen = for (seed <- 1 to 14) yield {
          val random = new Random(seed)
          val load = Load.random(random, 1 << p.memory.idBits)
          restart(dut)
          val traffic = new ResponseTraffic(dut, p, load, random)
          withClue(s"seed $seed, $load: ") {
            traffic.run(400)
            traffic.drain()
          }
          import traffic._
          Seq(memory, okay, refused, poisoned, memoryWaited, lineWaited, full)
        }
        info(s"seeds 1 to 14: ${seen.transpose.map(_.sum)}")
        assert(seen.transpose.forall(_.sum > 100), "memory, okay, refused, poisoned, memory and lines that wait, full")
      }
    }

  it should "answer a read a cycle, one id or many, with memory's answers between" in {
    test(new TelemetryReorderBuffer(p)).withAnnotations(compiled) { dut =>
      // Memory does not know which id is next: it may offer one that waits for a line while another would not.
      val loads = Seq(
        Load(1, 0) -> 1.0,
        Load(16, 0) -> 1.0,
        Load(1, 1 / 8.0) -> 1.0,
        Load(1, 0.5) -> 1.0,
        Load(1, 0.5, latency = 40) -> 1.0,
        Load(4, 1 / 8.0, latency = 24) -> 0.99,
        Load(4, 0.5, latency = 40) -> 0.99,
        Load(16, 0.5, latency = 20) -> 0.99,
        Load(16, 1 / 64.0, latency = 32) -> 0.99
      )
      val rates = for (((load, minimum), seed) <- loads.zipWithIndex) yield {
        restart(dut)
        val rate = new ResponseTraffic(dut, p, load, new Random(seed)).run(700, warm = 200)
        info(f"seed $seed, $load: $rate%.4f")
        rate >= minimum
      }
      assert(rates.forall(identity))
    }
  }

  /** A [[TelemetryReorderBuffer]] driven by hand; inputs that a cycle does not set are idle. */
  private class ByHand(dut: TelemetryReorderBuffer) {
    private var ahead = Seq.fill(SameIdTracker.latency)(0)

    dut.io.expected.poke(true)
    dut.clock.step() // then a slot is free

    /** The id that leaves in a cycle, plus 100 for a memory response. */
    def cycle(
        beat: Option[(Int, Int)] = None,
        resp: Int = Axi4.Resp.Okay,
        line: Boolean = false,
        memory: Option[Int] = None,
        taken: Boolean = true
    ): Option[Int] = {
      dut.io.beat.valid.poke(beat.nonEmpty)
      for ((id, _) <- beat) {
        dut.io.beat.bits.id.poke(id)
        dut.io.beat.bits.resp.poke(resp)
      }
      dut.io.ahead.poke(ahead.head)
      dut.io.noneAhead.poke(ahead.head == 0)
      ahead = ahead.tail :+ beat.fold(0)(_._2)
      dut.io.line.valid.poke(line)
      dut.io.memory.valid.poke(memory.nonEmpty)
      memory.foreach { id =>
        dut.io.memory.ready.expect(true)
        dut.io.memory.bits.id.poke(id)
        dut.io.memory.bits.last.poke(true)
        dut.io.memory.bits.resp.poke(Axi4.Resp.SlvErr)
      }
      dut.io.out.ready.poke(taken)
      val out = dut.io.out.bits
      val leaves = Option.when(taken && dut.io.out.valid.peekBoolean()) {
        out.beat.id.peekInt().toInt + (if (out.beat.resp.peekInt() == Axi4.Resp.SlvErr) 100 else 0)
      }
      dut.clock.step()
      leaves
    }
    def idle(cycles: Int): Unit = (0 until cycles).foreach(_ => assert(cycle().isEmpty, "nothing may leave"))
  }

  it should "let a line go six cycles after it came, and a refused beat ten after it was asked" in {
    test(new TelemetryReorderBuffer(p)).withAnnotations(compiled) { dut =>
      val hand = new ByHand(dut)
      hand.cycle(beat = Some((3, 0)))
      hand.idle(8)
      hand.cycle(line = true)
      hand.idle(5)
      assert(hand.cycle() == Some(3))
      hand.cycle(beat = Some((4, 0)), resp = Axi4.Resp.DecErr)
      hand.idle(9)
      assert(hand.cycle() == Some(4))
    }
  }

  it should "let lines follow memory's answer of their id in the next cycle" in {
    test(new TelemetryReorderBuffer(p)).withAnnotations(compiled) { dut =>
      val hand = new ByHand(dut)
      for (ahead <- 1 to 9) assert(hand.cycle(beat = Some((3, ahead))).isEmpty)
      for (_ <- 1 to 9) assert(hand.cycle(line = true).isEmpty)
      hand.idle(20)
      assert(hand.cycle(memory = Some(3)).isEmpty)
      assert(hand.cycle() == Some(103))
      for (line <- 1 to 9) assert(hand.cycle() == Some(3), s"line $line")
      hand.idle(20)
    }
  }

  it should "let lines with nothing ahead go at full rate beside lines that wait for memory" in {
    test(new TelemetryReorderBuffer(p)).withAnnotations(compiled) { dut =>
      val hand = new ByHand(dut)
      val (slow, free) = (5, 11) // ids that wait, and others without an outstanding read at their next use
      for (id <- 0 until slow; ahead <- 1 to ReadPrefetchBuffer.ahead) hand.cycle(beat = Some((id, ahead)))
      for (_ <- 0 until slow * ReadPrefetchBuffer.ahead) hand.cycle(line = true)
      hand.idle(20)
      val ids = Seq.tabulate(29)(n => slow + n % free)
      val left = for (now <- 0 until ids.length + 10) yield {
        hand.cycle(beat = ids.lift(now).map((_, 0)), line = ids.isDefinedAt(now - 4))
      }
      assert(left == Seq.fill(10)(None) ++ ids.map(Some(_)), "a line a cycle, ten behind its beat")
      assert(hand.cycle(memory = Some(0)).isEmpty)
      assert(hand.cycle() == Some(100))
      for (line <- 1 to ReadPrefetchBuffer.ahead) assert(hand.cycle() == Some(0), s"line $line")
    }
  }

  it should "let a line with nothing ahead go in time beside a ring full of lines that wait for memory" in {
    test(new TelemetryReorderBuffer(p)).withAnnotations(compiled) { dut =>
      val (perId, ids) = (ReadPrefetchBuffer.ahead, 8)
      // Lines of the first id leave and free their slots before the line comes, or with it; none is left to leave after
      // its six cycles.
      for (early <- 3 to 10) {
        restart(dut)
        val hand = new ByHand(dut)
        for (id <- 0 until ids; ahead <- 1 to perId) assert(hand.cycle(beat = Some((id, ahead))).isEmpty)
        for (_ <- 0 until ids * perId) assert(hand.cycle(line = true).isEmpty)
        hand.cycle(beat = Some((15, 0)))
        hand.idle(20)
        val left = for (now <- -early to 6) yield hand.cycle(memory = Option.when(now == -early)(0), line = now == 0)
        assert(
          left.flatten == 100 +: Seq.fill(perId)(0) :+ 15 && left.last == Some(15),
          s"answered $early before: $left"
        )
      }
    }
  }

  it should "let a line go when memory has passed it often enough, and not before" in {
    val few = p.copy(memoryRun = 5)
    test(new TelemetryReorderBuffer(few)).withAnnotations(compiled) { dut =>
      val hand = new ByHand(dut)
      hand.cycle(beat = Some((3, 0)))
      hand.idle(8)
      hand.cycle(line = true)
      hand.cycle(beat = Some((4, 0)))
      hand.idle(3)
      // The host accepts a response every other cycle, and memory always has one.
      val left = for (now <- 0 until 40) yield {
        hand.cycle(memory = Option.when(dut.io.memory.ready.peekBoolean())(7), taken = now % 2 == 1)
      }
      assert(left.flatten.take(14) == Seq.fill(5)(107) ++ Seq(3) ++ Seq.fill(8)(107), left)
    }
  }
}
