// SPDX-License-Identifier: Apache-2.0
// The board's wrapper with the pins that the bench of the expander looks for.
`define REQUEST(dir, port, c, x) \
    dir logic [ID_BITS-1:0] port``_``c``_``x``id, dir logic [ADDR_BITS-1:0] port``_``c``_``x``addr, \
    dir logic [LEN_BITS-1:0] port``_``c``_``x``len, dir logic [2:0] port``_``c``_``x``size, \
    dir logic [1:0] port``_``c``_``x``burst, dir logic port``_``c``_``x``valid
`define PORT(to, from, port, c) \
    `REQUEST(to, port, c, aw), from logic port``_``c``_awready, \
    `REQUEST(to, port, c, ar), from logic port``_``c``_arready, \
    to logic [DATA_BITS-1:0] port``_``c``_wdata, to logic [DATA_BITS/8-1:0] port``_``c``_wstrb, \
    to logic port``_``c``_wlast, to logic port``_``c``_wuser, to logic port``_``c``_wvalid, \
    from logic port``_``c``_wready, from logic [ID_BITS-1:0] port``_``c``_bid, \
    from logic [1:0] port``_``c``_bresp, from logic port``_``c``_bvalid, to logic port``_``c``_bready, \
    from logic [ID_BITS-1:0] port``_``c``_rid, from logic [DATA_BITS-1:0] port``_``c``_rdata, \
    from logic [1:0] port``_``c``_rresp, from logic port``_``c``_rlast, from logic port``_``c``_ruser, \
    from logic port``_``c``_rvalid, to logic port``_``c``_rready
`define TAKE(s, port, c, name) assign s[c].name = port``_``c``_``name;
`define GIVE(s, port, c, name) assign port``_``c``_``name = s[c].name;
`define REQUESTS(KIND, s, port, c, x) \
    `KIND(s, port, c, x``id) `KIND(s, port, c, x``addr) `KIND(s, port, c, x``len) `KIND(s, port, c, x``size) \
    `KIND(s, port, c, x``burst) `KIND(s, port, c, x``valid)
`define TO_MC(KIND, s, port, c) \
    `REQUESTS(KIND, s, port, c, aw) `REQUESTS(KIND, s, port, c, ar) \
    `KIND(s, port, c, wdata) `KIND(s, port, c, wstrb) `KIND(s, port, c, wlast) `KIND(s, port, c, wuser) \
    `KIND(s, port, c, wvalid) `KIND(s, port, c, bready) `KIND(s, port, c, rready)
`define FROM_MC(KIND, s, port, c) \
    `KIND(s, port, c, awready) `KIND(s, port, c, wready) `KIND(s, port, c, arready) `KIND(s, port, c, bid) \
    `KIND(s, port, c, bresp) `KIND(s, port, c, bvalid) `KIND(s, port, c, rid) `KIND(s, port, c, rdata) \
    `KIND(s, port, c, rresp) `KIND(s, port, c, rlast) `KIND(s, port, c, ruser) `KIND(s, port, c, rvalid)

module AgilexBench
  import anemone_tap_pkg::*;
(
    input logic clock,
    input logic reset,
`ifdef ANEMONE_FLAT
    input logic powerOn,
`endif
    `PORT(input, output, upstream, 0),
    `PORT(input, output, upstream, 1),
    `PORT(output, input, downstream, 0),
    `PORT(output, input, downstream, 1),
    input  logic                       csr_clock,
    input  logic                       csr_reset,
    input  logic                       csr_read,
    input  logic                       csr_write,
    input  logic                       csr_poison,
    input  logic [CSR_ADDR_BITS-1:0]   csr_address,
    input  logic [CSR_DATA_BITS-1:0]   csr_writedata,
    input  logic [CSR_DATA_BITS/8-1:0] csr_byteenable,
    output logic                       csr_waitrequest,
    output logic [CSR_DATA_BITS-1:0]   csr_readdata,
    output logic                       csr_readdatavalid,
    output logic                       csr_writeresponsevalid,
    output logic [1:0]                 csr_response,
    output logic                       interrupt_valid,
    input  logic                       interrupt_ready,
    output logic [5:0]                 interrupt_vector,
    input  logic                       quiesce,
    output logic                       quiet
);

  to_mc_t   [CHANNELS-1:0] from_ip, to_memory;
  from_mc_t [CHANNELS-1:0] to_ip, from_memory;

  `TO_MC(TAKE, from_ip, upstream, 0)
  `TO_MC(TAKE, from_ip, upstream, 1)
  `FROM_MC(GIVE, to_ip, upstream, 0)
  `FROM_MC(GIVE, to_ip, upstream, 1)
  `TO_MC(GIVE, to_memory, downstream, 0)
  `TO_MC(GIVE, to_memory, downstream, 1)
  `FROM_MC(TAKE, from_memory, downstream, 0)
  `FROM_MC(TAKE, from_memory, downstream, 1)

  // Unlike the tap, the bench also reads parts of lines and bursts of telemetry.
  anemone_afu #(
      .ONE_LINE(1'b0)
  ) afu (
      .afu_clk(clock),
      .afu_rstn(~reset),
`ifdef ANEMONE_FLAT
      .power_on(powerOn),
`endif
      .cxlip2iafu_to_mc_axi4(from_ip),
      .iafu2mc_to_mc_axi4(to_memory),
      .mc2iafu_from_mc_axi4(from_memory),
      .iafu2cxlip_from_mc_axi4(to_ip),
      .csr_avmm_clk(csr_clock),
      .csr_avmm_rstn(~csr_reset),
      .csr_avmm_read(csr_read),
      .csr_avmm_write(csr_write),
      .csr_avmm_poison(csr_poison),
      .csr_avmm_address(csr_address),
      .csr_avmm_writedata(csr_writedata),
      .csr_avmm_byteenable(csr_byteenable),
      .csr_avmm_waitrequest(csr_waitrequest),
      .csr_avmm_readdata(csr_readdata),
      .csr_avmm_readdatavalid(csr_readdatavalid),
      .csr_avmm_writeresponsevalid(csr_writeresponsevalid),
      .csr_avmm_response(csr_response),
      .interrupt_valid(interrupt_valid),
      .interrupt_ready(interrupt_ready),
      .interrupt_vector(interrupt_vector),
      .quiesce(quiesce),
      .quiet(quiet)
  );

endmodule
