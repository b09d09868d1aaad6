// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

/** The ops by their definition, on Scala's integers: the reference of the specs. */
object PlainFold {

  /** The op's definition on one counter of `bits` bits. */
  def counter(op: UpdateOp, value: BigInt, operand: BigInt, bits: Int): BigInt = {
    val mask = (BigInt(1) << bits) - 1
    val b = operand & mask
    val amount = (operand & 63).toInt
    val result = op match {
      case UpdateOp.Add    => value + b
      case UpdateOp.Sub    => value - b
      case UpdateOp.Shr    => value >> amount
      case UpdateOp.Shl    => value << amount
      case UpdateOp.Xor    => value ^ b
      case UpdateOp.Or     => value | b
      case UpdateOp.Max    => value.max(b)
      case UpdateOp.AddSat => mask.min(value + b)
      case UpdateOp.Min    => value.min(b)
      case UpdateOp.SubSat => (value - b).max(0)
      case UpdateOp.Last   => b
      case UpdateOp.Ewma2  => value + ((b - value) >> 1)
      case UpdateOp.Ewma4  => value + ((b - value) >> 2)
      case UpdateOp.Ewma8  => value + ((b - value) >> 3)
      case UpdateOp.Set    => b
      case _               => throw new NotImplementedError(s"${op.name} has no definition here")
    }
    result & mask
  }

  /** The word, with the op applied to the counters that `bytes` covers, of 8 << `w` bits each. */
  def word(op: UpdateOp, state: BigInt, operand: BigInt, w: Int, bytes: Int): BigInt = {
    val bits = 8 << w
    val mask = (BigInt(1) << bits) - 1
    (0 until 64 / bits).map { i =>
      val value = (state >> (i * bits)) & mask
      val covered = ((bytes >> (i << w)) & 1) == 1
      (if (covered) counter(op, value, operand, bits) else value) << (i * bits)
    }.sum
  }
}
