// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class StateArraySpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = NemoParams(pipelines = 1, channels = 1, states = 32, table = 2)

  behavior of "StateArray"
  for (seed <- 1 to 3)
    it should s"return the words that were read and not killed as they were written, with parity, seed $seed" in {
      test(new StateArray(p)) { dut =>
        val random = new Random(seed)
        val words = Array.fill(p.lines, p.lineWords)((BigInt(0), 0))
        var asked = Seq.fill(2)(Seq.fill(p.lineWords)((BigInt(0), 0)))
        var drop = 0
        for (cycle <- 0 until 400) {
          val (line, readLine) = (random.nextInt(p.lines), random.nextInt(p.lines))
          // A line's content is unknown until it was written.
          val write = if (cycle < p.lines) 0xff else random.nextInt(256) & random.nextInt(256)
          val at = if (cycle < p.lines) cycle else line
          val read = if (cycle < p.lines) 0 else random.nextInt(256)
          dut.io.kill.poke(drop)
          drop = (random.nextInt(256) & random.nextInt(256)) | (if (readLine == at) write else 0)
          val value = (BigInt(64, random), random.nextInt(4))
          dut.io.write.line.poke(at)
          dut.io.write.words.poke(write)
          dut.io.value.data.poke(value._1)
          dut.io.value.parity.poke(value._2)
          dut.io.read.line.poke(readLine)
          dut.io.read.words.poke(read)
          for (k <- 0 until p.lineWords) {
            dut.io.words(k).data.expect(asked.head(k)._1, s"cycle $cycle, word $k")
            dut.io.words(k).parity.expect(asked.head(k)._2, s"cycle $cycle, word $k")
          }
          asked = asked.tail :+ Seq.tabulate(p.lineWords) { k =>
            if ((((read & ~drop) >> k) & 1) == 1) words(readLine)(k) else (BigInt(0), 0)
          }
          for (k <- 0 until p.lineWords if ((write >> k) & 1) == 1) words(at)(k) = value
          dut.clock.step()
        }
      }
    }
}
