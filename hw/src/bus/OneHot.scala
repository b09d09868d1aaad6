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
    // The word is folded in four, then in three until one bit is left: what is in it, and what is in it more than once.
    def folded(once: UInt, more: UInt, width: Int, parts: Int): UInt =
      if (width == 1) more
      else {
        val each = (width + parts - 1) / parts
        def of(word: UInt): Seq[UInt] =
          Seq.tabulate(parts)(i => word.pad(parts * each)((i + 1) * each - 1, i * each))
        val inTwo = of(once).combinations(2).map(_.reduce(_ & _)).reduce(_ | _)
        folded(of(once).reduce(_ | _), of(more).reduce(_ | _) | inTwo, each, 3)
      }
    folded(mask(width - 1, 0), 0.U(width.W), width, 4).asBool
  }

  /** `mask` if the condition holds, otherwise no bit. */
  def onlyIf(condition: Bool, mask: UInt): UInt = Mux(condition, mask, 0.U)
}
