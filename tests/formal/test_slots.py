# SPDX-License-Identifier: Apache-2.0
"""The order of events, reads and acknowledgements, bounded (Yosys, ABC's bmc3).

hw/test/nemo/SlotOrder.scala is the property: for any timing, each gets its slots in order.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal.checker import broken, check, proof, within

# A reset, an acknowledgement, its queue drained, and a serial RMW, four slots each.
BOUNDED = within(18)


@pytest.fixture(scope="session")
def order() -> Path:
    """The property's SystemVerilog."""
    return proof("SlotOrder")


def test_slots_keep_one_order(order: Path, tmp_path: Path) -> None:
    assert check(order, tmp_path, *BOUNDED) is None


MUTANTS = {
    "a read is accepted beside an event": (r"io_open & ~io_event_valid;", "io_open;"),
    "a read overtakes those that wait": (
        r"~busy & ~_eventQueue_io_deq_valid & ~io_hold",
        "~busy & ~io_hold",
    ),
    "an event passes those that wait": (
        r"(io_event_valid & )\(busy \| _eventQueue_io_deq_valid\)",
        r"\1busy",
    ),
    "an event has a slot of a serial RMW": (
        r"~busy & \(_eventQueue_io_deq_valid \| io_event_valid\)",
        "io_event_valid",
    ),
    "a serial RMW is a word short": (r"inSerialRmw \? word != 2'h3", "inSerialRmw ? word != 2'h2"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_broken_arbiter_is_refuted(mutant: str, order: Path, tmp_path: Path) -> None:
    assert check(broken(order, *MUTANTS[mutant], tmp_path), tmp_path, *BOUNDED) is not None
