# SPDX-License-Identifier: Apache-2.0
# Anemone alone has more ports than the device has pins, so all pins but the clocks are virtual.
set_instance_assignment -name VIRTUAL_PIN ON -to *
foreach clock {afu_clk csr_avmm_clk} {
    set_instance_assignment -name VIRTUAL_PIN OFF -to $clock
}
