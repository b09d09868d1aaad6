# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of the hardware with open tools.

    python -m fpga.synth           measure all; write build/synth/cost.json and docs/cost.md
    python -m fpga.synth check     compare a small configuration with baseline.json and limits.toml
    python -m fpga.synth renew     write baseline.json again
    python -m fpga.synth page      write docs/cost.md again from build/synth/cost.json
    python -m fpga.synth look M    cost of module M of the engine, and what its cells feed
    python -m fpga.synth place U   clock and depth of unit U alone; --seed 1 takes a minute or less
                                   for most units; the page has --seed 1 2 3

`rtl` emits a configuration with block RAM, `agilex` and `ecp5` map it, `netlist` counts cells,
`place` places a unit, `cost` measures and compares, `page` writes the page.
"""
