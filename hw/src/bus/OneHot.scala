// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util.{Cat, Fill, PriorityMux, log2Ceil}

/** Priority select, lowest bit first, as a tree instead of a chain. Combinational. */
object OneHot {

  /** Mask of all bits above the lowest set bit. */
  def above(mask: UInt, width: Int): UInt = {
    // Bit 0 enters again from below: it is in every bit's OR, and a whole word stays one operation of a simulator.
    def shifted(word: UInt, by: Int): UInt = Cat(word(width - 1 - by, 0), Fill(by, word(0)))
    val from = Iterator.iterate(1)(_ * 4).takeWhile(_ < width).foldLeft(mask(width - 1, 0)) { (word, step) =>
      (1 until 4).map(_ * step).filter(_ < width).map(shifted(word, _)).fold(word)(_ | _)
    }
    (from << 1)(width - 1, 0)
  }

  /** The lowest set bit. */
  def first(mask: UInt, width: Int): UInt = mask & ~above(mask, width)

  /** Number of the lowest set bit; the highest number for an empty mask. */
  def lowest(mask: UInt, width: Int): UInt =
    if (width == 1) 0.U(0.W)
    else {
      val parts = if (width % 4 == 0) 4 else 2
      require(width % parts == 0, s"width: a power of two, not $width")
      val each = Seq.tabulate(parts)(i => mask((i + 1) * width / parts - 1, i * width / parts))
      def choose[T <: Data](of: Seq[T]): T = PriorityMux(each.map(_.orR).init :+ true.B, of)
      val part = choose((0 until parts).map(_.U((parts / 2).W)))
      if (width == parts) part else Cat(part, choose(each.map(lowest(_, width / parts))))
    }

  /** Number of the only set bit; zero for an empty mask. Each bit of it is one OR, not a chain of them. */
  def number(mask: UInt, width: Int): UInt =
    VecInit(Seq.tabulate(log2Ceil(width)) { bit =>
      val those = (0 until width).filter(i => (i >> bit & 1) == 1).map(BigInt(1) << _).sum
      (mask & those.U(width.W)).orR
    }).asUInt

  /** More than one bit is set. */
  def several(mask: UInt, width: Int): Bool = {
    // The word is folded in three until one bit is left: what is in it, and what is in it more than once.
    def folded(once: UInt, more: UInt, width: Int): UInt =
      if (width == 1) more
      else {
        val each = (width + 2) / 3
        def part(word: UInt, i: Int): UInt = word.pad(3 * each)((i + 1) * each - 1, i * each)
        def inAny(word: UInt): UInt = (0 until 3).map(part(word, _)).reduce(_ | _)
        val inTwo = Seq((0, 1), (0, 2), (1, 2)).map { case (i, j) => part(once, i) & part(once, j) }.reduce(_ | _)
        folded(inAny(once), inAny(more) | inTwo, each)
      }
    folded(mask(width - 1, 0), 0.U(width.W), width).asBool
  }

  /** `mask` if the condition holds, otherwise no bit. */
  def onlyIf(condition: Bool, mask: UInt): UInt = Mux(condition, mask, 0.U)
}
