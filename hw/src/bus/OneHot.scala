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
}
