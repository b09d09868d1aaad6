# SPDX-License-Identifier: Apache-2.0
"""cocotb test that runs the cases of protocol_cases.py and prints the name of each."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from tests.bench.pins import power_on, writer
from tests.bench.protocol_cases import CASES, NOTHING, RESET


@cocotb.test()
async def cases(dut: Any) -> None:
    """Run each case after a reset; the checkers do not stop the simulation."""
    edge = RisingEdge(dut.clock)
    ports = ("full_", "lite_")
    pins = {pin._name: writer(pin) for pin in dut if pin._name.startswith(ports)}
    reset, shown = writer(dut.reset), dict.fromkeys(pins, 0)
    assert pins, "no ports"
    for write in pins.values():
        write(0)
    await power_on(dut)
    for (port, name), (_, traffic) in CASES.items():
        for t, cycle in enumerate((RESET, RESET, NOTHING, *traffic, RESET)):
            reset(cycle.get("reset", 0))
            now = {f"{port}_{pin}": value for pin, value in cycle.items() if pin != "reset"}
            for pin, value in ((pin, now.get(pin, 0)) for pin in pins):
                if shown[pin] != value:
                    pins[pin](value)
                    shown[pin] = value
            await edge
            if t == 2:
                print(f"case {port} {name}", flush=True)
