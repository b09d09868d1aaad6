// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class InterruptUnitSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val n = 33
  private val verilator = Seq(VerilatorBackendAnnotation)

  private def start(dut: InterruptUnit): Unit = {
    for (v <- 0 until n) dut.io.enable(v).poke(true)
    dut.io.message.ready.poke(true)
  }
  private def message(dut: InterruptUnit): Option[Int] =
    Option.when(dut.io.message.valid.peekBoolean())(dut.io.message.bits.peekInt().toInt)

  private def acknowledge(dut: InterruptUnit, v: Int, still: Boolean): Unit = {
    dut.io.acknowledge(v).poke(true)
    dut.clock.step()
    dut.io.acknowledge(v).poke(false)
    dut.io.pending(v).poke(still)
  }

  behavior of "InterruptUnit"
  it should "send the cycle after a lone cause, and one message of a storm until acknowledged" in {
    test(new InterruptUnit(n)).withAnnotations(verilator) { dut =>
      start(dut)
      for (v <- Seq(0, 7, n - 1)) {
        dut.io.pending(v).poke(true)
        assert(message(dut).isEmpty)
        dut.clock.step()
        assert(message(dut).contains(v))
        for (_ <- 0 until 100) {
          dut.clock.step()
          assert(message(dut).isEmpty)
        }
        acknowledge(dut, v, still = true)
        assert(message(dut).isEmpty)
        dut.clock.step()
        assert(message(dut).contains(v), "pending after the acknowledge sends again")
        dut.clock.step()
        acknowledge(dut, v, still = false)
        for (_ <- 0 until 5) {
          dut.clock.step()
          assert(message(dut).isEmpty, "not pending any more")
        }
      }
    }
  }

  it should "send nothing of a masked vector until it is enabled" in {
    test(new InterruptUnit(n)).withAnnotations(verilator) { dut =>
      start(dut)
      dut.io.enable(3).poke(false)
      dut.io.pending(3).poke(true)
      for (_ <- 0 until 50) {
        dut.clock.step()
        assert(message(dut).isEmpty)
      }
      dut.io.enable(3).poke(true)
      dut.clock.step()
      assert(message(dut).contains(3))
    }
  }

  it should "let all vectors take turns, each within the bound" in {
    test(new InterruptUnit(n)).withAnnotations(verilator) { dut =>
      start(dut)
      for (v <- 0 until n) dut.io.pending(v).poke(true)
      val last = mutable.Map[Int, Int]()
      for (cycle <- 0 until 4 * n) {
        dut.clock.step()
        for (v <- 0 until n) dut.io.acknowledge(v).poke(false)
        val v = message(dut).get
        assert(cycle - last.getOrElse(v, -1) <= n + 1, s"vector $v")
        last(v) = cycle
        dut.io.acknowledge(v).poke(true)
      }
      assert(last.keySet == (0 until n).toSet)
    }
  }

  it should "send one message a cause, whatever acknowledges, masks and takers do" in {
    test(new InterruptUnit(n)).withAnnotations(verilator) { dut =>
      val random = new Random(1)
      val pending, outstanding = Array.fill(n)(false)
      var held: Option[Int] = None
      var sent, again = 0
      for (_ <- 0 until 20000) {
        val (hit, acknowledge) = (Array.fill(n)(random.nextInt(60) == 0), Array.fill(n)(random.nextInt(40) == 0))
        val ready = random.nextInt(4) > 0
        for (v <- 0 until n) {
          dut.io.pending(v).poke(pending(v))
          dut.io.enable(v).poke(random.nextInt(8) > 0)
          dut.io.acknowledge(v).poke(acknowledge(v))
        }
        dut.io.message.ready.poke(ready)
        val now = message(dut)
        if (held.nonEmpty) assert(now == held, "held until taken")
        else
          for (v <- now) {
            assert(!outstanding(v), s"vector $v twice")
            outstanding(v) = true
            sent += 1
          }
        held = now.filterNot(_ => ready)
        for (v <- 0 until n) {
          if (acknowledge(v) && hit(v) && outstanding(v)) again += 1
          if (acknowledge(v)) outstanding(v) = false
          pending(v) = hit(v) || (pending(v) && !acknowledge(v))
        }
        dut.clock.step()
      }
      for (v <- 0 until n) { dut.io.enable(v).poke(true); dut.io.acknowledge(v).poke(false) }
      for (v <- 0 until n) dut.io.pending(v).poke(pending(v))
      dut.io.message.ready.poke(true)
      for (_ <- 0 to n) {
        for (v <- message(dut)) outstanding(v) = true
        dut.clock.step()
      }
      assert(pending.zip(outstanding).forall { case (due, out) => !due || out }, "one was lost")
      assert(sent > 5000 && again > 50, s"$sent messages, $again races")
    }
  }
}
