# SPDX-License-Identifier: Apache-2.0
"""The cocotb bench of the memory expander, at its AXI and control ports, against golden models.

sizes     the hardware builds               build     RTL and simulator, built on demand
requests  AXI transfers, address decoding   store     contents of a memory
modes     how busy each side is             traffic   random requests
master    above a channel                   memory    below it, also with the board's habits
control   the control port's driver         operator  software that programs rules amid traffic
lockstep  golden telemetry                  scoreboard     what must come out of a channel
interrupts   messages and their latches     environment     all of it, a cycle at a time
"""
