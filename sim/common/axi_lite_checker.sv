// SPDX-License-Identifier: Apache-2.0
// Checks both sides of an AXI4-Lite port (IHI 0022, part B), like axi4_checker.
module axi_lite_checker #(
    parameter int ADDRESS_BITS = 32,
    parameter int DATA_BITS = 64,
    // Upper limit of outstanding reads, and of outstanding writes.
    parameter int MOST = 1024
) (
    input logic clock,
    input logic reset,

    input logic [ADDRESS_BITS-1:0] awaddr,
    input logic                    awvalid,
    input logic                    awready,
    input logic [   DATA_BITS-1:0] wdata,
    input logic [ DATA_BITS/8-1:0] wstrb,
    input logic                    wvalid,
    input logic                    wready,
    input logic [             1:0] bresp,
    input logic                    bvalid,
    input logic                    bready,
    input logic [ADDRESS_BITS-1:0] araddr,
    input logic                    arvalid,
    input logic                    arready,
    input logic [   DATA_BITS-1:0] rdata,
    input logic [             1:0] rresp,
    input logic                    rvalid,
    input logic                    rready
);

  localparam logic [1:0] EXOKAY = 2'd1;

  // A bench whose slave does not follow the protocol sets it to 0.
  logic enabled  /* verilator public_flat_rw */ = 1'b1;

  axi_handshake_checker #(
      .BITS(ADDRESS_BITS)
  ) aw (
      .*,
      .valid(awvalid),
      .ready(awready),
      .payload(awaddr),
      .data(1'b0)
  );
  axi_handshake_checker #(
      .BITS(DATA_BITS / 8),
      .DATA_BITS(DATA_BITS)
  ) w (
      .*,
      .valid(wvalid),
      .ready(wready),
      .payload(wstrb),
      .data(wdata)
  );
  axi_handshake_checker #(
      .BITS(2)
  ) b (
      .*,
      .valid(bvalid),
      .ready(bready),
      .payload(bresp),
      .data(1'b0)
  );
  axi_handshake_checker #(
      .BITS(ADDRESS_BITS)
  ) ar (
      .*,
      .valid(arvalid),
      .ready(arready),
      .payload(araddr),
      .data(1'b0)
  );
  axi_handshake_checker #(
      .BITS(2),
      .DATA_BITS(DATA_BITS)
  ) r (
      .*,
      .valid(rvalid),
      .ready(rready),
      .payload(rresp),
      .data(rdata)
  );

  // Accepted and not yet answered.
  int addresses = 0, data = 0, reads = 0;

  always @(posedge clock) begin
    if (reset) begin
      addresses <= 0;
      data <= 0;
      reads <= 0;
    end else begin
      addresses <= addresses + int'(awvalid && awready) - int'(bvalid && bready);
      data <= data + int'(wvalid && wready) - int'(bvalid && bready);
      reads <= reads + int'(arvalid && arready) - int'(rvalid && rready);
      if (enabled) begin
        // A response comes at least one cycle after its request.
        if (bvalid && (addresses == 0 || data == 0)) $error("b without a write");
        if (rvalid && reads == 0) $error("r without a read");
        if (bvalid && bresp == EXOKAY) $error("b is EXOKAY");
        if (rvalid && rresp == EXOKAY) $error("r is EXOKAY");
        if (addresses > MOST || data > MOST) $error("more than %0d writes", MOST);
        if (reads > MOST) $error("more than %0d reads", MOST);
      end
    end
  end

endmodule
