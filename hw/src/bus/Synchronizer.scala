// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util.HasBlackBoxInline

/** Two flops with the attributes by which Quartus keeps them together and apart from all else. Verilog, because Chisel
  * has no way to say that of a register. fpga/agilex/anemone_board.sdc finds them by these names.
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

  /** A level of another clock in the caller's, two or three cycles later.
    *
    * Nothing else may cross: no bus, for its bits arrive in different cycles, and no pulse, for it may be missed. The
    * level must come straight from a register. The flops have no reset, so a reset lasts two cycles or more.
    *
    * @param start what they say from power-up until the level comes through: true for a reset, or else what it resets
    *              would run for two cycles with whatever is in its registers
    */
  def apply(level: Bool, start: Boolean = false): Bool = {
    val flops = Module(new Synchronizer(start))
    flops.io.clock := Module.clock
    flops.io.in := level
    flops.io.out
  }
}
