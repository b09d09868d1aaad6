// SPDX-License-Identifier: Apache-2.0
// Checks both sides of an AXI4 port (IHI 0022, part A). Bind it to any module with these pins. An error names the
// instance and the rule.
//
//   master: legal burst, size and length, 4 KiB boundary, wrapping bursts (A3.4.1), strobes within lanes (A3.4.3), wlast
//   slave: responses only to requests, in order per id; rlast; B after the last W (A3.3); no EXOKAY
//   both: valid and payload stay until ready, and valid is low in reset (axi_handshake_checker)
//
// Write data may precede their address; their strobes are then not checked.
module axi4_checker #(
    parameter int ADDRESS_BITS = 52,
    parameter int DATA_BITS = 512,
    parameter int ID_BITS = 12,
    parameter int LEN_BITS = 8,
    // Sideband bits of W and R.
    parameter int W_BITS = 1,
    parameter int R_BITS = 1,
    // See axi_handshake_checker.
    parameter bit LATE_RESET = 1'b0,
    // Upper limit of outstanding reads, and of outstanding writes.
    parameter int MOST = 1024
) (
    input logic clock,
    input logic reset,

    input logic [     ID_BITS-1:0] awid,
    input logic [ADDRESS_BITS-1:0] awaddr,
    input logic [    LEN_BITS-1:0] awlen,
    input logic [             2:0] awsize,
    input logic [             1:0] awburst,
    input logic                    awvalid,
    input logic                    awready,
    input logic [   DATA_BITS-1:0] wdata,
    input logic [ DATA_BITS/8-1:0] wstrb,
    input logic                    wlast,
    input logic [      W_BITS-1:0] wbeside,
    input logic                    wvalid,
    input logic                    wready,
    input logic [     ID_BITS-1:0] bid,
    input logic [             1:0] bresp,
    input logic                    bvalid,
    input logic                    bready,
    input logic [     ID_BITS-1:0] arid,
    input logic [ADDRESS_BITS-1:0] araddr,
    input logic [    LEN_BITS-1:0] arlen,
    input logic [             2:0] arsize,
    input logic [             1:0] arburst,
    input logic                    arvalid,
    input logic                    arready,
    input logic [     ID_BITS-1:0] rid,
    input logic [   DATA_BITS-1:0] rdata,
    input logic [             1:0] rresp,
    input logic                    rlast,
    input logic [      R_BITS-1:0] rbeside,
    input logic                    rvalid,
    input logic                    rready
);

  localparam int BYTES = DATA_BITS / 8;
  localparam int LANE_BITS = $clog2(BYTES);
  localparam int PAGE = 4096;
  localparam logic [1:0] FIXED = 2'd0, INCR = 2'd1, WRAP = 2'd2;
  localparam logic [1:0] EXOKAY = 2'd1;

  typedef struct packed {
    logic [ID_BITS-1:0] id;
    logic [11:0]        addr;   // offset in 4 KiB, which no burst leaves
    logic [7:0]         len;
    logic [2:0]         size;
    logic [1:0]         burst;
  } request_t;

  // A bench whose slave does not follow the protocol sets it to 0.
  logic enabled  /* verilator public_flat_rw */ = 1'b1;

  axi_handshake_checker #(
      .BITS(ID_BITS + ADDRESS_BITS + LEN_BITS + 5),
      .LATE_RESET(LATE_RESET)
  ) aw (
      .*,
      .valid(awvalid),
      .ready(awready),
      .payload({awid, awaddr, awlen, awsize, awburst}),
      .data(1'b0)
  );
  axi_handshake_checker #(
      .BITS(BYTES + 1 + W_BITS),
      .DATA_BITS(DATA_BITS),
      .LATE_RESET(LATE_RESET)
  ) w (
      .*,
      .valid(wvalid),
      .ready(wready),
      .payload({wstrb, wlast, wbeside}),
      .data(wdata)
  );
  axi_handshake_checker #(
      .BITS(ID_BITS + 2),
      .LATE_RESET(LATE_RESET)
  ) b (
      .*,
      .valid(bvalid),
      .ready(bready),
      .payload({bid, bresp}),
      .data(1'b0)
  );
  axi_handshake_checker #(
      .BITS(ID_BITS + ADDRESS_BITS + LEN_BITS + 5),
      .LATE_RESET(LATE_RESET)
  ) ar (
      .*,
      .valid(arvalid),
      .ready(arready),
      .payload({arid, araddr, arlen, arsize, arburst}),
      .data(1'b0)
  );
  axi_handshake_checker #(
      .BITS(ID_BITS + 3 + R_BITS),
      .DATA_BITS(DATA_BITS),
      .LATE_RESET(LATE_RESET)
  ) r (
      .*,
      .valid(rvalid),
      .ready(rready),
      .payload({rid, rresp, rlast, rbeside}),
      .data(rdata)
  );

  // Outstanding reads per id, in order: beats less one.
  logic [7:0] reads[int][$];
  int read_beat[int];  // the next beat of the first read of an id
  int read_count = 0;
  request_t writes[$];  // writes that wait for data
  int acknowledgeable[int];  // per id: writes whose data are complete
  int early[$];  // data without an address yet: beats less one
  int write_count = 0;
  int write_beat = 0;  // the next beat of W

  function automatic void legal(input string name, input logic [ADDRESS_BITS-1:0] addr, input logic [LEN_BITS-1:0] len,
                                input logic [2:0] size, input logic [1:0] burst);
    int bytes, first;
    bytes = 1 << size;
    first = int'(addr[11:0]) & ~(bytes - 1);
    if (int'(size) > LANE_BITS) $error("%s: beats of %0d bytes", name, bytes);
    if (int'(len) > 255) $error("%s: %0d beats", name, int'(len) + 1);
    unique case (burst)
      FIXED: if (int'(len) > 15) $error("%s: a fixed burst of %0d beats", name, int'(len) + 1);
      INCR: if (first + (int'(len) + 1) * bytes > PAGE) $error("%s: a burst leaves its 4 KiB", name);
      WRAP: begin
        if (!(int'(len) inside {1, 3, 7, 15})) $error("%s: a wrapping burst of %0d beats", name, int'(len) + 1);
        if (first != int'(addr[11:0])) $error("%s: a wrapping burst at an unaligned address", name);
      end
      default: $error("%s: burst is reserved", name);
    endcase
  endfunction

  // The byte lanes that a beat may write (A3.4.3).
  function automatic logic [BYTES-1:0] lanes(input request_t request, input int beat);
    int bytes, first, at, block;
    bytes = 1 << request.size;
    first = int'(request.addr);
    at = first;
    if (beat != 0 && request.burst != FIXED) at = (first & ~(bytes - 1)) + beat * bytes;
    if (request.burst == WRAP) begin
      block = bytes * (int'(request.len) + 1);
      at = first / block * block + at % block;
    end
    lanes = {BYTES{1'b1}} << (at % BYTES);
    at = at & ~(bytes - 1);
    return lanes & ({BYTES{1'b1}} >> (BYTES - bytes - at % BYTES));
  endfunction

  task automatic answered();
    int id;
    // asked() runs after this task, because a request cannot be answered in its own cycle.
    id = int'(rid);
    if (rvalid) begin
      if (rresp == EXOKAY) $error("r is EXOKAY");
      if (reads[id].size() == 0) $error("r of id %0d, which has no read", id);
      else if (rlast != (read_beat[id] == int'(reads[id][0]))) $error("rlast is %b", rlast);
      else if (rready) begin
        read_beat[id] = rlast ? 0 : read_beat[id] + 1;
        if (rlast) begin
          void'(reads[id].pop_front());
          read_count -= 1;
        end
      end
    end
    id = int'(bid);
    if (bvalid) begin
      if (bresp == EXOKAY) $error("b is EXOKAY");
      if (acknowledgeable[id] == 0) $error("b of id %0d, which has no write with all its data", id);
      else if (bready) begin
        acknowledgeable[id] -= 1;
        write_count -= 1;
      end
    end
  endtask

  task automatic asked();
    request_t write;
    if (arvalid && arready) begin
      reads[int'(arid)].push_back(8'(arlen));
      read_count += 1;
    end
    if (awvalid && awready) begin
      write_count += 1;
      write = '{id: awid, addr: awaddr[11:0], len: 8'(awlen), size: awsize, burst: awburst};
      if (early.size() == 0) writes.push_back(write);
      else begin
        if (early[0] != int'(awlen)) $error("%0d beats of data came for %0d", early[0] + 1, int'(awlen) + 1);
        void'(early.pop_front());
        acknowledgeable[int'(awid)] += 1;
      end
    end
    // After AW: data of the same cycle belong to its address.
    if (wvalid && wready) begin
      if (writes.size() == 0) begin
        if (wlast) early.push_back(write_beat);
      end else begin
        write = writes[0];
        if (wlast != (write_beat == int'(write.len))) $error("wlast is %b in beat %0d", wlast, write_beat);
        if ((wstrb & ~lanes(write, write_beat)) != 0) $error("wstrb is %h in beat %0d", wstrb, write_beat);
        if (wlast) begin
          void'(writes.pop_front());
          acknowledgeable[int'(write.id)] += 1;
        end
      end
      write_beat = wlast ? 0 : write_beat + 1;
    end
  endtask

  always @(posedge clock) begin
    if (reset) begin
      reads.delete();
      read_beat.delete();
      writes.delete();
      acknowledgeable.delete();
      early.delete();
      read_count = 0;
      write_count = 0;
      write_beat = 0;
    end else if (enabled) begin
      if (arvalid) legal("ar", araddr, arlen, arsize, arburst);
      if (awvalid) legal("aw", awaddr, awlen, awsize, awburst);
      answered();
      asked();
      if (read_count > MOST) $error("more than %0d reads", MOST);
      if (write_count > MOST) $error("more than %0d writes", MOST);
    end
  end

endmodule
