// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** The ops by their definition, on one counter. Nothing is shared with the datapath. */
object ReferenceFold {

  /** The counter's mask by width code. */
  private def mask(counterWidth: UInt, p: NemoParams): UInt =
    CounterWidth.select(counterWidth, p)(w => ((BigInt(1) << p.counterBits(w)) - 1).U(p.wordBits.W))

  def apply(op: UInt, value: UInt, operand: UInt, counterWidth: UInt, p: NemoParams): UInt = {
    val m = mask(counterWidth, p)
    val b = operand & m
    val amount = operand.pad(6)(5, 0)
    val sum = value +& b
    val difference = b.zext - value.zext
    MuxLookup(op, value)(
      Seq(
        UpdateOp.Add -> (value + b),
        UpdateOp.Sub -> (value - b),
        UpdateOp.Shr -> (value.pad(64) >> amount),
        UpdateOp.Shl -> (value.pad(64) << amount)(63, 0),
        UpdateOp.Xor -> (value ^ b),
        UpdateOp.Or -> (value | b),
        UpdateOp.Max -> Mux(value > b, value, b),
        UpdateOp.AddSat -> Mux(sum > m, m, sum),
        UpdateOp.Min -> Mux(value < b, value, b),
        UpdateOp.SubSat -> Mux(value < b, 0.U, value - b),
        UpdateOp.Last -> b,
        UpdateOp.Ewma2 -> (value + (difference >> 1).pad(p.wordBits).asUInt),
        UpdateOp.Ewma4 -> (value + (difference >> 2).pad(p.wordBits).asUInt),
        UpdateOp.Ewma8 -> (value + (difference >> 3).pad(p.wordBits).asUInt),
        UpdateOp.Set -> b
      ).map { case (op, result) => op.code.U -> (result & m)(p.wordBits - 1, 0) }
    )
  }

  /** The predicate on one counter's value. */
  def holds(predicate: UInt, value: UInt, operand: UInt, counterWidth: UInt, p: NemoParams): Bool = {
    val b = operand & mask(counterWidth, p)
    MuxLookup(predicate, false.B)(
      Seq(
        Predicate.Equal.U -> (value === b),
        Predicate.GreaterEqual.U -> (value >= b),
        Predicate.Greater.U -> (value > b),
        Predicate.Less.U -> (value < b),
        Predicate.LessEqual.U -> (value <= b)
      )
    )
  }
}
