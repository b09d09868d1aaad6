// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class MshrOpListsSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "MshrOpLists"

  it should "keep each lock's operations, in their order" in {
    val p = FlatParams(Axi4Params(idBits = 3), addressBits = 12, requests = 8)
    test(new MshrOpListsReference(p)) { dut =>
      for (seed <- 0 until 60) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        val (locks, puts, takes) = (1 + random.nextInt(8), random.nextDouble(), random.nextDouble())
        dut.reset.poke(true.B)
        dut.io.watched.poke(random.nextInt(locks))
        dut.clock.step()
        dut.reset.poke(false.B)
        for (_ <- 0 until 200) {
          dut.io.put.valid.poke(random.nextDouble() < puts)
          dut.io.put.bits.lock.poke(random.nextInt(locks))
          dut.io.put.bits.request.poke(random.nextInt(8))
          dut.io.put.bits.op.write.poke(random.nextBoolean())
          dut.io.put.bits.op.full.poke(random.nextBoolean())
          dut.io.put.bits.op.tag.poke(random.nextInt(2))
          dut.io.mark.poke(random.nextBoolean())
          dut.io.take.poke(random.nextDouble() < takes)
          dut.io.from.poke(random.nextInt(locks))
          dut.io.wrongWaiting.expect(false.B)
          dut.io.wrongFirst.expect(false.B)
          dut.clock.step()
        }
      }
    }
  }
}
