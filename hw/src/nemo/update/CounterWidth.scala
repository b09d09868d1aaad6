// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** Functions on a state word of packed counters. Counter i of a rule is in word i / (counters a word). A `width` is a
  * level of [[NemoParams]].
  */
object CounterWidth {

  /** The lowest counter's value, repeated in every counter of the word. Both halves are equal unless one counter fills
    * the word, so only one half needs a multiplexer of all widths.
    */
  def repeat(value: UInt, width: UInt, p: NemoParams): UInt = {
    val half = p.wordBits / 2
    val padded = value.pad(p.wordBits)
    def low(w: Int): UInt = Fill(half / p.counterBits(w), padded(p.counterBits(w) - 1, 0))
    val whole = p.levels.contains(p.subBits)
    if (p.subBits == 0) padded
    else {
      val halves = (p.levels.filter(_ < p.subBits) ++ Option.when(whole)(p.subBits - 1)).distinct
      val lower = MuxLookup(width, low(halves.last))(halves.init.map(w => w.U -> low(w)))
      val higher = if (whole) Mux(width >= p.subBits.U, padded(p.wordBits - 1, half), lower) else lower
      Cat(higher, lower)
    }
  }

  /** The bytes of counter `sub`, one bit each. */
  def bytes(sub: UInt, width: UInt, p: NemoParams): UInt = if (p.subBits == 0) 1.U
  else {
    val highest =
      select(width, p)(w => ((BigInt(1) << p.wordBytes) - (BigInt(1) << (p.wordBytes - (1 << w)))).U(p.wordBytes.W))
    val below = select(width, p)(w => ((~sub).asUInt & ((p.wordBytes >> w) - 1).U)(p.subBits - 1, 0) << w)
    highest >> below(p.subBits - 1, 0)
  }

  /** The highest byte of every counter, one bit a byte. */
  def topBytes(width: UInt, p: NemoParams): UInt =
    select(width, p)(w => (0 until (p.wordBytes >> w)).map(k => 1 << (((k + 1) << w) - 1)).sum.U(p.wordBytes.W))

  /** Moves each byte's bit to the lowest bit of the byte. It does so in halving steps, which are wires in hardware and
    * a few word operations in a simulator. The word is named so that firtool keeps the steps, instead of a concatenation
    * of the bits.
    */
  private def lowBits(bytes: UInt, p: NemoParams): UInt = {
    val word = dontTouch(WireDefault(bytes.pad(p.wordBits)))
    Iterator.iterate(p.wordBytes / 2)(_ / 2).takeWhile(_ > 0).foldLeft[UInt](word) { (word, half) =>
      val group = (BigInt(1) << half) - 1
      val kept = (0 until p.wordBytes / half).map(k => group << (k * half * p.byteBits)).sum
      (word | (word << (half * (p.byteBits - 1)))(p.wordBits - 1, 0)) & kept.U(p.wordBits.W)
    }
  }

  /** All bits of each selected byte. */
  def spread(bytes: UInt, p: NemoParams): UInt =
    Iterator.iterate(1)(_ * 2).takeWhile(_ < p.byteBits).foldLeft(lowBits(bytes, p)) { (word, n) =>
      word | (word << n)(p.wordBits - 1, 0)
    }

  /** Inserts a guard bit above each byte, through which an adder's carry passes. */
  def guarded(word: UInt, guards: UInt, p: NemoParams): UInt =
    Cat(Seq.tabulate(p.wordBytes)(k => Cat(guards(k), word((k + 1) * p.byteBits - 1, k * p.byteBits))).reverse)

  /** The bytes of a guarded word, each with its guard bit. */
  def bytesOf(guarded: UInt, p: NemoParams): Seq[UInt] =
    Seq.tabulate(p.wordBytes)(k => guarded((k + 1) * (p.byteBits + 1) - 1, k * (p.byteBits + 1)))

  /** Removes the guard bits. */
  def unguarded(guarded: UInt, p: NemoParams): UInt =
    Cat(bytesOf(guarded, p).reverse.map(_(p.byteBits - 1, 0)))

  /** Selects a value by width; a width that is not built in selects the widest. */
  def select[T <: Data](width: UInt, p: NemoParams)(f: Int => T): T =
    MuxLookup(width, f(p.levels.last))(p.levels.init.map(w => w.U -> f(w)))
}
