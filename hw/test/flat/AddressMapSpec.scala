// SPDX-License-Identifier: Apache-2.0
package anemone.flat

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class AddressMapSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "AddressMap"

  for (ratio <- 1 to 4) it should s"divide by any number of near lines, ratio $ratio" in {
    val channels = Seq(1, 2, 4)(ratio % 3)
    val p = FlatParams(ratio = ratio, addressBits = 20, channels = channels)
    val all = 1 << p.lineBits
    test(new AddressMap(p)) { dut =>
      for (seed <- 0 until 40) {
        val random = new Random(seed)
        val near = Seq(1, 2, 3, 64, 1000, all / (ratio + 1), all)(seed % 7)
        val start = if (seed % 3 == 0) random.nextInt(all) else 0
        val end = if (seed % 3 == 0) start + 1 + random.nextInt(50) else 0
        dut.io.config.nearLines.poke(near)
        dut.io.config.dedicatedStart.poke(start)
        dut.io.config.dedicatedEnd.poke(end)
        dut.clock.step()
        val edges = (0 to ratio + 1).flatMap(k => Seq(k * near - 1, k * near, k * near + 1)) ++ Seq(start, end, end - 1)
        for (line <- edges.filter(_ >= 0) ++ Seq.fill(60)(random.nextInt(all)) :+ ((1 << 30) + 5)) {
          val (channel, asked) = (random.nextInt(channels), random.nextInt(channels))
          dut.io.channel.poke(channel)
          dut.io.line.poke(line.toLong * channels + asked)
          val dedicated = line >= start && line < end
          val nowhere = asked != channel || line >= all
          val outside = nowhere || (!dedicated && line.toLong >= (ratio + 1).toLong * near)
          withClue(s"seed $seed, line $line of $near near lines, dedicated $start to $end: ") {
            dut.io.mapped.dedicated.expect(dedicated)
            dut.io.mapped.outside.expect(outside)
            if (dedicated && !outside) {
              dut.io.mapped.nearIndex.expect(near + line - start)
            } else if (!outside) {
              dut.io.mapped.nearIndex.expect(line % near)
              dut.io.mapped.tag.expect(line / near)
            }
          }
        }
      }
    }
  }
}
