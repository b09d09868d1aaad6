// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class MshrAllocatorSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "MshrAllocator"

  it should "give each set one MSHR, for as long as a request waits for it" in {
    val p = FlatParams(Axi4Params(idBits = 3), addressBits = 12, requests = 8)
    test(new MshrAllocatorReference(p)) { dut =>
      var (granted, refused) = (0, 0)
      for (seed <- 0 until 60) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        val (sets, asks, decides, idles) =
          (1 + random.nextInt(12), random.nextDouble(), random.nextDouble(), random.nextDouble())
        dut.reset.poke(true.B)
        dut.io.watched(0).poke(random.nextInt(8))
        dut.io.watched(1).poke(random.nextInt(8))
        dut.clock.step()
        dut.reset.poke(false.B)
        for (_ <- 0 until 200) {
          dut.request.valid.poke(random.nextDouble() < asks)
          dut.request.bits.request.poke(random.nextInt(8))
          dut.request.bits.nearIndex.poke(random.nextInt(sets))
          dut.request.bits.skipLookup.poke(random.nextInt(8) == 0)
          dut.io.decided.valid.poke(random.nextDouble() < decides)
          dut.io.decided.bits.mshr.poke(random.nextInt(8))
          dut.io.decided.bits.request.poke(random.nextInt(8))
          dut.io.idle.poke(if (random.nextDouble() < idles) random.nextInt(256) else 0)
          if (dut.request.valid.peekBoolean()) { if (dut.request.ready.peekBoolean()) granted += 1 else refused += 1 }
          Seq(dut.io.wrongLost, dut.io.wrongShared, dut.io.wrongTwice).foreach(_.expect(false.B))
          dut.clock.step()
        }
      }
      assert(granted > 1000 && refused > 500, s"$granted granted, $refused refused")
    }
  }
}
