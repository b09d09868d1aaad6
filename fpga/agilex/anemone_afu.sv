// SPDX-License-Identifier: Apache-2.0
// Anemone in the place of the example design's afu_top: `cxlip2iafu` comes from the CXL IP, `iafu2mc` goes to the
// memory controllers, one AXI4 channel each. This module only maps names; BoardExpander, emitted from Chisel, does the
// rest. With the macro ANEMONE_FLAT it is the one in flat memory mode: the first controller is near memory.
//
// The clocks may be asynchronous. Both resets are active low and last at least four cycles of their clock. Interrupt
// messages are in afu_clk: a vector is held until interrupt_ready.
module anemone_afu
  import anemone_tap_pkg::*;
#(
    // The tap requests one whole line at a time. 1: ignore its len, size, burst and last.
    parameter bit ONE_LINE = 1'b1
) (
    input logic afu_clk,
    input logic afu_rstn,
`ifdef ANEMONE_FLAT
    // The memories are empty: high with the first reset, from a register.
    input logic power_on,
`endif

    input  to_mc_t   [CHANNELS-1:0] cxlip2iafu_to_mc_axi4,
    output to_mc_t   [CHANNELS-1:0] iafu2mc_to_mc_axi4,
    input  from_mc_t [CHANNELS-1:0] mc2iafu_from_mc_axi4,
    output from_mc_t [CHANNELS-1:0] iafu2cxlip_from_mc_axi4,

    input  logic                       csr_avmm_clk,
    input  logic                       csr_avmm_rstn,
    input  logic                       csr_avmm_read,
    input  logic                       csr_avmm_write,
    input  logic                       csr_avmm_poison,
    input  logic [CSR_ADDR_BITS-1:0]   csr_avmm_address,
    input  logic [CSR_DATA_BITS-1:0]   csr_avmm_writedata,
    input  logic [CSR_DATA_BITS/8-1:0] csr_avmm_byteenable,
    output logic                       csr_avmm_waitrequest,
    output logic [CSR_DATA_BITS-1:0]   csr_avmm_readdata,
    output logic                       csr_avmm_readdatavalid,
    // The example design has no wires for these two. Without them the host does not see a refused access.
    output logic                       csr_avmm_writeresponsevalid,
    output logic [1:0]                 csr_avmm_response,

    output logic       interrupt_valid,
    input  logic       interrupt_ready,
    output logic [5:0] interrupt_vector,

    // Hold quiesce high before a reset of the memory path, until quiet: then the reset loses no request.
    input  logic quiesce,
    output logic quiet
);

  localparam logic [2:0] LINE = 3'd6;
  localparam logic [1:0] INCR = 2'd1;

  to_mc_t [CHANNELS-1:0] asked, made;
  from_mc_t [CHANNELS-1:0] given, answered;

  always_comb begin
    asked = cxlip2iafu_to_mc_axi4;
    given = mc2iafu_from_mc_axi4;
    for (int c = 0; c < CHANNELS; c++) begin
      if (ONE_LINE) begin
        asked[c].awlen   = '0;
        asked[c].awsize  = LINE;
        asked[c].awburst = INCR;
        asked[c].wlast   = 1'b1;
        asked[c].arlen   = '0;
        asked[c].arsize  = LINE;
        asked[c].arburst = INCR;
        given[c].rlast   = 1'b1;
      end
    end
  end

  // Signals that the expander does not pass on, because a host's line is plain memory.
  for (genvar c = 0; c < CHANNELS; c++) begin : gen_plain
    assign made[c].awprot    = '0;
    assign made[c].awqos     = '0;
    assign made[c].awcache   = '0;
    assign made[c].awlock    = '0;
    assign made[c].awregion  = '0;
    assign made[c].awuser    = '0;
    assign made[c].arprot    = '0;
    assign made[c].arqos     = '0;
    assign made[c].arcache   = '0;
    assign made[c].arlock    = '0;
    assign made[c].arregion  = '0;
    assign made[c].aruser    = '0;
    assign answered[c].buser = '0;
  end
  assign iafu2mc_to_mc_axi4      = made;
  assign iafu2cxlip_from_mc_axi4 = answered;

  // A poisoned register write is accepted and dropped, without a response.
  logic drop, csr_waitrequest;
  assign drop                 = csr_avmm_write & csr_avmm_poison;
  assign csr_avmm_waitrequest = csr_waitrequest & ~drop;

`define ANEMONE_REQUEST(port, c, x, s) \
    .``port``_``c``_``x``id(s[c].``x``id), .``port``_``c``_``x``addr(s[c].``x``addr), \
    .``port``_``c``_``x``len(s[c].``x``len), .``port``_``c``_``x``size(s[c].``x``size), \
    .``port``_``c``_``x``burst(s[c].``x``burst), .``port``_``c``_``x``valid(s[c].``x``valid)
`define ANEMONE_PORT(port, c, to, from) \
    `ANEMONE_REQUEST(port, c, aw, to), .``port``_``c``_awready(from[c].awready), \
    `ANEMONE_REQUEST(port, c, ar, to), .``port``_``c``_arready(from[c].arready), \
    .``port``_``c``_wdata(to[c].wdata), .``port``_``c``_wstrb(to[c].wstrb), .``port``_``c``_wlast(to[c].wlast), \
    .``port``_``c``_wuser(to[c].wuser), .``port``_``c``_wvalid(to[c].wvalid), .``port``_``c``_wready(from[c].wready), \
    .``port``_``c``_bid(from[c].bid), .``port``_``c``_bresp(from[c].bresp), .``port``_``c``_bvalid(from[c].bvalid), \
    .``port``_``c``_bready(to[c].bready), .``port``_``c``_rid(from[c].rid), .``port``_``c``_rdata(from[c].rdata), \
    .``port``_``c``_rresp(from[c].rresp), .``port``_``c``_rlast(from[c].rlast), .``port``_``c``_ruser(from[c].ruser), \
    .``port``_``c``_rvalid(from[c].rvalid), .``port``_``c``_rready(to[c].rready)

  BoardExpander board (
      .clock(afu_clk),
      .reset(~afu_rstn),
`ifdef ANEMONE_FLAT
      .powerOn(power_on),
`endif
      `ANEMONE_PORT(upstream, 0, asked, answered),
      `ANEMONE_PORT(upstream, 1, asked, answered),
      `ANEMONE_PORT(downstream, 0, made, given),
      `ANEMONE_PORT(downstream, 1, made, given),
      .csrClock(csr_avmm_clk),
      .csrReset(~csr_avmm_rstn),
      .csr_address(csr_avmm_address),
      .csr_read(csr_avmm_read),
      .csr_write(csr_avmm_write & ~csr_avmm_poison),
      .csr_writedata(csr_avmm_writedata),
      .csr_byteenable(csr_avmm_byteenable),
      .csr_waitrequest(csr_waitrequest),
      .csr_readdata(csr_avmm_readdata),
      .csr_readdatavalid(csr_avmm_readdatavalid),
      .csr_writeresponsevalid(csr_avmm_writeresponsevalid),
      .csr_response(csr_avmm_response),
      .interrupt_valid(interrupt_valid),
      .interrupt_ready(interrupt_ready),
      .interrupt_vector(interrupt_vector),
      .quiesce(quiesce),
      .quiet(quiet)
  );

`undef ANEMONE_REQUEST
`undef ANEMONE_PORT

endmodule
