// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

/** The stored parity of a state word, of its lower and its upper half, by counting ones. */
object Parity {
  private val half = 32
  private def odd(x: BigInt): Boolean = x.bitCount % 2 == 1

  /** A bad word has the wrong parity in its lower half. */
  def apply(data: BigInt, bad: Boolean): Int = {
    val (lower, upper) = (data & ((BigInt(1) << half) - 1), data >> half)
    (if (odd(lower) ^ bad) 1 else 0) + (if (odd(upper)) 2 else 0)
  }
}
