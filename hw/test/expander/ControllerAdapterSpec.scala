// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{Axi4, Axi4Params, Axi4Port, ProtectedQueue}
import chisel3._
import chiseltest._
import chiseltest.internal.CachingAnnotation
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

/** The board's controller with its three deviations from AXI, with or without a [[ControllerAdapter]] before it. */
class Habits(port: Axi4Port, random: Random, busy: Double) {
  private val reads = mutable.Queue[(BigInt, Int)]()
  private val writes = mutable.Queue[(BigInt, Int)]()
  var (lostReads, lostAnswers, requests, cycle) = (0, 0, 0, 0)

  /** The outputs of this cycle. */
  def offer(): Unit = {
    val ready = random.nextDouble() >= busy
    Seq(port.ar.ready, port.aw.ready, port.w.ready).foreach(_.poke(ready))
    def due(queue: mutable.Queue[(BigInt, Int)]) = queue.headOption.filter(_._2 <= cycle)
    port.r.valid.poke(due(reads).isDefined)
    due(reads).foreach { case (id, _) =>
      port.r.bits.id.poke(id)
      port.r.bits.last.poke(true)
    }
    port.b.valid.poke(due(writes).isDefined)
    due(writes).foreach { case (id, _) => port.b.bits.id.poke(id) }
  }

  /** Updates its state at the end of the cycle. */
  def step(): Unit = {
    val ready = port.ar.ready.peekBoolean()
    if (port.r.valid.peekBoolean()) {
      reads.dequeue() // without regard to ready
      if (!port.r.ready.peekBoolean()) lostAnswers += 1
    }
    if (port.b.valid.peekBoolean() && port.b.ready.peekBoolean()) writes.dequeue()
    val (read, write) = (ready && port.ar.valid.peekBoolean(), ready && port.aw.valid.peekBoolean())
    if (read && write) lostReads += 1
    else if (read) reads.enqueue((port.ar.bits.id.peekInt(), cycle + 3 + random.nextInt(12)))
    if (write) writes.enqueue((port.aw.bits.id.peekInt(), cycle + 3))
    if (read || write) requests += 1
    cycle += 1
  }
}

/** The same ports, connected directly. */
class NoAdapter(p: Axi4Params) extends Module {
  val io = IO(new Bundle {
    val upstream = Flipped(new Axi4Port(p))
    val controller = new Axi4Port(p)
  })
  io.controller <> io.upstream
}

class ControllerAdapterSpec extends AnyFlatSpec with ChiselScalatestTester {

  // A code is slow to interpret; tests of one configuration share what was compiled.
  private val compiled = Seq(VerilatorBackendAnnotation, CachingAnnotation)
  private val p = Axi4Params(dataBits = 64, idBits = 8, lenBits = 8)

  private case class Outcome(answered: Int, written: Int, asked: Int, habits: Habits)

  /** Sends reads and writes at the given rates and accepts responses at a third rate, then waits for the rest. */
  private def run(
      io: Axi4Port,
      controller: Axi4Port,
      clock: Clock,
      seed: Int,
      rate: Double,
      take: Double,
      busy: Double
  ) = {
    val random = new Random(seed)
    val habits = new Habits(controller, random, busy)
    var (asked, sent, answered, written) = (0, 0, 0, 0)
    var (readOffered, writeOffered) = (false, false)
    val expected = mutable.Queue[Int]()
    for (cycle <- 0 until 1400) {
      val load = cycle < 1000
      readOffered ||= load && random.nextDouble() < rate
      writeOffered ||= load && random.nextDouble() < rate
      io.ar.valid.poke(readOffered)
      io.ar.bits.id.poke(asked % 256)
      Seq(io.aw.valid, io.w.valid).foreach(_.poke(writeOffered))
      io.aw.bits.id.poke(sent % 256)
      io.w.bits.last.poke(true)
      io.r.ready.poke(!load || random.nextDouble() < take)
      io.b.ready.poke(!load || random.nextDouble() < take)
      habits.offer()
      if (readOffered && io.ar.ready.peekBoolean()) {
        expected.enqueue(asked % 256)
        asked += 1
        readOffered = false
      }
      if (writeOffered && io.aw.ready.peekBoolean()) {
        assert(io.w.ready.peekBoolean(), "a write's address went without its data")
        sent += 1
        writeOffered = false
      }
      if (io.r.valid.peekBoolean() && io.r.ready.peekBoolean()) {
        answered += 1
        if (habits.lostReads + habits.lostAnswers == 0) assert(io.r.bits.id.peekInt() == expected.dequeue())
      }
      if (io.b.valid.peekBoolean() && io.b.ready.peekBoolean()) written += 1
      habits.step()
      clock.step()
    }
    Outcome(answered, written, asked, habits)
  }

