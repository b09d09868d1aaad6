# SPDX-License-Identifier: Apache-2.0
"""Timing constraints of a top, in SDC commands that all tools share."""

from __future__ import annotations

from collections.abc import Sequence

from fpga.ip.tops import Port

# A crossing word is loaded two cycles or more after its level rises. Its bits may take this share
# of a cycle of the loading clock, which also bounds their skew.
WORD = 0.8

# Crossings of the board's top (hw/src/bus/CrossingLink.scala). WORDS: source and target registers
# of each crossing word, and the loading clock. LEVELS: the first flops of the Synchronizers.
WORDS = (
    ("crossing/hostSide/command_*", "crossing/deviceSide/command_*", "clock"),
    ("crossing/deviceSide/answer_*", "crossing/hostSide/answer_*", "csrClock"),
)
LEVELS = (
    "*_flops/meta*",
    "crossing/hostSide/*_flops/meta*",
    "crossing/deviceSide/*_flops/meta*",
)

PLAIN = """\
# `reset` is synchronous, so it is a pin like any other. No path is false: the mode bits of the
# register map are registers of this clock, and may change during requests.
"""

CROSSING = """\
# The two clocks are asynchronous. A level may be sampled a cycle sooner or later, so it needs no
# timing. The bits of a word have a maximum delay. `python -m fpga.cdc` lists every crossing. Cells
# are named as in the emitted SystemVerilog, from this module down.
"""


def sdc(module: str, ports: Sequence[Port], periods: dict[str, float]) -> str:
    """The constraints of a module. periods: ns by clock pin."""
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        f"# {module} alone, in ns. Half of a cycle is left to the outside; every output comes from",
        "# a register.",
    ]
    for pin, period in periods.items():
        lines.append(f"create_clock -name {pin} -period {period} [get_ports {pin}]")
    lines.append((CROSSING if len(periods) > 1 else PLAIN).rstrip())
    if len(periods) > 1:
        lines.append(f"set_false_path -to [get_cells {{{' '.join(LEVELS)}}}]")
        for source, target, clock in WORDS:
            ends = f"-from [get_cells {{{source}}}] -to [get_cells {{{target}}}]"
            lines.append(f"set_max_delay {WORD * periods[clock]:g} {ends}")
            lines.append(f"set_false_path -hold {ends}")
    for clock, period in periods.items():
        for direction in ("in", "out"):
            pins = [
                port.name
                for port in ports
                if port.direction == direction
                and port.name not in periods
                and (len(periods) == 1 or port.name.startswith("csr") == (clock == "csrClock"))
            ]
            command = {"in": "set_input_delay", "out": "set_output_delay"}[direction]
            lines.append(f"{command} {period / 2:g} -clock {clock} [get_ports {{")
            lines += [f"  {name}" for name in pins]
            lines.append("}]")
    return "\n".join(lines) + "\n"
