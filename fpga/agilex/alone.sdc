# SPDX-License-Identifier: Apache-2.0
# The clocks of Intel's IP on the board: 400 MHz for the memory path, 125 MHz for the control port.
create_clock -name afu_clk -period 2.5 [get_ports afu_clk]
create_clock -name csr_avmm_clk -period 8.0 [get_ports csr_avmm_clk]
derive_clock_uncertainty
