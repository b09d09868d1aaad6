// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import anemone.bus.MappedAlone
import chisel3._
import chisel3.util._

/** Rotates a state word to the right. Combinational. */
class Rotator(p: NemoParams) extends RawModule with MappedAlone {
  val word = IO(Input(UInt(p.wordBits.W)))
  val amount = IO(Input(UInt(log2Ceil(p.wordBits).W)))
  val rotated = IO(Output(UInt(p.wordBits.W)))
  rotated := (0 until log2Ceil(p.wordBits)).reverse.foldLeft(word) { (word, stage) =>
    val n = 1 << stage
    Mux(amount(stage), Cat(word(n - 1, 0), word(p.wordBits - 1, n)), word)
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
