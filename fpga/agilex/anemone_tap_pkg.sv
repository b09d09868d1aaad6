// SPDX-License-Identifier: Apache-2.0
// The memory side of the AFU of Intel's R-Tile CXL IP: one AXI4 master per memory channel, as two packed structs. The
// names are those of the AXI specification. Fields, order and widths are those of the tap, so that a struct of the
// example design connects to one of these bit by bit; overlay.py checks this.
package anemone_tap_pkg;

`ifndef ANEMONE_ID_BITS
  `define ANEMONE_ID_BITS 12 // the example design of Quartus 24.1 and later: 8
`endif

  localparam int CHANNELS = 2;
  localparam int ID_BITS = `ANEMONE_ID_BITS;
  localparam int ADDR_BITS = 52;
  localparam int LEN_BITS = 10;
  localparam int DATA_BITS = 512;

  // Control port.
  localparam int CSR_ADDR_BITS = 22;
  localparam int CSR_DATA_BITS = 64;

  // To the memory controller. `wuser`: the data are poisoned.
  typedef struct packed {
    logic                   bready;
    logic                   rready;
    logic [ID_BITS-1:0]     awid;
    logic [ADDR_BITS-1:0]   awaddr;
    logic [LEN_BITS-1:0]    awlen;
    logic [2:0]             awsize;
    logic [1:0]             awburst;
    logic [2:0]             awprot;
    logic [3:0]             awqos;
    logic                   awvalid;
    logic [3:0]             awcache;
    logic [1:0]             awlock;
    logic [3:0]             awregion;
    logic                   awuser;
    logic [DATA_BITS-1:0]   wdata;
    logic [DATA_BITS/8-1:0] wstrb;
    logic                   wlast;
    logic                   wvalid;
    logic                   wuser;
    logic [ID_BITS-1:0]     arid;
    logic [ADDR_BITS-1:0]   araddr;
    logic [LEN_BITS-1:0]    arlen;
    logic [2:0]             arsize;
    logic [1:0]             arburst;
    logic [2:0]             arprot;
    logic [3:0]             arqos;
    logic                   arvalid;
    logic [3:0]             arcache;
    logic [1:0]             arlock;
    logic [3:0]             arregion;
    logic                   aruser;
  } to_mc_t;

  // From the memory controller. `ruser`: the data are poisoned.
  typedef struct packed {
    logic                 awready;
    logic                 wready;
    logic                 arready;
    logic [ID_BITS-1:0]   bid;
    logic [1:0]           bresp;
    logic                 bvalid;
    logic                 buser;
    logic [ID_BITS-1:0]   rid;
    logic [DATA_BITS-1:0] rdata;
    logic [1:0]           rresp;
    logic                 rvalid;
    logic                 rlast;
    logic                 ruser;
  } from_mc_t;

endpackage
