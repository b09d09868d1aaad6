// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Params}
import anemone.nemo.NemoParams
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class TelemetryResponsesSpec extends AnyFlatSpec with ChiselScalatestTester {
  private def params(slots: Int, inFlight: Int, idBits: Int = 4) = ExpanderParams(
    NemoParams(pipelines = 2, channels = 1, states = 64, table = 16),
    Axi4Params(idBits = idBits),
    telemetryReads = slots,
    readsInFlight = inFlight
  )
  private val p = params(64, 256)

  /** Nothing on any port, and out of reset. */
  private def restart(dut: TelemetryResponses): Unit = {
    Seq(dut.io.beat.valid, dut.io.line.valid, dut.io.answer.valid, dut.io.out.ready).foreach(_.poke(false))
    dut.reset.asBool.poke(true)
    dut.clock.step(2)
    dut.reset.asBool.poke(false)
  }

  behavior of "TelemetryResponses"
  for (slots <- Seq(8, 64))
    it should s"answer every beat once, in the order of its id, whatever the others wait for, $slots slots" in {
      val p = params(slots, 2 * slots)
      test(new TelemetryResponses(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
        val met = for (seed <- 1 to 40) yield {
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
        info(s"seeds 1 to 40: ${met.transpose.map(_.sum)}")
        assert(met.transpose.forall(_.sum > 100), "memory, okay, refused, poisoned, memory and lines that wait, full")
      }
    }

  it should "answer a read a cycle, one id or many, with memory's answers between" in {
    test(new TelemetryResponses(p)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      // Memory does not know whose turn it is: it may offer an id that waits for a line while another one would not.
      val loads = Seq(
        Load(1, 0) -> 1.0,
        Load(16, 0) -> 1.0,
        Load(1, 1 / 8.0) -> 1.0,
        Load(1, 0.5) -> 1.0,
        Load(1, 0.5, latency = 40) -> 1.0,
        Load(4, 1 / 8.0, latency = 24) -> 1.0,
        Load(4, 0.5, latency = 40) -> 0.99,
        Load(16, 0.5, latency = 20) -> 0.99,
        Load(16, 1 / 64.0, latency = 32) -> 0.99,
        Load(4, 1 / 8.0, latency = 24, stubborn = true) -> 0.99,
        Load(16, 0.5, latency = 20, stubborn = true) -> 0.99
      )
      for (((load, least), seed) <- loads.zipWithIndex) {
        restart(dut)
        val traffic = new ResponseTraffic(dut, p, load, new Random(seed))
        val rate = traffic.run(1500, warm = 200)
        info(f"seed $seed, $load: $rate%.4f")
        assert(rate >= least, load)
      }
    }
  }

  /** A [[TelemetryResponses]] by hand: what is not said of a cycle is not there. */
  private class ByHand(dut: TelemetryResponses) {
    private var ahead = Seq.fill(IdOrder.latency)(0)

    /** The id that leaves in a cycle. */
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
      ahead = ahead.tail :+ beat.fold(0)(_._2)
      dut.io.line.valid.poke(line)
      memory.foreach { id =>
        dut.io.memoryId.poke(id)
        dut.io.memoryWaits.expect(false)
      }
      dut.io.out.ready.poke(taken && memory.isEmpty)
      val leaves =
        Option.when(taken && memory.isEmpty && dut.io.out.valid.peekBoolean())(dut.io.out.bits.id.peekInt().toInt)
      dut.io.answer.valid.poke((memory ++ leaves).nonEmpty)
      (memory ++ leaves).foreach(dut.io.answer.bits.poke(_))
      dut.clock.step()
      leaves
    }
    def idle(cycles: Int): Unit = (0 until cycles).foreach(_ => assert(cycle().isEmpty, "nothing may leave"))
  }

  it should "let a line go five cycles after it came, and a refused beat eight after it was asked" in {
    test(new TelemetryResponses(p)) { dut =>
      val hand = new ByHand(dut)
      hand.cycle(beat = Some((3, 0)))
      hand.idle(8)
      hand.cycle(line = true)
      hand.idle(4)
      assert(hand.cycle() == Some(3))
      hand.cycle(beat = Some((4, 0)), resp = Axi4.Resp.DecErr)
      hand.idle(7)
      assert(hand.cycle() == Some(4))
    }
  }

  it should "let lines follow memory's answer of their id in the next cycle" in {
    test(new TelemetryResponses(p)) { dut =>
      val hand = new ByHand(dut)
      for (ahead <- 1 to 9) assert(hand.cycle(beat = Some((3, ahead))).isEmpty)
      for (_ <- 1 to 9) assert(hand.cycle(line = true).isEmpty)
      hand.idle(20)
      assert(hand.cycle(memory = Some(3)).isEmpty)
      for (line <- 1 to 9) assert(hand.cycle() == Some(3), s"line $line")
      hand.idle(20)
    }
  }

  it should "let lines with nothing ahead go at full rate beside lines that wait for memory" in {
    test(new TelemetryResponses(p)) { dut =>
      val hand = new ByHand(dut)
      val (slow, free) = (5, 11) // ids that wait, and others, of which none is under way when its turn comes
      for (id <- 0 until slow; ahead <- 1 to ReadyLines.ahead) hand.cycle(beat = Some((id, ahead)))
      for (_ <- 0 until slow * ReadyLines.ahead) hand.cycle(line = true)
      hand.idle(20)
      val ids = Seq.tabulate(45)(n => slow + n % free)
      val left = for (now <- 0 until ids.length + 8) yield {
        hand.cycle(beat = ids.lift(now).map((_, 0)), line = ids.isDefinedAt(now - 1))
      }
      assert(left == Seq.fill(8)(None) ++ ids.map(Some(_)), "a line a cycle, eight behind its beat")
      assert(hand.cycle(memory = Some(0)).isEmpty)
      for (line <- 1 to ReadyLines.ahead) assert(hand.cycle() == Some(0), s"line $line")
    }
  }

  it should "let the oldest go first, also where the ring begins anew" in {
    val p = params(64, 256, idBits = 5)
    test(new TelemetryResponses(p)) { dut =>
      val hand = new ByHand(dut)
      val last = ReadyLines.places // the id of the ring's last slot; those before it have all the places
      for (n <- 0 to 63 - last - 1) hand.cycle(beat = Some((n % 8 + 20, 0)), line = n > 0)
      hand.cycle(line = true)
      for (_ <- 1 to 20) hand.cycle()
      for (id <- 0 to last + 1) hand.cycle(beat = Some((id, 0)), line = id > 0, taken = false)
      hand.cycle(line = true, taken = false)
      for (_ <- 1 to 20) hand.cycle(taken = false)
      val left = Seq.fill(60)(hand.cycle()).flatten
      assert(left.toSet == (0 to last + 1).toSet && left.drop(last) == Seq(last, last + 1))
    }
  }

  it should "let a line with nothing ahead go in time beside a ring full of lines that wait for memory" in {
    test(new TelemetryResponses(p)) { dut =>
      val (perId, ids) = (ReadyLines.ahead, 12)
      // Those of the first id leave, and their places are free for others, before the line comes or with it; nobody
      // is left to leave when its five cycles are over.
      for (early <- 1 to 8) {
        restart(dut)
        val hand = new ByHand(dut)
        for (id <- 0 until ids; ahead <- 1 to perId) assert(hand.cycle(beat = Some((id, ahead))).isEmpty)
        for (_ <- 0 until ids * perId) assert(hand.cycle(line = true).isEmpty)
        hand.cycle(beat = Some((15, 0)))
        hand.idle(20)
        val left = for (now <- -early to 5) yield hand.cycle(memory = Option.when(now == -early)(0), line = now == 0)
        assert(left.flatten == Seq.fill(perId)(0) :+ 15 && left.last == Some(15), s"answered $early before: $left")
      }
    }
  }
}
