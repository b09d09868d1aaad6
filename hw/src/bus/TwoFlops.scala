// SPDX-License-Identifier: Apache-2.0
package anemone.bus

import chisel3._
import chisel3.util.HasBlackBoxInline

/** Two flops with the attributes by which Quartus keeps them together and apart from all else. Verilog, because Chisel
  * has no way to say that of a register. fpga/agilex/anemone_board.sdc finds them by these names.
  */
class TwoFlops extends BlackBox with HasBlackBoxInline {
  val io = IO(new Bundle {
    val clock = Input(Clock())
    val in = Input(Bool())
    val out = Output(Bool())
  })
  setInline(
    "TwoFlops.sv",
    """// SPDX-License-Identifier: Apache-2.0
      |// `meta` may go either way when `in` changes at the edge, `stable` has had a cycle to settle.
      |module TwoFlops(
      |  input  logic clock,
      |  input  logic in,
      |  output logic out
      |);
      |  (* preserve, altera_attribute = "-name SYNCHRONIZER_IDENTIFICATION FORCED" *) logic meta;
      |  (* preserve, altera_attribute = "-name SYNCHRONIZER_IDENTIFICATION FORCED" *) logic stable;
      |  always_ff @(posedge clock) begin
      |    meta <= in;
      |    stable <= meta;
      |  end
      |  assign out = stable;
      |endmodule
      |""".stripMargin
  )
}

object TwoFlops {

  /** A level of another clock in the caller's, two or three cycles later.
    *
    * Nothing else may cross: no bus, for its bits arrive in different cycles, and no pulse, for it may be missed. The
    * level must come straight from a register. The flops have no reset, so a reset lasts two cycles or more.
    */
  def apply(level: Bool): Bool = {
    val flops = Module(new TwoFlops)
    flops.io.clock := Module.clock
    flops.io.in := level
    flops.io.out
  }
}
