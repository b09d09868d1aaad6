// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class CounterBench(ports: Int, bits: Int) extends Module {
  private val counter = Module(new WideCounter(ports, bits))
  val io = IO(new Bundle {
    val flags = Input(Vec(ports, Bool()))
    val clear = Input(Bool())
    val total = Output(UInt(bits.W))
  })
  counter.io.flags := io.flags
  counter.io.clear := io.clear
  counter.io.tick := WideCounter.ticks()
  io.total := counter.io.total
}

class WideCounterSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "WideCounter"
  for ((flags, bits, often) <- Seq((1, 10, 4), (2, 12, 4), (2, 64, 4), (4, 13, 4), (4, 13, 2)))
    it should s"count $flags flags, set $often times in 4, modulo 2^$bits, and clear at any time" in {
      test(new CounterBench(flags, bits)) { dut =>
        dut.clock.setTimeout(0)
        val random = new Random(bits * flags + often)
        var counts = Seq.fill(2)(BigInt(0))
        val modulus = BigInt(1) << bits
        for (round <- 0 until 3) {
          for (cycle <- 0 until (if (round == 0) 12000 else 2000 + random.nextInt(500))) {
            val set = Seq.fill(flags)(often == 4 || random.nextInt(4) < often)
            dut.io.flags.zip(set).foreach { case (port, flag) => port.poke(flag) }
            dut.io.total.expect(counts.head, s"round $round, cycle $cycle")
            counts = Seq(counts.last, (counts.last + set.count(identity)) % modulus)
            dut.clock.step()
          }
          dut.io.clear.poke(true)
          dut.io.flags.foreach(_.poke(false))
          dut.clock.step(2)
          dut.io.clear.poke(false)
          counts = Seq.fill(2)(BigInt(0))
        }
      }
    }
}
