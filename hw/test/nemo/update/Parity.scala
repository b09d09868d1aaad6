// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

/** The parity of a state word as it is stored: bit by bit the number of ones of its lower and of its upper half. */
object Parity {
  private val half = 32
  private def odd(x: BigInt): Boolean = x.bitCount % 2 == 1

  /** What a word is stored with; a bad one's lower half has the wrong one. */
  def apply(data: BigInt, bad: Boolean): Int = {
    val (lower, upper) = (data & ((BigInt(1) << half) - 1), data >> half)
    (if (odd(lower) ^ bad) 1 else 0) + (if (odd(upper)) 2 else 0)
  }
}
