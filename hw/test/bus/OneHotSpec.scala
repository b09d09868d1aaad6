// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util.log2Ceil
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class OneHotSpec extends AnyFlatSpec with ChiselScalatestTester {

  private class Functions(width: Int) extends Module {
    val mask = IO(Input(UInt(width.W)))
    val above, first = IO(Output(UInt(width.W)))
    val number = IO(Output(UInt(log2Ceil(width).max(1).W)))
    val several = IO(Output(Bool()))
    above := OneHot.above(mask, width)
    first := OneHot.first(mask, width)
    number := OneHot.number(OneHot.first(mask, width), width)
    several := OneHot.several(mask, width)
  }

  private def lowest(mask: BigInt): BigInt = if (mask == 0) 0 else BigInt(1) << mask.lowestSetBit

  behavior of "OneHot"
  for (width <- Seq(2, 3, 4, 7, 8, 9, 10, 16, 32)) {
    it should s"select of $width bits" in {
      test(new Functions(width)) { dut =>
        val random = new Random(width)
        val all = BigInt(1) << width
        val masks =
          if (width <= 8) (BigInt(0) until all)
          else Seq.fill(300)(BigInt(width, random) & BigInt(width, random) & BigInt(width, random))
        for (mask <- masks) {
          dut.mask.poke(mask)
          val one = lowest(mask)
          dut.first.expect(one)
          dut.above.expect(if (one == 0) BigInt(0) else all - 2 * one)
          dut.number.expect(BigInt(mask.lowestSetBit.max(0)))
          dut.several.expect(mask.bitCount > 1)
        }
      }
    }
  }
}
