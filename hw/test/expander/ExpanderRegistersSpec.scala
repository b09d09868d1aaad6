// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.bus.{AxiLiteDriver, LiteWrite, RegisterMap}
import anemone.expander.registers.{ExpanderRegisters, RegisterOffsets}
import anemone.nemo.NemoParams
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
}
