// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class MshrOpListsSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "MshrOpLists"

  it should "keep each MSHR's operations, in their order" in {
    val p = FlatParams(Axi4Params(idBits = 3), addressBits = 12, requests = 8)
    test(new MshrOpListsReference(p)) { dut =>
      for (seed <- 0 until 60) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        val (mshrs, pushes, pops) = (1 + random.nextInt(8), random.nextDouble(), random.nextDouble())
        dut.reset.poke(true.B)
        dut.io.watched.poke(random.nextInt(mshrs))
        dut.clock.step()
        dut.reset.poke(false.B)
        for (_ <- 0 until 200) {
          dut.io.push.valid.poke(random.nextDouble() < pushes)
          dut.io.push.bits.mshr.poke(random.nextInt(mshrs))
          dut.io.push.bits.request.poke(random.nextInt(8))
          dut.io.push.bits.op.write.poke(random.nextBoolean())
          dut.io.push.bits.op.full.poke(random.nextBoolean())
          dut.io.push.bits.op.tag.poke(random.nextInt(2))
          dut.io.follow.poke(random.nextBoolean())
          dut.io.pop.poke(random.nextDouble() < pops)
          dut.io.from.poke(random.nextInt(mshrs))
          dut.io.wrongWaiting.expect(false.B)
          dut.io.wrongHead.expect(false.B)
          dut.clock.step()
        }
      }
    }
  }
}
