// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._

/** Fields of a [[DecodedRule]] in plain arithmetic, for benches of single stages. */
object RuleFields {

  /** An operand, repeated in every counter of a word. */
  def repeated(operand: BigInt, w: Int): BigInt = {
    val bits = 8 << w
    (0 until 64 / bits).map(i => (operand & ((BigInt(1) << bits) - 1)) << (i * bits)).sum
  }

  /** Pokes the field of `bits` bits that a mask and a shift select; its overflow mask starts at bit `from`. */
  def poke(field: AddressField, mask: BigInt, shift: Int, bits: Int, from: Int): Unit = {
    field.shift.poke(shift % (1 << field.shift.getWidth))
    field.mask.poke((mask >> shift) & ((BigInt(1) << field.mask.getWidth) - 1))
    field.overflowMask.poke(((mask >> (shift + bits)) << (shift + bits)) >> from)
  }
}
