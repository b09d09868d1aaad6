// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.expander.registers.{RuleControlRegister, RuleHashRegister}
import anemone.nemo._
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec
import scala.util.Random

class RuleCheckSpec extends AnyFlatSpec with ChiselScalatestTester {
  private class Bench(val p: NemoParams) extends Module {
    val control = IO(Input(new RuleControlRegister))
    val hash = IO(Input(new RuleHashRegister))
    val legal = IO(Output(Bool()))
    legal := RuleCheck(control, hash, p)
  }
  private val prototype =
    Features(Seq(UpdateOp.Add), Seq(64), notifies = false, Seq(ReadEffect.None, ReadEffect.Reset), Seq(0))
  private val some =
    Features(Seq(UpdateOp.Max, UpdateOp.Shl), Seq(8, 32), effects = Seq(ReadEffect.None, ReadEffect.Op))

  behavior of "RuleCheck"
  private val sets =
    Seq(
      ("all", Features(), true),
      ("all but near's", Features(), false),
      ("a hash's", Features(hash = true), false),
      ("the prototype's", prototype, false),
      ("some", some, true)
    )
  for ((name, features, outcomes) <- sets)
    it should s"let through the rules of $name features, and rules that are off" in {
      test(new Bench(NemoParams(features = features, outcomes = outcomes))) { dut =>
        val random = new Random(7)
        val counters = dut.p.states * (64 / features.widths.min)
        var legal = 0
        for (_ <- 0 until 4000) {
          // Legal codes are frequent enough that whole rules are legal at times.
          def code(built: Seq[Int], codes: Int) =
            if (random.nextInt(4) > 0) built(random.nextInt(built.size)) else random.nextInt(codes)
          val ops = features.ops.map(_.code)
          val widths = features.widths.map(bits => Seq(8, 16, 32, 64).indexOf(bits))
          val predicates = if (features.notifies) 0 to 5 else Seq(0)
          val nears = if (outcomes) 0 to 2 else Seq(0)
          val enable = random.nextInt(4) > 0
          val (op, width) = (code(ops, 16), code(widths, 4))
          val (source, predicate) = (code(features.operandSources, 4), code(predicates, 8))
          val (kind, effectOp) = (code(features.effects, 4), code(ops, 16))
          val near = code(nears, 4)
          val hash = random.nextInt(if (features.hash) 2 else 8) == 0
          val size = random.nextInt(4) match {
            case 0 => counters + random.nextInt(2)
            case 1 => random.nextInt(1 << 25)
            case _ => random.nextInt(counters)
          }
          dut.control.enable.poke(enable)
          dut.control.near.poke(near)
          dut.control.hash.poke(hash)
          dut.hash.size.poke(size)
          dut.control.op.poke(op)
          dut.control.counterWidth.poke(width)
          dut.control.operandSource.poke(source)
          dut.control.notifyOp.poke(predicate)
          dut.control.effectKind.poke(kind)
          dut.control.effectOp.poke(effectOp)
          val update = ops.contains(op) && features.operandSources.contains(source) &&
            predicates.contains(predicate) && nears.contains(near) && (!hash || (features.hash && size <= counters))
          val effect = features.effects.contains(kind) && (kind != ReadEffect.Op || ops.contains(effectOp))
          val wide = widths.contains(width) || (!enable && kind == ReadEffect.None)
          val expected = (update || !enable) && effect && wide
          dut.legal.expect(expected, s"$enable $op $width $source $predicate $near $kind $effectOp")
          if (expected && enable) legal += 1
        }
        assert(legal > 100)
      }
    }
}
