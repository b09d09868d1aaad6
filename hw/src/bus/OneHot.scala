// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._

/** Priority select, lowest bit first, as a tree instead of a chain. Combinational. */
object OneHot {

  /** Mask of all bits above the lowest set bit. */
  def above(mask: UInt, width: Int): UInt = {
    Iterator.iterate(1)(_ * 4).takeWhile(_ < width).foldLeft((mask << 1)(width - 1, 0)) { (word, step) =>
      (0 until 4).map(k => (word << (k * step))(width - 1, 0)).reduce(_ | _)
    }
  }

  /** The lowest set bit. */
  def first(mask: UInt, width: Int): UInt = mask & ~above(mask, width)

  /** The lowest set bit within `from`, or the lowest of all if there is none: round-robin. */
  def firstFrom(mask: UInt, from: UInt, width: Int): UInt =
    Mux((mask & from).orR, first(mask & from, width), first(mask, width))

  /** `mask` if the condition holds, otherwise no bit. */
  def onlyIf(condition: Bool, mask: UInt): UInt = Mux(condition, mask, 0.U)
}
