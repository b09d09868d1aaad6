// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._

/** [[DecodedRule]] in plain arithmetic, for those who drive a unit behind it. */
object RuleFields {

  /** An operand, repeated in every counter of a word. */
  def repeated(operand: BigInt, w: Int): BigInt = {
    val bits = 8 << w
    (0 until 64 / bits).map(i => (operand & ((BigInt(1) << bits) - 1)) << (i * bits)).sum
  }

  /** What a mask takes of an address below the shift and above the field is nobody's; the field has `bits` bits. */
  def poke(field: AddressField, mask: BigInt, shift: Int, bits: Int): Unit = {
    field.shift.poke(shift % (1 << field.shift.getWidth))
    field.mask.poke((mask >> shift) & ((BigInt(1) << bits) - 1))
    field.overflowMask.poke((mask >> (shift + bits)) << shift)
  }
}
