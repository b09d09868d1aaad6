// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec

class OperandStageSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = NemoParams()

  /** The bits of a word that a shift keeps within their counters. */
  private def kept(op: UpdateOp, amount: Int, w: Int, bytes: Int): BigInt = {
    val bits = 8 << w
    (0 until 64)
      .filter(i => (bytes >> (i / 8) & 1) == 1)
      .filter(i => if (op == UpdateOp.Shl) i % bits >= amount else i % bits + amount < bits)
      .map(BigInt(1) << _)
      .sum
  }

  behavior of "OperandStage"
  for (op <- Seq(UpdateOp.Shr, UpdateOp.Shl); w <- 0 to 3)
    it should s"${op.name} counters of ${8 << w} bits by every amount: rotate, and keep what stays in its counter" in {
      test(new OperandStage(p)) { dut =>
        val one = (0 until (8 >> w)).map(sub => ((1 << (1 << w)) - 1) << (sub << w))
        val cases = for (amount <- 0 until 64; bytes <- 0xff +: one) yield (amount, bytes)
        dut.io.op.poke(op.code)
        dut.io.counterWidth.poke(w)
        dut.io.sourceSelect.foreach(_.poke(false))
        dut.io.sourceSelect(0).poke(true)
        for (cycle <- 0 until cases.size + OperandStage.latency) {
          for ((_, bytes) <- cases.lift(cycle)) dut.io.byteMask.poke(bytes)
          for ((amount, _) <- cases.lift(cycle - 1)) dut.io.operands(0).poke(RuleFields.repeated(amount, w))
          for ((amount, bytes) <- cases.lift(cycle - OperandStage.latency)) {
            dut.io.result.b.expect(kept(op, amount, w, bytes), s"by $amount, bytes $bytes")
            dut.io.result.codes.foreach(_.expect(~bytes & 0xff))
            dut.io.result.rotate.expect(if (op == UpdateOp.Shl) (64 - amount) % 64 else amount)
          }
          dut.clock.step()
        }
      }
    }
}
