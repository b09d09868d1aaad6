// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import anemone.bus.Axi4Params
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class NearInitialiserSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "NearInitialiser"

  it should "be done when every line was accepted, whatever was refused before" in {
    val p = FlatParams(Axi4Params(idBits = 3), addressBits = 12, requests = 8)
    test(new NearInitialiser(p)) { dut =>
      for (seed <- 0 until 60) withClue(s"seed $seed: ") {
        val random = new Random(seed)
        val lines = 1 + random.nextInt(64)
        val (takes, answers) = (0.1 + 0.9 * random.nextDouble(), 0.1 + 0.9 * random.nextDouble())
        val refuses = Seq(0, 0.02, 0.3, 0.7)(seed % 4)
        Seq(dut.reset, dut.io.powerOn).foreach(_.poke(true.B))
        dut.io.nearLines.poke(lines)
        dut.io.answer.valid.poke(false.B)
        dut.clock.step()
        Seq(dut.reset, dut.io.powerOn).foreach(_.poke(false.B))
        val outstanding = collection.mutable.Queue[Int]()
        val written = collection.mutable.Set[Int]()
        var (cycles, writes) = (0, 0)
        while (!dut.io.done.peekBoolean()) {
          val answered = outstanding.nonEmpty && random.nextDouble() < answers
          val error = random.nextDouble() < refuses
          dut.io.answer.valid.poke(answered)
          dut.io.answer.bits.error.poke(error)
          dut.io.write.ready.poke(random.nextDouble() < takes)
          if (answered) {
            val line = outstanding.dequeue()
            if (error) written -= line else written += line
          }
          if (dut.io.write.valid.peekBoolean() && dut.io.write.ready.peekBoolean()) {
            outstanding += dut.io.write.bits.line.peekInt().toInt
            writes += 1
          }
          dut.clock.step()
          cycles += 1
          assert(cycles < 200000, "not done")
        }
        assert(written == (0 until lines).toSet && outstanding.isEmpty)
        if (refuses == 0) assert(writes == lines)
      }
    }
  }
}
