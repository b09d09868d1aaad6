// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util.HasBlackBoxInline

/** A two-flop synchronizer with the attributes that make Quartus keep the flops together and do not let it merge them.
  * It is Verilog because Chisel cannot attach those attributes to a register. fpga/agilex/anemone_board.sdc matches
  * these names.
  */
class Synchronizer(start: Boolean) extends BlackBox(Map("START" -> (if (start) 1 else 0))) with HasBlackBoxInline {
  val io = IO(new Bundle {
    val clock = Input(Clock())
    val in = Input(Bool())
    val out = Output(Bool())
  })
  setInline(
    "Synchronizer.sv",
    """// SPDX-License-Identifier: Apache-2.0
      |// `meta` may go either way when `in` changes at the edge, `stable` has had a cycle to settle. Both have START
      |// when power comes up.
      |module Synchronizer #(
      |  parameter logic START = 1'b0
      |) (
      |  input  logic clock,
      |  input  logic in,
      |  output logic out
      |);
      |  (* preserve, altera_attribute = "-name SYNCHRONIZER_IDENTIFICATION FORCED" *) logic meta = START;
      |  (* preserve, altera_attribute = "-name SYNCHRONIZER_IDENTIFICATION FORCED" *) logic stable = START;
      |  always_ff @(posedge clock) begin
      |    meta <= in;
      |    stable <= meta;
      |  end
      |  assign out = stable;
      |endmodule
      |""".stripMargin
  )
}

object Synchronizer {

  /** Synchronizes a level of another clock to the caller's clock. Latency: two or three cycles.
    *
    * Nothing else may cross: the bits of a bus would arrive in different cycles, and a pulse could be missed. The level
    * must come directly from a register. The flops have no reset, so a reset through them must last two cycles or more.
    *
    * @param start value of the flops from power-up until the level comes through; true for a reset, or the logic that
    *              it resets would run for two cycles from undefined registers
    */
  def apply(level: Bool, start: Boolean = false): Bool = {
    val flops = Module(new Synchronizer(start))
    flops.io.clock := Module.clock
    flops.io.in := level
    flops.io.out
  }
}
