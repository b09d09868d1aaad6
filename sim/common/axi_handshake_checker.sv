// SPDX-License-Identifier: Apache-2.0
// Checks the handshake of one AXI channel (IHI 0022, A3.1.2 and A3.2.1): valid is low in reset and in the first cycle
// after it, and valid and payload stay until ready. The reset at power-up may take one edge more, because the state of
// clock gates is unknown at the first.
module axi_handshake_checker #(
    parameter int BITS = 1,
    // Width of `data`, which is separate from `payload` because a wide concatenation slows the simulation.
    parameter int DATA_BITS = 1,
    // 1 if the module resets some cycles after the pin: valid may then stay high in reset.
    parameter bit LATE_RESET = 1'b0
) (
    input logic                 clock,
    input logic                 reset,
    input logic                 enabled,
    input logic                 valid,
    input logic                 ready,
    input logic [     BITS-1:0] payload,
    input logic [DATA_BITS-1:0] data
);

  logic powered = 1'b0;
  logic was_reset = 1'b0;
  logic waits = 1'b0;
  logic [BITS-1:0] held;
  logic [DATA_BITS-1:0] held_data;

  always @(posedge clock) begin
    powered <= 1'b1;
    was_reset <= reset && powered;
    waits <= valid && !ready && !reset;
    if (valid && !ready && !waits) begin
      held <= payload;
      held_data <= data;
    end
    if (enabled) begin
      if (was_reset && valid && !LATE_RESET) $error("valid under reset");
      if (waits && !reset) begin
        if (!valid) $error("valid was taken back");
        else if (payload != held || data != held_data) $error("changed while it waited");
      end
    end
  end

endmodule
