// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Params}
import anemone.nemo.NemoParams
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class WriteGateSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = ExpanderParams(
    NemoParams(pipelines = 2, channels = 1, states = 64, table = 16),
    Axi4Params(idBits = 4),
    telemetryReads = 4,
    readsInFlight = 4
  )

  /** A write, and the cycles in which it was granted, had its last beat taken and was answered. */
  private class Write(val id: Int, val drop: Boolean, val beats: Int) {
    var granted, passed, answered = Option.empty[Int]
  }

  private def idle(dut: WriteGate): Unit = {
    Seq(dut.io.granted, dut.io.dropped.valid, dut.io.data.valid, dut.io.memoryResponse.valid).foreach(_.poke(false))
    Seq(dut.io.memoryData.ready, dut.io.response.ready).foreach(_.poke(true))
    dut.io.data.bits.last.poke(true)
  }

  /** Plays as many writes through to their answers, and checks every handshake of every cycle.
    *
    * How many cycles data waited for their grant, and how often they went in the cycle of it.
    */
  private def play(dut: WriteGate, seed: Int, count: Int): (Int, Int) = {
    val random = new Random(seed)
    def maybe(chance: Double) = random.nextDouble() < chance
    val dropRate = Seq(0.05, 0.3, 0.7)(seed % 3)
    val (asks, sends, takes, answers) =
      (random.nextDouble() + 0.1, random.nextDouble() + 0.1, random.nextDouble() + 0.2, random.nextDouble() + 0.1)
    val writes = Seq.fill(count)(new Write(random.nextInt(16), maybe(dropRate), 1 + random.nextInt(3)))
    var (next, sending, beat, number, cycle) = (0, 0, 0, 0, 0)
    var (dataOffered, early, sameCycle) = (false, 0, 0)
    val memory = mutable.Buffer[Write]()
    var answering = Option.empty[Write]
    while (writes.exists(_.answered.isEmpty)) {
      assert(cycle < 40 * count, "writes hang")
      // What is offered.
      val asking = if (next < count && maybe(asks)) Some(writes(next)) else None
      dut.io.dropped.valid.poke(asking.exists(_.drop))
      asking.filter(_.drop).foreach(write => dut.io.dropped.bits.poke(write.id))
      val earlier = writes.take(next)
      val quiet = earlier.forall(_.answered.exists(_ < cycle))
      val dropping = earlier.exists(write => write.drop && !write.answered.exists(_ < cycle))
      dut.io.closed.expect(dropping)
      val grants = asking.exists(!_.drop) && !dropping
      dut.io.granted.poke(grants)
      dut.io.dropped.ready.expect(quiet, "a dropped write waits for every write before it")
      if (grants || (asking.nonEmpty && quiet)) {
        writes(next).granted = Some(cycle)
        next += 1
      }
      dataOffered ||= sending < count && maybe(sends)
      val taking = maybe(takes)
      dut.io.memoryData.ready.poke(taking)
      dut.io.data.valid.poke(dataOffered)
      if (dataOffered) {
        dut.io.data.bits.data.poke(number)
        dut.io.data.bits.strb.poke(number + 7)
        dut.io.data.bits.user.poke(number % 3 == 0)
        dut.io.data.bits.last.poke(beat == writes(sending).beats - 1)
      }
      if (answering.isEmpty && memory.nonEmpty && maybe(answers))
        answering = Some(memory(random.nextInt(memory.length)))
      dut.io.memoryResponse.valid.poke(answering.nonEmpty)
      answering.foreach { write =>
        dut.io.memoryResponse.bits.id.poke(write.id)
        dut.io.memoryResponse.bits.resp.poke(write.beats)
      }
      val listening = maybe(takes)
      dut.io.response.ready.poke(listening)

      // Answers: memory's pass, and a dropped write's comes a cycle behind its last beat.
      val done = writes.take(sending).find(write => write.drop && write.answered.isEmpty)
      dut.io.response.valid.expect(answering.nonEmpty || done.nonEmpty)
      assert(answering.isEmpty || done.isEmpty)
      for (write <- answering ++ done) {
        dut.io.response.bits.id.expect(write.id)
        dut.io.response.bits.resp.expect(if (write.drop) Axi4.Resp.Okay else write.beats)
        if (listening) write.answered = Some(cycle)
      }
      assert((answering.nonEmpty && dut.io.memoryResponse.ready.peekBoolean()) == (answering.nonEmpty && listening))
      for (write <- answering if listening) {
        memory -= write
        answering = None
      }

      // Data: memory's pass from the cycle of the grant on, a dropped write's end here from the next one on.
      val owner = Option.when(dataOffered)(writes(sending))
      val passes = owner.exists(write => !write.drop && write.granted.nonEmpty)
      val ends = owner.exists(write => write.drop && write.granted.exists(_ < cycle))
      dut.io.memoryData.valid.expect(passes)
      dut.io.drops.expect(ends)
      if (passes) {
        dut.io.memoryData.bits.data.expect(number)
        dut.io.memoryData.bits.strb.expect(number + 7)
        dut.io.memoryData.bits.user.expect(number % 3 == 0)
        dut.io.memoryData.bits.last.expect(beat == owner.get.beats - 1)
      }
      val taken = (passes && taking) || ends
      if (dataOffered) dut.io.data.ready.expect(taken)
      if (dataOffered && owner.get.granted.isEmpty) early += 1
      if (passes && owner.get.granted.contains(cycle)) sameCycle += 1
      if (taken) {
        dataOffered = false
        number += 1
        beat += 1
        if (beat == owner.get.beats) {
          owner.get.passed = Some(cycle)
          if (!owner.get.drop) memory += owner.get
          sending += 1
          beat = 0
        }
      }
      dut.clock.step()
      cycle += 1
    }
    (early, sameCycle)
  }

  behavior of "WriteGate"
  for (seed <- 1 to 8) {
    it should s"pass memory's writes and end the region's, for any order of grants, data and answers, seed $seed" in {
      test(new WriteGate(p)) { dut =>
        idle(dut)
        val (early, sameCycle) = play(dut, seed, 200)
        assert(early > 0 && sameCycle > 0, "no data before their grant, or none with it")
      }
    }
  }

  it should "close when as many writes as it counts are under way, and open with an answer" in {
    test(new WriteGate(p)) { dut =>
      idle(dut)
      dut.clock.setTimeout(0)
      dut.io.granted.poke(true)
      dut.io.data.valid.poke(true)
      dut.clock.step((1 << 16) - 2)
      dut.io.closed.expect(false)
      dut.clock.step()
      dut.io.closed.expect(true)
      dut.io.granted.poke(false)
      dut.io.data.valid.poke(false)
      dut.io.memoryResponse.valid.poke(true)
      dut.clock.step()
      dut.io.closed.expect(false)
    }
  }
}
