# SPDX-License-Identifier: Apache-2.0
"""The cocotb bench of the telemetry engine, at its ports and against `anemone.golden.nemo`.

sizes      the hardware builds          build      RTL and simulator, built on demand
script     what is put on the ports     rules      random rules
traffic    random scripts               reference  what the contract says must come out
coverage   which situations occurred    driver     runs a plan and compares, cycle by cycle
directed, campaign   the cocotb tests   simulate   runs them
"""
