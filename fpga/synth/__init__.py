# SPDX-License-Identifier: Apache-2.0
"""What the hardware costs, measured with open tools.

    python -m fpga.synth           everything, into build/synth/cost.json and docs/cost.md
    python -m fpga.synth check     a small configuration against baseline.json and limits.toml
    python -m fpga.synth renew     write baseline.json anew
    python -m fpga.synth page      write docs/cost.md again from build/synth/cost.json
    python -m fpga.synth look M    what module M of the engine costs, and what its cells feed
    python -m fpga.synth place U   unit U by itself: its clock and depth; --seed 1 for a first look,
                                   a minute or less for most; --seed 1 2 3 is what the page has

`rtl` emits a configuration and puts block RAM in it, `agilex` and `ecp5` map it, `netlist`
counts, `place` places a unit, `cost` measures and compares, `page` writes the page.
"""
