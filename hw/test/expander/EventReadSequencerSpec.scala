// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.Axi4Params
import anemone.flat.FlatParams
import anemone.nemo.{AcknowledgeUnit, NemoParams}
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

/** Events and reads leave in the order in which they came, whatever the engine does meanwhile. */
class EventReadSequencerSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val undecided = 8
  private val memory = Axi4Params(addressBits = 20, idBits = 4)
  private val p = ExpanderParams(
    NemoParams(pipelines = 2, channels = 1, states = 16, table = 2, addressBits = 16, outcomes = true),
    memory,
    telemetryReads = 8,
    readsInFlight = 8,
    flat = Some(FlatParams(memory, addressBits = 16, requests = undecided, events = true))
  )

  it should "hold nothing back for a read that waits for an acknowledgement and what came meanwhile" in {
    test(new EventReadSequencer(p, undecided)) { dut =>
      dut.io.event.valid.poke(false.B)
      dut.io.read.valid.poke(true.B)
      dut.io.first.read.ready.poke(false.B)
      dut.io.open.expect(true.B)
      dut.clock.step()
      dut.io.read.valid.poke(false.B)
      dut.io.event.valid.poke(true.B)
      for (_ <- 0 until 2 * AcknowledgeUnit.slots(p.nemo)) {
        dut.io.hold.expect(false.B)
        dut.clock.step()
      }
    }
  }

  for (bits <- 0 to 2)
    it should s"keep what waits and has $bits flipped bits, or drop an event and the effect of a read" in {
      test(new EventReadSequencer(p, undecided)) { dut =>
        for ((inject, k) <- dut.io.inject.zipWithIndex) {
          inject.valid.poke(bits > 0)
          inject.bits.poke(bits > 1)
        }
        dut.io.read.bits.effect.poke(true)
        dut.io.read.bits.line.poke(1)
        dut.clock.step()
        dut.io.inject.foreach(_.valid.poke(false))
        dut.io.first.read.ready.poke(false)
        // A read, then an event, then both again: the second of each waits in a memory.
        dut.io.read.valid.poke(true)
        dut.clock.step()
        dut.io.event.valid.poke(true)
        for (k <- 0 until 2) {
          dut.io.event.bits.address.poke(100 + k)
          dut.io.read.valid.poke(k == 1)
          dut.clock.step()
        }
        dut.io.event.valid.poke(false)
        dut.io.read.valid.poke(false)
        dut.io.first.read.ready.poke(true)
        val order = Seq.newBuilder[String]
        val faults = Array.fill(2)("")
        for (_ <- 0 until 12) {
          for ((fault, k) <- dut.io.faults.zipWithIndex) {
            if (fault.corrected.peekBoolean()) faults(k) += "c"
            if (fault.uncorrected.peekBoolean()) faults(k) += "u"
          }
          assert(!(dut.io.first.event.valid.peekBoolean() && dut.io.first.read.valid.peekBoolean()))
          if (dut.io.first.event.valid.peekBoolean()) order += dut.io.first.event.bits.address.peekInt().toString
          if (dut.io.first.read.valid.peekBoolean())
            order += (if (dut.io.first.read.bits.effect.peekBoolean()) "effect" else "read")
          dut.clock.step()
        }
        val wanted = if (bits < 2) Seq("effect", "100", "101", "effect") else Seq("effect", "read", "100")
        assert(order.result().sorted == wanted.sorted)
        assert(faults.forall(_ == Seq("", "c", "u")(bits)), faults.mkString(","))
      }
    }

  it should "keep one order, and lose no event of a controller that heeds hold" in {
    test(new EventReadSequencer(p, undecided)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      val random = new Random(20261121)
      for (eager <- Seq(1.0, 0.5, 0.1); reading <- Seq(0.1, 0.5, 1.0)) {
        // What is queued: an event's address, or -1 minus a read's line; and when it came.
        val order = mutable.Queue[Int]()
        val came = mutable.Queue[Int]()
        var inFlight, heldCycles, reads, number = 0
        for (cycle <- 0 until 3000) {
          if (dut.io.hold.peek().litToBoolean) heldCycles += 1
          else if (inFlight < undecided && random.nextInt(8) > 0) inFlight += 1
          val event = inFlight > 0 && random.nextInt(8) > 0
          val read = dut.io.open.peek().litToBoolean && reads < p.telemetryReads && random.nextDouble() < reading
          number = (number + 1) % (1 << 10)
          dut.io.event.valid.poke(event.B)
          dut.io.event.bits.address.poke(number.U)
          dut.io.read.valid.poke(read.B)
          dut.io.read.bits.line.poke((number % 2).U)
          dut.io.first.read.ready.poke((random.nextDouble() < eager).B)
          val (out, asked) = (dut.io.first.event.valid.peek().litToBoolean, dut.io.first.read.valid.peek().litToBoolean)
          assert(!(out && asked))
          assert(
            out || asked || came.headOption.forall(cycle - _ <= 4),
            "what is first goes when it has left its memory"
          )
          assert(!out || order.headOption.exists(_ >= 0), "an event goes when it is first")
          assert(!asked || order.headOption.exists(_ < 0), "a read is offered when it is first")
          if (out) {
            dut.io.first.event.bits.address.expect(order.dequeue().U)
            came.dequeue()
          }
          if (asked) {
            dut.io.first.read.bits.line.expect((-1 - order.head).U)
            if (dut.io.first.read.ready.peek().litToBoolean) {
              order.dequeue()
              came.dequeue()
              reads -= 1
            }
          }
          if (event) { inFlight -= 1; order += number }
          if (read) { reads += 1; order += -1 - number % 2 }
          for (_ <- 0 until Seq(event, read).count(identity)) came += cycle
          dut.clock.step()
        }
        if (eager == 1.0) assert(heldCycles == 0, "reads of one slot are not felt")
        if (eager == 0.1 && reading == 1.0) assert(heldCycles > 0)
        // Empty it for the next iteration.
        dut.io.event.valid.poke(false.B)
        dut.io.read.valid.poke(false.B)
        dut.io.first.read.ready.poke(true.B)
        dut.clock.step(100)
      }
    }
  }
}
