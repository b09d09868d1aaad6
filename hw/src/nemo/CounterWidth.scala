// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** Counters of 8 << width bits, packed in a state word; counter i of a rule is in word i / (counters a word). */
object CounterWidth {

  /** A value of the lowest counter, repeated in every counter of the word. */
  def repeat(value: UInt, width: UInt, p: NemoParams): UInt = {
    val padded = value.pad(p.wordBits)
    def byte(k: Int): UInt = padded(8 * k + 7, 8 * k)
    Cat((0 until p.wordBytes).reverse.map { k =>
      select(width, p)(w => byte(k % (1 << w)))
    })
  }

  /** Which bytes of the word belong to counter `sub`. */
  def bytes(sub: UInt, width: UInt, p: NemoParams): UInt =
    Cat((0 until p.wordBytes).reverse.map(k => select(width, p)(w => (k >> w).U === sub)))

  /** A mask of bits from a mask of bytes. */
  def everyBit(bytes: UInt, p: NemoParams): UInt = Cat((0 until p.wordBytes).reverse.map(k => Fill(8, bytes(k))))

  /** For every byte, whether it is the top one of its counter. */
  def tops(width: UInt, p: NemoParams): UInt =
    Cat((0 until p.wordBytes).reverse.map(k => select(width, p)(w => ((k + 1) % (1 << w) == 0).B)))

  /** For every byte, the flag given at the top byte of its counter. */
  def fromTop(flags: UInt, width: UInt, p: NemoParams): UInt =
    Cat((0 until p.wordBytes).reverse.map(k => select(width, p)(w => flags(k | ((1 << w) - 1)))))

  /** One of several values by width; a width wider than the word counts as the word's. */
  def select[T <: Data](width: UInt, p: NemoParams)(f: Int => T): T =
    MuxLookup(width, f(p.subBits))((0 until p.subBits).map(w => w.U -> f(w)))
}
