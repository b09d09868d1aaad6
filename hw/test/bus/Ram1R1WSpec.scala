// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec

class Ram1R1WSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "Ram1R1W"

  it should "answer a read two cycles later, and with zero when nothing was asked" in {
    test(new Ram1R1W(8, 12)) { dut =>
      dut.io.write.valid.poke(true)
      for (i <- 0 until 8) {
        dut.io.write.bits.address.poke(i)
        dut.io.write.bits.data.poke(100 + i)
        dut.clock.step()
      }
      dut.io.write.valid.poke(false)
      val asked = Seq(3, -1, 5, 0, -1, -1, 7, 7)
      for ((address, cycle) <- (asked ++ Seq(-1, -1)).zipWithIndex) {
        dut.io.read.valid.poke(address >= 0)
        dut.io.read.bits.poke(address.max(0))
        val answered = if (cycle >= 2) asked(cycle - 2) else -1
        dut.io.data.expect(if (answered >= 0) 100 + answered else 0)
        dut.clock.step()
      }
    }
  }

  it should "see a write from the next cycle on" in {
    test(new Ram1R1W(4, 8)) { dut =>
      dut.io.write.valid.poke(true)
      dut.io.write.bits.address.poke(2)
      dut.io.write.bits.data.poke(77)
      dut.clock.step()
      dut.io.write.valid.poke(false)
      dut.io.read.valid.poke(true)
      dut.io.read.bits.poke(2)
      dut.clock.step(2)
      dut.io.data.expect(77)
    }
  }

  it should "refuse a size that is none" in {
    assertThrows[IllegalArgumentException](chisel3.emitVerilog(new Ram1R1W(1, 8)))
    assertThrows[IllegalArgumentException](chisel3.emitVerilog(new Ram1R1W(8, 0)))
  }
}