  behavior of "ControllerAdapter"
  it should "lose nothing to the controller's habits" in {
    test(new ControllerAdapter(p, reads = 16, writes = 16)).withAnnotations(compiled) { dut =>
      for (seed <- 1 to 8) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        val (rate, take, busy) =
          (Seq(0.2, 0.6, 1.0)(seed % 3), 0.2 + 0.8 * random.nextDouble(), 0.5 * random.nextDouble())
        val outcome = run(dut.io.upstream, dut.io.controller, dut.clock, seed, rate, take, busy)
        assert(outcome.habits.lostReads == 0 && outcome.habits.lostAnswers == 0)
        assert(outcome.asked > 50 && outcome.answered == outcome.asked && outcome.written > 50)
      }
    }
  }

  for (bits <- 0 to 2)
    it should s"correct an answer that waits with $bits flipped bits, or poison it" in {
      test(new ControllerAdapter(p)).withAnnotations(compiled) { dut =>
        val io = dut.io
        for (inject <- io.inject) {
          inject.valid.poke(bits > 0)
          inject.bits.poke(bits > 1)
        }
        dut.clock.step()
        io.inject.foreach(_.valid.poke(false))
        // The first response is not accepted, so the second waits behind the memory.
        for (id <- 1 to 2) {
          io.controller.r.valid.poke(true)
          io.controller.r.bits.id.poke(id)
          io.controller.r.bits.data.poke(77)
          io.controller.r.bits.last.poke(true)
          io.controller.b.valid.poke(true)
          io.controller.b.bits.id.poke(id)
          dut.clock.step()
        }
        io.controller.r.valid.poke(false)
        io.controller.b.valid.poke(false)
        dut.clock.step(ProtectedQueue.ofBlockRam)
        for (id <- 1 to 2) {
          val flipped = if (id == 2) bits else 0
          for (fault <- io.faults) {
            fault.corrected.expect(flipped == 1)
            fault.uncorrected.expect(flipped == 2)
          }
          io.upstream.r.valid.expect(true)
          io.upstream.r.bits.id.expect(id)
          io.upstream.r.bits.data.expect(77)
          io.upstream.r.bits.last.expect(true)
          io.upstream.r.bits.user.expect(flipped == 2)
          io.upstream.b.bits.id.expect(id)
          io.upstream.b.bits.resp.expect(if (flipped == 2) Axi4.Resp.SlvErr else Axi4.Resp.Okay)
          io.upstream.r.ready.poke(true)
          io.upstream.b.ready.poke(true)
          dut.clock.step()
        }
        io.upstream.r.valid.expect(false)
      }
    }

  it should "take a request every cycle when reads and writes are both there" in {
    test(new ControllerAdapter(p)).withAnnotations(compiled) { dut =>
      val outcome = run(dut.io.upstream, dut.io.controller, dut.clock, 1, 1.0, 1.0, 0.0)
      assert(outcome.habits.requests >= 1000)
    }
  }

  "The controller without an adapter" should "lose reads taken with a write, and answers that nobody takes" in {
    test(new NoAdapter(p)) { dut =>
      val outcome = run(dut.io.upstream, dut.io.controller, dut.clock, 1, 0.6, 0.5, 0.2)
      assert(outcome.habits.lostReads > 10 && outcome.habits.lostAnswers > 10)
      assert(outcome.answered < outcome.asked)
    }
  }
}
