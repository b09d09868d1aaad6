// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** Notify stage of one rule on one channel (NEMO §3.1): tests the predicate on the value an event just wrote.
  *
  * The comparison is made in place: bytes outside the counter are taken from the operand, so they are equal.
  *
  * Latency: [[NotifyStage.latency]] cycles from `updated` to `holds`.
  */
class NotifyStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val updated = Flipped(Valid(new Updated(p)))
    val rule = Input(new LaidRule(p))

    /** Load the rule, a cycle before the first update it applies to. */
    val load = Input(Bool())

    /** Valid where the predicate holds: the index of the counter. */
    val holds = Valid(UInt(p.indexBits.W))
  })

  private val threshold = RegEnable(io.rule.notifyOperand, io.load)
  private val inside = CounterWidth.spread(io.updated.bits.bytes, p)
  private val value = RegNext((io.updated.bits.data & inside) | (threshold & ~inside))
  private val operand = RegNext(threshold)

  private val less = RegNext(value < operand)
  private val equal = RegNext(value === operand)

  private val predicate = RegEnable(io.rule.notifyOp, Predicate.None.U, ShiftRegister(io.load, 2, false.B, true.B))
  private val holds = MuxLookup(predicate, false.B)(
    Seq(
      Predicate.Equal.U -> equal,
      Predicate.GreaterEqual.U -> !less,
      Predicate.Greater.U -> !(less || equal),
      Predicate.Less.U -> less,
      Predicate.LessEqual.U -> (less || equal)
    )
  )
  io.holds.valid := RegNext(holds && ShiftRegister(io.updated.valid, 2, false.B, true.B), false.B)
  io.holds.bits := ShiftRegister(io.updated.bits.index, NotifyStage.latency)
}

object NotifyStage {
  val latency: Int = 3
}
