// SPDX-License-Identifier: Apache-2.0
// A plain SystemVerilog test of the wrapper as the example design uses it: registers over Avalon at 125 MHz, and a line
// with and without poison through each channel at 400 MHz. In flat memory mode it starts that first, and the line is far:
// the first write swaps it. tests/expander tests the whole expander through the wrapper.
`timescale 1ns / 1ps
module anemone_afu_tb
  import anemone_tap_pkg::*;
;
  localparam logic [63:0] MAGIC = 64'h414e_454d_4f4e_4531;
  localparam int LATENCY = 30;

  logic afu_clk = 0, csr_clk = 0, afu_rstn = 0, csr_rstn = 0;
  always #1.25ns afu_clk = ~afu_clk;
  always #4ns csr_clk = ~csr_clk;

  to_mc_t   [CHANNELS-1:0] ip, mc;
  from_mc_t [CHANNELS-1:0] to_ip, from_mc;
  logic csr_read = 0, csr_write = 0, csr_poison = 0, csr_waitrequest, csr_readdatavalid;
  logic [CSR_ADDR_BITS-1:0] csr_address = '0;
  logic [CSR_DATA_BITS-1:0] csr_writedata = '0, csr_readdata;
`ifdef ANEMONE_FLAT
  // Registers, and a number of near lines with which the tested lines are far at first.
  localparam logic [CSR_ADDR_BITS-1:0] NEAR_LINES = 'h800, CONTROL = 'h820, STATUS = 'h828, SWAPS = 'h850;
  localparam logic [63:0] LINES = 200;
  logic power_on = 1;
`endif

  anemone_afu dut (
      .afu_clk,
      .afu_rstn,
`ifdef ANEMONE_FLAT
      .power_on,
