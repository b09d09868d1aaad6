// SPDX-License-Identifier: Apache-2.0
// The host of docs/integration.md: it installs a rule that counts accesses by 4 KiB page, reads and writes lines, and
// reads the counters. Registers: docs/registers.md.
`timescale 1ns / 1ps
module minimal_system_tb;
  localparam logic [21:0] Id = 22'h000000, EffectWindow = 22'h000040, RuleControl = 22'h000100;
  localparam logic [21:0] RuleEnd = 22'h000110, RulePrimaryMask = 22'h000118, RuleShifts = 22'h000128;
  localparam logic [21:0] RuleOperand = 22'h000130, RuleCommit = 22'h000148, Table = 22'h200000;
  localparam logic [21:0] PipelineControl = 22'h001030, PipelineStatus = 22'h001038;
  localparam logic [51:0] Window = 52'h0010_0000;  // host address of the telemetry region
  localparam int Pages = 4;

  logic clock = 0, reset = 1;
  always #1.25ns clock = ~clock;

  logic [3:0] host_awid = 1, host_bid, host_arid = 2, host_rid;
  logic [51:0] host_awaddr = '0, host_araddr = '0;
  logic [511:0] host_wdata = '0, host_rdata;
  logic [63:0] host_wstrb = '1;
  logic host_awvalid = 0, host_awready, host_wuser = 0, host_wvalid = 0, host_wready, host_bvalid, host_bready = 1;
  logic host_arvalid = 0, host_arready, host_rlast, host_ruser, host_rvalid, host_rready = 1;
  logic [1:0] host_bresp, host_rresp;
  logic [21:0] control_awaddr = '0, control_araddr = '0;
  logic [63:0] control_wdata = '0, control_rdata;
  logic control_awvalid = 0, control_awready, control_wvalid = 0, control_wready, control_bvalid, control_bready = 1;
  logic control_arvalid = 0, control_arready, control_rvalid, control_rready = 1;
  logic [1:0] control_bresp, control_rresp;
  logic interrupt_valid, interrupt_vector, interrupt_ready = 1;

  minimal_system dut (.*);

  // Inputs are driven half a cycle before the edge. Outputs are registers, so they are stable until the edge.
  task automatic write_register(input logic [21:0] address, input logic [63:0] value);
    @(negedge clock);
    control_awaddr  = address;
    control_wdata   = value;
    control_awvalid = 1;
    control_wvalid  = 1;
    while (control_awvalid || control_wvalid) begin
      logic address_taken, data_taken;
      address_taken = control_awready;
      data_taken = control_wready;
      @(negedge clock);
      if (address_taken) control_awvalid = 0;
      if (data_taken) control_wvalid = 0;
    end
    while (!control_bvalid) @(negedge clock);
    if (control_bresp != 0) $fatal(1, "register %h refused %h", address, value);
  endtask

  task automatic read_register(input logic [21:0] address, output logic [63:0] value);
    @(negedge clock);
    control_araddr  = address;
    control_arvalid = 1;
    while (!control_arready) @(negedge clock);
    @(negedge clock);
    control_arvalid = 0;
    while (!control_rvalid) @(negedge clock);
    value = control_rdata;
  endtask

  task automatic write_line(input logic [51:0] address, input logic [511:0] data);
    @(negedge clock);
    host_awaddr  = address;
    host_wdata   = data;
    host_awvalid = 1;
    host_wvalid  = 1;
    while (host_awvalid || host_wvalid) begin
      logic address_taken, data_taken;
      address_taken = host_awready;
      data_taken = host_wready;
      @(negedge clock);
      if (address_taken) host_awvalid = 0;
      if (data_taken) host_wvalid = 0;
    end
    while (!host_bvalid) @(negedge clock);
    if (host_bresp != 0 || host_bid != host_awid) $fatal(1, "write of %h: wrong answer", address);
  endtask

  task automatic read_line(input logic [51:0] address, output logic [511:0] data);
    @(negedge clock);
    host_araddr  = address;
    host_arvalid = 1;
    while (!host_arready) @(negedge clock);
    @(negedge clock);
    host_arvalid = 0;
    while (!host_rvalid) @(negedge clock);
    if (host_rresp != 0 || host_rid != host_arid || host_ruser) $fatal(1, "read of %h: wrong answer", address);
    data = host_rdata;
  endtask

  initial begin
    logic [63:0] value;
    logic [511:0] line, counters;
    int expected[Pages];
    #20ns @(negedge clock) reset = 0;

    read_register(Id, value);
    if (value != 64'h414e_454d_4f4e_4531) $fatal(1, "no Anemone: id is %h", value);
    write_register(PipelineControl, 1);  // clear
    do read_register(PipelineStatus, value); while (value != 0);

    // The rule: reads and writes of the first pages, 64-bit counters, add 1, reset when read.
    write_register(RuleEnd, 64'(4096 * Pages));
    write_register(RulePrimaryMask, '1);
    write_register(RuleShifts, 12);
    write_register(RuleOperand, 1);
    write_register(RuleControl, 64'h100_0000_0307);  // enable, reads, writes; counter_width 3; effect_kind reset
    write_register(RuleCommit, 0);
    for (int page = 0; page < Pages; page++) begin
      write_register(Table + 22'(8 * page), {1'b1, 63'(page)});  // mapped to the counter of its number
    end
    write_register(EffectWindow, {12'b0, Window} | 1);

    for (int i = 0; i < 200; i++) begin
      int page;
      logic [51:0] address;
      page = $urandom_range(Pages);  // the last is beyond the rule
      address = 52'(4096 * page + 64 * $urandom_range(63));
      for (int word = 0; word < 16; word++) line[32*word+:32] = $urandom;
      write_line(address, line);
      read_line(address, counters);
      if (counters != line) $fatal(1, "line %h: read %h, written %h", address, counters, line);
      if (page < Pages) expected[page] += 2;
    end

    read_line(Window, counters);
    for (int page = 0; page < Pages; page++) begin
      $display("page %0d: %0d accesses", page, counters[64*page+:64]);
      if (counters[64*page+:64] != 64'(expected[page])) $fatal(1, "expected %0d", expected[page]);
    end
    read_line(Window, counters);
    if (counters != 0) $fatal(1, "the read did not reset the counters");
    $display("PASS");
    $finish;
  end

  initial #1ms $fatal(1, "not done");
endmodule
