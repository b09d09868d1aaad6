// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.SixInputs
import chisel3._
import chisel3.util._

/** Rotates a state word to the right, two digits of the amount a row of look-ups. Combinational. */
class Rotator(p: NemoParams) extends RawModule {
  val word = IO(Input(UInt(p.wordBits.W)))
  val amount = IO(Input(UInt(log2Ceil(p.wordBits).W)))
  val rotated = IO(Output(UInt(p.wordBits.W)))
  private val digits = (0 until log2Ceil(p.wordBits)).grouped(2).toSeq.reverse
  rotated := digits.foldLeft(word) { (word, digit) =>
    val turned = Seq.tabulate(1 << digit.size) { n =>
      val by = n << digit.head
      if (by == 0) word else Cat(word(by - 1, 0), word(p.wordBits - 1, by))
    }
    SixInputs.choice(turned, amount(digit.last, digit.head), p.wordBits)
  }
}

object Rotator {
  def apply(word: UInt, amount: UInt, p: NemoParams): UInt = {
    val rotator = Module(new Rotator(p))
    rotator.word := word
    rotator.amount := amount
    rotator.rotated
  }
}