`endif
      .cxlip2iafu_to_mc_axi4(ip),
      .iafu2mc_to_mc_axi4(mc),
      .mc2iafu_from_mc_axi4(from_mc),
      .iafu2cxlip_from_mc_axi4(to_ip),
      .csr_avmm_clk(csr_clk),
      .csr_avmm_rstn(csr_rstn),
      .csr_avmm_read(csr_read),
      .csr_avmm_write(csr_write),
      .csr_avmm_poison(csr_poison),
      .csr_avmm_address(csr_address),
      .csr_avmm_writedata(csr_writedata),
      .csr_avmm_byteenable('1),
      .csr_avmm_waitrequest(csr_waitrequest),
      .csr_avmm_readdata(csr_readdata),
      .csr_avmm_readdatavalid(csr_readdatavalid),
      .csr_avmm_writeresponsevalid(),
      .csr_avmm_response(),
      .interrupt_valid(),
      .interrupt_ready(1'b1),
      .interrupt_vector(),
      .quiesce(1'b0),
      .quiet()
  );

  // A memory controller like the board's: it ignores rready, and loses a read in the same cycle as a write.
  for (genvar c = 0; c < CHANNELS; c++) begin : gen_memory
    logic [DATA_BITS:0] lines[logic [ADDR_BITS-1:0]];  // poison, data
    logic [DATA_BITS:0] line;
    from_mc_t [LATENCY-1:0] way;
    always_ff @(posedge afu_clk) begin
      from_mc_t next;
      next = '0;
      if (mc[c].awvalid && afu_rstn) begin
        if (!mc[c].wvalid) $fatal(1, "channel %0d: an address without data", c);
        line = lines.exists(mc[c].awaddr) ? lines[mc[c].awaddr] : '0;
        for (int i = 0; i < DATA_BITS / 8; i++) if (mc[c].wstrb[i]) line[8*i+:8] = mc[c].wdata[8*i+:8];
        line[DATA_BITS] = mc[c].wuser | line[DATA_BITS] & ~&mc[c].wstrb;
        lines[mc[c].awaddr] = line;
        next.bvalid = 1'b1;
        next.bid = mc[c].awid;
      end else if (mc[c].arvalid && afu_rstn) begin
        next.rvalid = 1'b1;
        next.rid = mc[c].arid;
        {next.ruser, next.rdata} = lines.exists(mc[c].araddr) ? lines[mc[c].araddr] : '0;
      end
      way <= {way[LATENCY-2:0], next};
    end
    always_comb begin
      from_mc[c] = way[LATENCY-1];
      from_mc[c].arready = 1'b1;
      from_mc[c].awready = 1'b1;
      from_mc[c].wready = 1'b1;
    end
  end

  // Signals are driven and sampled half a cycle before the edge. After 100 ps, combinational outputs have settled.
  task automatic register_read(input logic [CSR_ADDR_BITS-1:0] address, output logic [63:0] value);
    @(negedge csr_clk);
    csr_address = address;
    csr_read = 1'b1;
    #100ps;
    while (csr_waitrequest) @(negedge csr_clk);
    @(negedge csr_clk);
    csr_read = 1'b0;
    while (!csr_readdatavalid) @(negedge csr_clk);
    value = csr_readdata;
  endtask

  task automatic register_write(input logic [CSR_ADDR_BITS-1:0] address, input logic [63:0] value);
    @(negedge csr_clk);
    csr_address = address;
    csr_writedata = value;
    csr_write = 1'b1;
    #100ps;
    while (csr_waitrequest) @(negedge csr_clk);
    @(negedge csr_clk);
    csr_write = 1'b0;
  endtask

  task automatic write_line(input int c, input logic [DATA_BITS-1:0] data, input logic poison);
    @(negedge afu_clk);
    ip[c].awvalid = 1'b1;
    ip[c].awid = 5;
    ip[c].awaddr = 52'h4000 + 52'(64 * c);
    ip[c].wvalid = 1'b1;
    ip[c].wdata = data;
    ip[c].wstrb = '1;
    ip[c].wuser = poison;
    while (ip[c].awvalid || ip[c].wvalid) begin
      logic address_taken, data_taken;
      #100ps address_taken = to_ip[c].awready;
      data_taken = to_ip[c].wready;
      @(negedge afu_clk);
      if (address_taken) ip[c].awvalid = 1'b0;
      if (data_taken) ip[c].wvalid = 1'b0;
    end
    while (!to_ip[c].bvalid) @(negedge afu_clk);
    if (to_ip[c].bid != 5 || to_ip[c].bresp != 0) $fatal(1, "channel %0d: B", c);
  endtask

  task automatic read_line(input int c, input logic [DATA_BITS-1:0] data, input logic poison);
    @(negedge afu_clk);
    ip[c].arvalid = 1'b1;
    ip[c].arid = 9;
    ip[c].araddr = 52'h4000 + 52'(64 * c);
    #100ps;
    while (!to_ip[c].arready) @(negedge afu_clk);
    @(negedge afu_clk);
    ip[c].arvalid = 1'b0;
    while (!to_ip[c].rvalid) @(negedge afu_clk);
    if (to_ip[c].rid != 9 || to_ip[c].rdata != data || to_ip[c].ruser != poison || to_ip[c].rresp != 0)
      $fatal(1, "channel %0d: R", c);
  endtask

  initial begin
    logic [63:0] value;
    ip = '0;
    for (int c = 0; c < CHANNELS; c++) begin
      ip[c].bready = 1'b1;
      ip[c].rready = 1'b1;
    end
    #100ns afu_rstn = 1;
    #33ns csr_rstn = 1;
    register_read(0, value);
    if (value != MAGIC) $fatal(1, "id is %h, not %h", value, MAGIC);
`ifdef ANEMONE_FLAT
    power_on = 0;
    register_write(NEAR_LINES, LINES);
    register_write(CONTROL, 1);
    do register_read(STATUS, value); while (value != 3);
`endif
    for (int c = 0; c < CHANNELS; c++) begin
      for (int poison = 0; poison < 2; poison++) begin
        logic [DATA_BITS-1:0] data;
        for (int i = 0; i < DATA_BITS / 32; i++) data[32*i+:32] = $urandom;
        write_line(c, data, poison[0]);
        read_line(c, data, poison[0]);
      end
    end
`ifdef ANEMONE_FLAT
    register_read(SWAPS, value);
    if (value != 64'(CHANNELS)) $fatal(1, "%0d swaps, not %0d", value, CHANNELS);
`endif
    $display("PASS");
    $finish;
  end

  initial #100us $fatal(1, "not done");
endmodule
