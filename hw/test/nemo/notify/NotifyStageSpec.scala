// SPDX-License-Identifier: Apache-2.0
package anemone.nemo

import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class NotifyStageSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = NemoParams()
  private val predicates: Seq[(Int, (BigInt, BigInt) => Boolean)] = Seq(
    Predicate.None -> ((_, _) => false),
    Predicate.Equal -> (_ == _),
    Predicate.GreaterEqual -> (_ >= _),
    Predicate.Greater -> (_ > _),
    Predicate.Less -> (_ < _),
    Predicate.LessEqual -> (_ <= _)
  )

  behavior of "NotifyStage"
  for ((predicate, holds) <- predicates; w <- 0 to 3) {
    it should s"test predicate $predicate on counters of ${8 << w} bits, unsigned, others masked" in {
      test(new NotifyStage(p)) { dut =>
        val random = new Random(10 * predicate + w)
        val bits = 8 << w
        val threshold = BigInt(bits, random)
        dut.io.rule.notifyOp.poke(predicate)
        dut.io.rule.notifyOperand.poke(RuleFields.repeated(threshold, w))
        dut.io.load.poke(true)
        dut.clock.step()
        dut.io.load.poke(false)
        dut.clock.step(3)
        val updates = Seq.fill(120) {
          val value = random.nextInt(3) match {
            case 0 => threshold
            case 1 => (threshold + random.nextInt(3) - 1) & ((BigInt(1) << bits) - 1)
            case _ => BigInt(bits, random)
          }
          (random.nextInt(5) > 0, value, random.nextInt(64 / bits), random.nextInt(1 << p.indexBits))
        }
        for ((update, cycle) <- (updates ++ Seq.fill(NotifyStage.latency)((false, BigInt(0), 0, 0))).zipWithIndex) {
          val (valid, value, sub, index) = update
          val others = BigInt(64, random) & ~(((BigInt(1) << bits) - 1) << (sub * bits)) & ((BigInt(1) << 64) - 1)
          dut.io.updated.valid.poke(valid)
          dut.io.updated.bits.data.poke(others | (value << (sub * bits)))
          dut.io.updated.bits.byteMask.poke(((1 << (1 << w)) - 1) << (sub << w))
          dut.io.updated.bits.index.poke(index)
          if (cycle >= NotifyStage.latency) {
            val (was, of, _, at) = updates(cycle - NotifyStage.latency)
            dut.io.hit.valid.expect(was && holds(of, threshold), s"cycle $cycle: $of against $threshold")
            dut.io.hit.bits.expect(at)
          }
          dut.clock.step()
        }
      }
    }
  }
}
