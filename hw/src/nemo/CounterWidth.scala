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

  /** A mask of counter `sub`. Shifted down from the top, so that a shift of ones by a variable stays a word wide. */
  def mask(sub: UInt, width: UInt, p: NemoParams): UInt = {
    val highest =
      select(width, p)(w => (((BigInt(1) << p.counterBits(w)) - 1) << (p.wordBits - p.counterBits(w))).U(p.wordBits.W))
    val below = select(width, p)(w => ((~sub).asUInt & ((p.wordBytes >> w) - 1).U)(p.subBits - 1, 0) << w)
    highest >> Cat(below(p.subBits - 1, 0), 0.U(log2Ceil(p.byteBits).W))
  }

  /** The highest bit of every counter. */
  def tops(width: UInt, p: NemoParams): UInt =
    select(width, p)(w =>
      (0 until (p.wordBytes >> w)).map(k => BigInt(1) << ((k + 1) * p.counterBits(w) - 1)).sum.U(p.wordBits.W)
    )

  /** For every bit, the flag at the highest bit of its counter. */
  def fromTop(flags: UInt, width: UInt, p: NemoParams): UInt =
    select(width, p) { w =>
      Cat((0 until (p.wordBytes >> w)).reverse.map(k => Fill(p.counterBits(w), flags((k + 1) * p.counterBits(w) - 1))))
    }

  /** One of several values by width; a width wider than the word counts as the word's. */
  def select[T <: Data](width: UInt, p: NemoParams)(f: Int => T): T =
    MuxLookup(width, f(p.subBits))((0 until p.subBits).map(w => w.U -> f(w)))
}
