// SPDX-License-Identifier: Apache-2.0
// Compares firtool's memory model with the block RAM that replaces it in synthesis.
module Emitted(
  input  [1:0] R0_addr,
  input        R0_en,
               R0_clk,
  output [2:0] R0_data,
  input  [1:0] W0_addr,
  input        W0_en,
               W0_clk,
  input  [2:0] W0_data
);

  reg [2:0] Memory[0:3];
  reg       _R0_en_d0;
  reg [1:0] _R0_addr_d0;
  always @(posedge R0_clk) begin
    _R0_en_d0 <= R0_en;
    _R0_addr_d0 <= R0_addr;
  end // always @(posedge)
  always @(posedge W0_clk) begin
    if (W0_en & 1'h1)
      Memory[W0_addr] <= W0_data;
  end // always @(posedge)
  assign R0_data = _R0_en_d0 ? Memory[_R0_addr_d0] : 3'bx;
endmodule

module Proof (
    input clock,
    input [1:0] read,
    input reading,
    input [1:0] write,
    input writing,
    input [2:0] value
);
  wire [2:0] emitted, mapped;
  reg answers = 1'b0;
  always @(posedge clock) answers <= reading;
  Emitted a (read, reading, clock, emitted, write, writing, clock, value);
  memory_4x3 b (read, reading, clock, mapped, write, writing, clock, value);
  always @* assume (!(reading && writing && read == write));
  always @* assert (!answers || emitted == mapped);
endmodule
