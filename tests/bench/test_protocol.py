# SPDX-License-Identifier: Apache-2.0
"""The benches' AXI checkers (sim/common) accept correct traffic and report each fault."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from tests.bench.build import SIMULATORS, simulator
from tests.bench.protocol_cases import CASES
from tests.bench.simulate import simulate

PORTS = Path(__file__).with_name("ports")
PUBLIC = '`verilator_config\npublic_flat_rw -module "Ports" -var "*"\n'


@pytest.fixture(scope="session")
def messages() -> dict[str, list[str]]:
    """The checkers' messages in each case."""
    folder = SIMULATORS / "protocol"
    built = simulator(PORTS, folder / "sim", "Ports", PUBLIC, quick=True)
    go_on = ["+verilator+error+limit+100000"]
    # The simulation ends as failed.
    with suppress(AssertionError):
        simulate(built, "protocol", folder, go_on, package="tests.bench", top="Ports")
    found: dict[str, list[str]] = {}
    case = ""
    for line in (folder / "simulation.log").read_text().splitlines():
        if line.startswith("case "):
            found[case := line.removeprefix("case ")] = []
        elif case and (error := re.search(r"Assertion failed in \S*Ports\.(\S*: .*)", line)):
            found[case].append(error[1])
    return found


@pytest.mark.xdist_group("protocol")
@pytest.mark.parametrize(("port", "name"), CASES)
def test_each_rule_is_checked(port: str, name: str, messages: dict[str, list[str]]) -> None:
    expected, _ = CASES[port, name]
    errors = messages[f"{port} {name}"]
    assert bool(errors) == bool(expected), errors
    if expected:
        assert all(error.startswith(f"{port}_checker") for error in errors), errors
        assert any(expected in error for error in errors), errors
