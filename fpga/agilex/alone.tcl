# SPDX-License-Identifier: Apache-2.0
# Anemone by itself in a device with fewer pins than it has: all but the clocks are virtual.
set_instance_assignment -name VIRTUAL_PIN ON -to *
foreach clock {afu_clk csr_avmm_clk} {
    set_instance_assignment -name VIRTUAL_PIN OFF -to $clock
}
