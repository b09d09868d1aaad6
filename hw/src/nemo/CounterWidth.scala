// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** Counters of 8 << width bits, or less in a formal proof, packed in a state word; counter i of a rule is in word i / (counters a word). */
object CounterWidth {

  /** A value of the lowest counter, repeated in every counter of the word. */
  def repeat(value: UInt, width: UInt, p: NemoParams): UInt = {
    val padded = value.pad(p.wordBits)
    select(width, p)(w => Fill(p.wordBytes >> w, padded(p.counterBits(w) - 1, 0)))
  }

  /** The bytes of counter `sub`, a bit a byte (a byte is a counter of width 0). */
  def bytes(sub: UInt, width: UInt, p: NemoParams): UInt =
    select(width, p) { w =>
      val counters = p.wordBytes >> w
      if (counters == 1) Fill(p.wordBytes, 1.U) else FillInterleaved(1 << w, UIntToOH(sub(p.subBits - 1 - w, 0), counters))
    }

  /** The highest byte of every counter, a bit a byte. */
  def tops(width: UInt, p: NemoParams): UInt =
    select(width, p)(w => (0 until (p.wordBytes >> w)).map(k => 1 << (((k + 1) << w) - 1)).sum.U(p.wordBytes.W))

  /** The highest bits of some bytes. */
  def topBits(bytes: UInt, p: NemoParams): UInt =
    Cat((0 until p.wordBytes).reverse.map(k => Cat(bytes(k), 0.U((p.byteBits - 1).W))))

  /** For every bit, the flag at the highest bit of its counter. */
  def fromTop(flags: UInt, width: UInt, p: NemoParams): UInt =
    select(width, p) { w =>
      Cat((0 until (p.wordBytes >> w)).reverse.map(k => Fill(p.counterBits(w), flags((k + 1) * p.counterBits(w) - 1))))
    }

  /** A bit a byte, as a bit a bit. */
  def spread(bytes: UInt, p: NemoParams): UInt =
    Cat((0 until p.wordBytes).reverse.map(k => Fill(p.byteBits, bytes(k))))

  /** One of several values by width; a width wider than the word counts as the word's. */
  def select[T <: Data](width: UInt, p: NemoParams)(f: Int => T): T =
    MuxLookup(width, f(p.subBits))((0 until p.subBits).map(w => w.U -> f(w)))
}
