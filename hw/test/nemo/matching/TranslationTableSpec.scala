// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.collection.mutable
import scala.util.Random

class TranslationTableSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "TranslationTable"
  for (table <- Seq(2, TranslationTable.bankDepth, 4 * TranslationTable.bankDepth))
    it should s"answer reads of $table entries in two cycles, whatever bank, and zero where there was none" in {
      test(new TranslationTable(NemoParams(table = table))) { dut =>
        dut.clock.setTimeout(0)
        val random = new Random(table)
        // A few keys in every bank and at the banks' borders.
        val some = Seq.fill(12)(random.nextInt(table)) ++ Seq(0, table - 1, table / 2, table / 2 - 1)
        def key() = some(random.nextInt(some.size))
        val entries = mutable.Map[Int, BigInt]()
        val expected = mutable.Queue.fill(2)(BigInt(0))
        for (cycle <- 0 until 2000) {
          val (read, write) = (key(), key())
          val reads = random.nextInt(3) > 0 && read != write && entries.contains(read)
          dut.io.read.valid.poke(reads)
          dut.io.read.bits.poke(read)
          val data = BigInt(17, random)
          dut.io.write.valid.poke(true)
          dut.io.write.bits.address.poke(write)
          dut.io.write.bits.data.poke(data)
          expected.enqueue(if (reads) entries(read) else 0)
          entries(write) = data
          dut.io.data.expect(expected.dequeue(), s"cycle $cycle")
          dut.io.parityError.expect(false)
          dut.clock.step()
        }
      }
    }

  it should "say of an entry in which one bit or two beside each other are flipped that it is bad, when it is read" in {
    test(new TranslationTable(NemoParams(table = 4))) { dut =>
      for (key <- 0 until 4) {
        dut.io.write.valid.poke(true)
        dut.io.write.bits.address.poke(key)
        dut.io.write.bits.data.poke(5 * key)
        dut.io.flips.poke(key)
        dut.clock.step()
      }
      dut.io.write.valid.poke(false)
      for (key <- 0 until 4) {
        dut.io.read.valid.poke(true)
        dut.io.read.bits.poke(key)
        dut.clock.step()
        dut.io.read.valid.poke(false)
        dut.clock.step()
        dut.io.parityError.expect(key > 0)
        dut.io.data.expect(5 * key ^ key)
        dut.clock.step()
        dut.io.parityError.expect(false)
      }
    }
  }
}
