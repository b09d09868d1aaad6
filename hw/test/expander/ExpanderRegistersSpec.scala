// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{AxiLiteDriver, LiteWrite, RegisterMap}
import anemone.expander.registers.{ExpanderRegisters, RegisterCodes, RegisterOffsets}
import anemone.flat.SwapPolicy
import anemone.nemo.{CounterWidth => _, _}
import chisel3._
import chiseltest._
import org.scalatest.flatspec.AnyFlatSpec

class ExpanderRegistersSpec extends AnyFlatSpec with ChiselScalatestTester {
  private val p = ExpanderParams(NemoParams(pipelines = 2, channels = 2, states = 64, table = 16))
  private val verilator = Seq(VerilatorBackendAnnotation)

  behavior of "ExpanderRegisters"
  it should "answer in the cycles that it promises, one access a cycle" in {
    test(new ExpanderRegisters(p)).withAnnotations(verilator) { dut =>
      val master = new AxiLiteDriver(dut.io.bus, dut.clock)
      dut.io.table.ready.poke(true)
      val entries = (0 until 32).map(i => LiteWrite(RegisterOffsets.table + 8 * i, (BigInt(1) << 63) + i))
      master.write(entries: _*)
      master.read(Seq.fill(32)(BigInt(RegisterOffsets.id)): _*)
      master.finish(32, 32)
      assert(master.written.map(_.cycle) == (0 until 32).map(_ + RegisterMap.writeLatency))
      assert(master.answered.map(_.cycle) == (0 until 32).map(_ + RegisterMap.readLatency))
      assert(master.written.forall(_.resp == 0))
      assert(master.answered.forall(a => a.resp == 0 && a.data == BigInt("ANEMONE1".getBytes)))
    }
  }

  it should "read what is in the cycle after AR, and show a write when B does and a pulse the cycle before" in {
    test(new ExpanderRegisters(p)).withAnnotations(verilator) { dut =>
      val master = new AxiLiteDriver(dut.io.bus, dut.clock)
      val reads = 20
      var pulsed, changed = Seq[Int]()
      master.each = () => {
        dut.io.in.droppedWrites.poke(master.cycle)
        if (dut.io.out.interruptAcknowledge.errors.peekBoolean()) pulsed :+= master.cycle
        if (dut.io.out.errorEnable.parity.peekBoolean()) changed :+= master.cycle
      }
      master.read(Seq.fill(reads)(BigInt(RegisterOffsets.droppedWrites)): _*)
      master.write(LiteWrite(RegisterOffsets.errorEnable, 1), LiteWrite(RegisterOffsets.interruptAcknowledge, 1))
      master.finish(2, reads)
      assert(master.answered.map(_.data) == (0 until reads).map(_ + 1))
      assert(changed.head == master.written(0).cycle)
      assert(pulsed == Seq(master.written(1).cycle - 1))
    }
  }

  it should "have the codes of the hardware" in {
    val ops = UpdateOp.all.filterNot(_ == UpdateOp.Set)
    assert(RegisterCodes.updateOp == ops.map(op => op.name -> op.code))
    assert(RegisterCodes.counterWidth.map(_._2) == (0 to p.nemo.subBits))
    assert(RegisterCodes.counterWidth.forall { case (name, code) => name == s"bits${p.nemo.counterBits(code)}" })
    import OperandSource._
    assert(RegisterCodes.operandSource == Seq("immediate" -> Immediate, "line" -> Line, "is_write" -> IsWrite))
    import Predicate.{Equal, Greater, GreaterEqual, Less, LessEqual}
    val predicates = Seq("none" -> Predicate.None, "equal" -> Equal, "greater_equal" -> GreaterEqual)
    assert(RegisterCodes.predicate == predicates ++ Seq(
      "greater" -> Greater,
      "less" -> Less,
      "less_equal" -> LessEqual
    ))
    val effects = Seq("none" -> ReadEffect.None, "reset" -> ReadEffect.Reset, "op" -> ReadEffect.Op)
    assert(RegisterCodes.readEffect == effects)
    val outcomes = Seq("any" -> NearOutcome.Any, "hit" -> NearOutcome.Hit, "miss" -> NearOutcome.Miss)
    assert(RegisterCodes.nearFilter == outcomes)
    val policies = Seq("every" -> SwapPolicy.every, "nth" -> SwapPolicy.nth)
    assert(
      RegisterCodes.swapPolicy == policies ++ Seq("one_in" -> SwapPolicy.oneIn, "never" -> SwapPolicy.never)
    )
  }

  it should "have fields as wide as the rule's, and tell sizes and features" in {
    test(new Module {
      val io = IO(new Bundle {
        val capability = Output(UInt(56.W))
        val features = Output(UInt(43.W))
        val window = Output(UInt(64.W))
      })
      private val rule = new Rule(p.nemo.copy(outcomes = true, features = Features(hash = true)))
      private val control = new registers.RuleControlRegister
      for ((name, field) <- control.elements)
        assert(field.getWidth == rule.elements(name).getWidth, name)
      io.capability := Capabilities.sizes(p).asUInt
      io.features := Capabilities.features(p).asUInt
      io.window := Capabilities.window(p).bytes
    }) { dut =>
      // Bundles have their first field on top: pipelines, channels, log2 of states and table, bits, flat memory's.
      assert(dut.io.capability.peekInt() == BigInt("02020604220900", 16))
      // ops, widths, predicates, effects, operand sources, flat memory's ratio, acknowledges, hash, flat memory
      assert(dut.io.features.peekInt() == ((BigInt("00fff3f77", 16) << 7) | 4))
      assert(dut.io.window.peekInt() == 4096)
    }
  }
}
