// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec

class SetRepairSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "SetRepair"

  private val p = FlatParams(Axi4Params(idBits = 3), ratio = 2, addressBits = 12, requests = 8)
  private val lines = 7

  private def idle(dut: SetRepair): Unit = {
    dut.io.nearLines.poke(lines)
    Seq(dut.io.found.valid, dut.io.rearm, dut.io.repair, dut.io.quiet).foreach(_.poke(false.B))
    Seq(dut.io.nearAnswer.valid, dut.io.farAnswer.valid).foreach(_.poke(false.B))
    Seq(dut.io.nearWrite.ready, dut.io.farWrite.ready).foreach(_.poke(true.B))
  }

  private def pulse(dut: SetRepair)(poke: => Unit): Unit = {
    poke
    dut.clock.step()
    idle(dut)
  }

  private def find(dut: SetRepair, set: Int): Unit = pulse(dut) {
    dut.io.found.valid.poke(true.B)
    dut.io.found.bits.poke(set)
  }

  it should "record the first set that is found, until it is rearmed" in {
    test(new SetRepair(p)) { dut =>
      idle(dut)
      dut.io.untrusted.valid.expect(false.B)
      for (set <- Seq(3, 5)) find(dut, set)
      dut.io.untrusted.valid.expect(true.B)
      dut.io.untrusted.set.expect(3)
      pulse(dut)(dut.io.rearm.poke(true.B))
      dut.io.untrusted.valid.expect(false.B)
      find(dut, 6)
      dut.io.untrusted.set.expect(6)
      // A set that is found in the cycle of the rearm is recorded.
      pulse(dut) {
        dut.io.rearm.poke(true.B)
        dut.io.found.valid.poke(true.B)
        dut.io.found.bits.poke(1)
      }
      dut.io.untrusted.valid.expect(true.B)
      dut.io.untrusted.set.expect(1)
      // Nothing to repair.
      pulse(dut)(dut.io.rearm.poke(true.B))
      pulse(dut)(dut.io.repair.poke(true.B))
      dut.io.untrusted.repairing.expect(false.B)
    }
  }

  it should "poison far, then near, once nothing is in flight, and end at a refused write" in {
    test(new SetRepair(p)) { dut =>
      for (refused <- 0 to p.ratio + 1) withClue(s"write $refused refused: ") {
        dut.reset.poke(true.B)
        dut.clock.step()
        dut.reset.poke(false.B)
        idle(dut)
        find(dut, 4)
        pulse(dut)(dut.io.repair.poke(true.B))
        for (_ <- 0 until 5) {
          dut.io.untrusted.repairing.expect(true.B)
          dut.io.writing.expect(false.B)
          Seq(dut.io.nearWrite.valid, dut.io.farWrite.valid).foreach(_.expect(false.B))
          pulse(dut)(dut.io.rearm.poke(true.B)) // too late
        }
        pulse(dut)(dut.io.quiet.poke(true.B))
        for (write <- 0 to math.min(refused, p.ratio)) {
          val near = write == p.ratio
          dut.io.writing.expect(true.B)
          dut.io.nearWrite.valid.expect(near.B)
          dut.io.farWrite.valid.expect((!near).B)
          val (line, stored) =
            if (near) (dut.io.nearWrite.bits.line, dut.io.nearWrite.bits.stored)
            else (dut.io.farWrite.bits.line, dut.io.farWrite.bits.stored)
          line.expect(if (near) 4 else 4 + write * lines)
          stored.poison.expect(true.B)
          stored.strobe.expect((BigInt(1) << 64) - 1)
          dut.clock.step()
          dut.io.nearWrite.valid.expect(false.B)
          dut.io.farWrite.valid.expect(false.B)
          pulse(dut) {
            val answer = if (near) dut.io.nearAnswer else dut.io.farAnswer
            answer.valid.poke(true.B)
            answer.bits.error.poke((write == refused).B)
          }
        }
        dut.io.untrusted.repairing.expect(false.B)
        dut.io.untrusted.valid.expect((refused <= p.ratio).B)
        dut.io.untrusted.set.expect(4)
      }
    }
  }
}
