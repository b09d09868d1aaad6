// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chisel3._
import chisel3.util._

/** Notify stage of one rule on one channel (NEMO §3.1): tests the predicate on the value that an event wrote.
  *
  * The counter is compared in place; bytes outside it count as equal.
  *
  * Latency: [[NotifyStage.latency]] cycles from `updated` to `hit`.
  */
class NotifyStage(p: NemoParams) extends Module {
  val io = IO(new Bundle {
    val updated = Flipped(Valid(new Updated(p)))
    val rule = Input(new DecodedRule(p))

    /** Loads the rule, one cycle before the first update that it applies to. */
    val load = Input(Bool())

    /** The index of a counter for which the predicate is true. */
    val hit = Valid(UInt(p.indexBits.W))
  })

  // A comparator tree. Each bit is greater or equal; a group is greater if its higher half is, or if that is equal and
  // the lower half is greater. For `Equal` no bit counts as greater. `orEqual` decides for an equal word.
  private val threshold = RegEnable(io.rule.notifyOperand, io.load)
  private val predicate = RegEnable(io.rule.notifyOp, Predicate.None.U, io.load)
  private def joined(from: Int, until: Int, greater: UInt, equal: UInt): (UInt, UInt) =
    Iterator.iterate(from)(_ * 2).takeWhile(_ < until).foldLeft((greater, equal)) { case ((g, e), n) =>
      (g | (e & (g << n)(p.wordBits - 1, 0)), e & (e << n)(p.wordBits - 1, 0))
    }
  private val value = io.updated.bits.data
  private val (greater, equal) = joined(
    1,
    p.byteBits,
    Mux(predicate === Predicate.Equal.U, 0.U, value & (~threshold).asUInt),
    ~(value ^ threshold)
  )

  // The highest bit of each byte has the byte's result; bytes outside the counter are equal.
  private val counterMask = CounterWidth.spread(io.updated.bits.byteMask, p)
  private val (wordGreater, wordEqual) =
    joined(p.byteBits, p.wordBits, RegNext(greater & counterMask), RegNext(equal | (~counterMask).asUInt))
  private val predicateStage2 = RegNext(predicate, Predicate.None.U)
  private def isOneOf(predicates: Int*): Bool = predicates.map(predicateStage2 === _.U).reduce(_ || _)
  private val orEqual = isOneOf(Predicate.Equal, Predicate.GreaterEqual, Predicate.Less)
  private val isAbove = wordGreater(p.wordBits - 1) || (wordEqual(p.wordBits - 1) && orEqual)
  private val isBelow = isOneOf(Predicate.Less, Predicate.LessEqual)
  private val enabled = isBelow || isOneOf(Predicate.Equal, Predicate.GreaterEqual, Predicate.Greater)
  private val predicateTrue = RegNext(enabled && (isAbove ^ isBelow))
  io.hit.valid := RegNext(predicateTrue && ShiftRegister(io.updated.valid, 2, false.B, true.B), false.B)
  io.hit.bits := ShiftRegister(io.updated.bits.index, NotifyStage.latency)
}

object NotifyStage {
  val latency: Int = 3
}
