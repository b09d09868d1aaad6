// SPDX-License-Identifier: Apache-2.0
package anemone.expander

import anemone.Emit
import anemone.expander.registers.ExpanderRegisters
import anemone.flat.FlatParams
import anemone.nemo.NemoParams
import chisel3._

/** [[ExpanderRegisters]] with its control port named as cocotbext-axi looks for it; all other ports as they are. */
class RegistersBench(p: ExpanderParams) extends Module {
  private val registers = Module(new ExpanderRegisters(p))
  private val bus = registers.io.bus
  val io = IO(new Bundle {
    val in = chiselTypeOf(registers.io.in)
    val out = chiselTypeOf(registers.io.out)
    val ruleCommit = chiselTypeOf(registers.io.ruleCommit)
    val table = chiselTypeOf(registers.io.table)
  })
  registers.io.ruleCommitLegal := true.B
  registers.io.in := io.in
  io.out := registers.io.out
  io.ruleCommit <> registers.io.ruleCommit
  io.table <> registers.io.table

  private def input[T <: Data](name: String, to: T): Unit = {
    val port = IO(Input(chiselTypeOf(to))).suggestName(s"s_axi_$name")
    to := port
  }
  private def output[T <: Data](name: String, from: T): Unit = {
    val port = IO(Output(chiselTypeOf(from))).suggestName(s"s_axi_$name")
    port := from
  }

  input("awaddr", bus.aw.bits)
  input("awvalid", bus.aw.valid)
  output("awready", bus.aw.ready)
  input("wdata", bus.w.bits.data)
  input("wstrb", bus.w.bits.strb)
  input("wvalid", bus.w.valid)
  output("wready", bus.w.ready)
  output("bresp", bus.b.bits)
  output("bvalid", bus.b.valid)
  input("bready", bus.b.ready)
  input("araddr", bus.ar.bits)
  input("arvalid", bus.ar.valid)
  output("arready", bus.ar.ready)
  output("rdata", bus.r.bits.data)
  output("rresp", bus.r.bits.resp)
  output("rvalid", bus.r.valid)
  input("rready", bus.r.ready)
}

/** Writes the bench's SystemVerilog: `EmitRegisters DIR PIPELINES TABLE` (tests/registers simulates it). */
object EmitRegisters {
  def main(args: Array[String]): Unit = {
    val nemo = NemoParams(args(1).toInt, channels = 2, states = 64, table = args(2).toInt, outcomes = true)
    val flat = FlatParams(addressBits = nemo.addressBits, channels = nemo.channels, events = true)
    Emit.whole(new RegistersBench(ExpanderParams(nemo, flat.memory, flat = Some(flat))), args(0))
  }
}
