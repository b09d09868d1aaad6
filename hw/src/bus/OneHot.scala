// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._

/** Priority among the bits of a word, the lowest first, in a tree and not in a chain. Combinational. */
object OneHot {

  /** The bits above the lowest that is set. */
  def above(mask: UInt, width: Int): UInt = {
    Iterator.iterate(1)(_ * 4).takeWhile(_ < width).foldLeft((mask << 1)(width - 1, 0)) { (word, step) =>
      (0 until 4).map(k => (word << (k * step))(width - 1, 0)).reduce(_ | _)
    }
  }

  /** The lowest bit that is set. */
  def first(mask: UInt, width: Int): UInt = mask & ~above(mask, width)

  /** The lowest bit that is set among those of `from`, or else of all. */
  def firstFrom(mask: UInt, from: UInt, width: Int): UInt =
    Mux((mask & from).orR, first(mask & from, width), first(mask, width))

  /** The mask, or no bit. */
  def onlyIf(condition: Bool, mask: UInt): UInt = Mux(condition, mask, 0.U)
}
