// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class SlotArbiterSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = NemoParams(pipelines = 2, channels = 1, states = 64, table = 16, addressBits = 16)

  private def idle(dut: SlotArbiter): Unit = {
    dut.io.event.valid.poke(false)
    dut.io.read.valid.poke(false)
    dut.io.hold.poke(false)
    dut.io.serialRmw(0).poke(false)
    dut.io.serialRmw(1).poke(true)
  }

  behavior of "SlotArbiter"

  it should "let an event pass in a cycle, whatever is read" in {
    test(new SlotArbiter(p)) { dut =>
      idle(dut)
      dut.io.event.valid.poke(true)
      dut.io.event.bits.address.poke(0x1240)
      dut.io.read.valid.poke(true)
      dut.io.read.ready.expect(false)
      dut.clock.step()
      dut.io.slot.event.expect(true)
      dut.io.slot.read.expect(false)
      dut.io.slot.request.address.expect(0x1240)
      dut.io.event.valid.poke(false)
      dut.io.read.ready.expect(true)
      dut.clock.step()
      dut.io.slot.event.expect(false)
      dut.io.slot.read.expect(true)
    }
  }

  it should "start no read while a rule is about to change" in {
    test(new SlotArbiter(p)) { dut =>
      idle(dut)
      dut.io.read.valid.poke(true)
      dut.io.hold.poke(true)
      dut.io.read.ready.expect(false)
      dut.clock.step()
      dut.io.slot.read.expect(false)
    }
  }

  it should "keep one order of events and reads, serial RMW included, and lose none" in {
    test(new SlotArbiter(p)) { dut =>
      for (seed <- 1 to 6) {
        info(s"seed $seed")
        val random = new Random(seed)
        idle(dut)
        dut.clock.step(40)
        val eventRate = Seq(0.0, 0.3, 0.6, 0.9, 1.0)(random.nextInt(5))
        val accepted = mutable.Queue[String]()
        var deepest = 0
        for (cycle <- 0 until 1500) {
          val event = random.nextDouble() < (if (cycle % 300 < 250) eventRate else 0.0)
          val read = random.nextDouble() < 0.7
          val (address, line, serialRmw) = (random.nextInt(1 << 16), random.nextInt(8), random.nextInt(3) == 0)
          dut.io.event.valid.poke(event)
          dut.io.event.bits.address.poke(address)
          dut.io.read.valid.poke(read)
          dut.io.read.bits.pipeline.poke(if (serialRmw) 1 else 0)
          dut.io.read.bits.line.poke(line)
          dut.io.read.bits.effect.poke(true)
          if (read && dut.io.read.ready.peekBoolean()) {
            assert(!event, "a read took the slot of an event")
            if (serialRmw) (0 until 8).foreach(k => accepted.enqueue(s"serial $line $k"))
            else accepted.enqueue(s"read $line")
          }
          if (event) accepted.enqueue(s"event $address")
          deepest = deepest.max(accepted.size)
          dut.clock.step()
          val slot = dut.io.slot
          val seen =
            if (slot.event.peekBoolean()) Some(s"event ${slot.request.address.peekInt()}")
            else if (!slot.read.peekBoolean()) None
            else if (slot.serialRmw.peekBoolean()) Some(s"serial ${slot.target.line.peekInt()} ${slot.word.peekInt()}")
            else Some(s"read ${slot.target.line.peekInt()}")
          // Every cycle has a slot while something accepted has none yet.
          assert(seen == accepted.headOption, s"seed $seed, cycle $cycle")
          if (accepted.nonEmpty) accepted.dequeue()
        }
        assert(deepest <= 8, "more waits than a serial RMW can hold up")
      }
    }
  }
}
