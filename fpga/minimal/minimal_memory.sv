// SPDX-License-Identifier: Apache-2.0
// An AXI4 memory of 64-byte lines with poison: requests of one beat, answered in order after LATENCY cycles.
module minimal_memory #(
    parameter int ID_BITS = 4,
    parameter int LINES = 4096,
    parameter int LATENCY = 20
) (
    input logic clock,
    input logic reset,
    input logic [ID_BITS-1:0] awid,
    input logic [51:0] awaddr,
    input logic awvalid,
    output logic awready,
    input logic [511:0] wdata,
    input logic [63:0] wstrb,
    input logic wuser,
    input logic wvalid,
    output logic wready,
    output logic [ID_BITS-1:0] bid,
    output logic [1:0] bresp,
    output logic bvalid,
    input logic bready,
    input logic [ID_BITS-1:0] arid,
    input logic [51:0] araddr,
    input logic arvalid,
    output logic arready,
    output logic [ID_BITS-1:0] rid,
    output logic [511:0] rdata,
    output logic [1:0] rresp,
    output logic rlast,
    output logic ruser,
    output logic rvalid,
    input logic rready
);
  localparam int INDEX_BITS = $clog2(LINES);
  typedef struct packed {
    logic valid;
    logic [ID_BITS-1:0] id;
    logic poison;
    logic [511:0] data;
  } answer_t;

  logic [512:0] lines[LINES];  // poison, data
  answer_t [LATENCY-1:0] reads;
  logic [LATENCY-1:0][ID_BITS:0] writes;  // valid, id

  // Each pipeline of responses stalls while its last response waits.
  wire read_step = !reads[LATENCY-1].valid || rready;
  wire write_step = !writes[LATENCY-1][ID_BITS] || bready;
  wire write = awvalid && wvalid && write_step && !reset;
  assign arready = read_step && !reset;
  assign awready = write;
  assign wready = write;

  function automatic logic [INDEX_BITS-1:0] line(input logic [51:0] address);
    return address[6+:INDEX_BITS];
  endfunction

  always_ff @(posedge clock) begin
    if (write) begin
      for (int i = 0; i < 64; i++) if (wstrb[i]) lines[line(awaddr)][8*i+:8] <= wdata[8*i+:8];
      lines[line(awaddr)][512] <= wuser || (lines[line(awaddr)][512] && !(&wstrb));
    end
    if (read_step) begin
      reads <= {reads[LATENCY-2:0], answer_t'({arvalid && arready, arid, lines[line(araddr)]})};
    end
    if (write_step) writes <= {writes[LATENCY-2:0], {write, awid}};
    if (reset) begin
      for (int i = 0; i < LATENCY; i++) begin
        reads[i].valid <= 1'b0;
        writes[i][ID_BITS] <= 1'b0;
      end
    end
  end

  assign rvalid = reads[LATENCY-1].valid;
  assign rid = reads[LATENCY-1].id;
  assign ruser = reads[LATENCY-1].poison;
  assign rdata = reads[LATENCY-1].data;
  assign rresp = 2'b00;
  assign rlast = 1'b1;
  assign {bvalid, bid} = writes[LATENCY-1];
  assign bresp = 2'b00;
endmodule
