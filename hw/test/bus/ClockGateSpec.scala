// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chiseltest._
import chiseltest.simulator.VerilatorBackendAnnotation
import org.scalatest.flatspec.AnyFlatSpec

/** Counts the edges of a gated clock, beside all edges. */
private class Gated(gates: Boolean) extends Module {
  val io = IO(new Bundle {
    val busy = Input(Bool())
    val edges = Output(UInt(16.W))
    val cycles = Output(UInt(16.W))
  })
  private def counter(clock: Clock): UInt = withClock(clock) {
    val edges = RegInit(0.U(16.W))
    edges := edges + 1.U
    edges
  }
  io.edges := counter(ClockGate(gates, io.busy))
  io.cycles := counter(clock)
}

class ClockGateSpec extends AnyFlatSpec with ChiselScalatestTester {
  behavior of "ClockGate"

  private def check(gates: Boolean)(body: Gated => Unit): Unit = {
    val _ = test(new Gated(gates)).withAnnotations(Seq(VerilatorBackendAnnotation)) { dut =>
      dut.clock.setTimeout(0)
      body(dut)
    }
  }
  private def edges(dut: Gated): Int = dut.io.edges.peekInt().toInt

  it should "stop a clock so many cycles behind a reset or the last cycle of work, and start it at once" in
    check(gates = true) { dut =>
      dut.clock.step(2 * ClockGate.runOn)
      assert(edges(dut) == ClockGate.runOn)
      for (idle <- Seq(1, 2, ClockGate.runOn - 1, ClockGate.runOn, ClockGate.runOn + 1, 3 * ClockGate.runOn)) {
        val before = edges(dut)
        dut.io.busy.poke(true)
        dut.clock.step()
        assert(edges(dut) == before + 1, idle)
        dut.io.busy.poke(false)
        dut.clock.step(idle)
        assert(edges(dut) == before + 1 + idle.min(ClockGate.runOn), idle)
      }
      dut.reset.asInstanceOf[Bool].poke(true)
      dut.clock.step()
      assert(edges(dut) == 0)
    }

  it should "run always without gates" in check(gates = false) { dut =>
    dut.clock.step(100)
    dut.io.edges.expect(dut.io.cycles.peekInt())
  }
}
