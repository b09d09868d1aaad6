# SPDX-License-Identifier: Apache-2.0
"""Counters by id, bounded (Yosys, ABC's bmc3).

hw/test/bus/IdCounterReference.scala and hw/test/expander/SameIdTrackerReference.scala are the
properties: for any timing of requests, look-ups and responses, an id's count equals a plain
register's.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal.checker import broken, check, proof, within

# A reset, two cycles to zero the counts, and two look-ups after the four in flight.
BOUNDED = within(14)


@pytest.fixture(scope="session")
def counter() -> Path:
    """The counter's property."""
    return proof("IdCounterReference")


@pytest.fixture(scope="session")
def order() -> Path:
    """The property of the number of earlier requests."""
    return proof("SameIdTrackerReference")


def test_ids_are_counted(counter: Path, tmp_path: Path) -> None:
    assert check(counter, tmp_path, *BOUNDED) is None


def test_how_many_are_ahead_is_known(order: Path, tmp_path: Path) -> None:
    assert check(order, tmp_path, *BOUNDED) is None


COUNTER = {
    "the oldest in flight is not seen": (r"newest\[3\] \? newer_3", r"newest[3] ? _ram_io_data"),
    "another in flight is taken for it": (r"(newest\[1\] \? )newer_1", r"\1newer_2"),
    "a look-up counts": (r"written_r <= io_counts", "written_r <= 1'h1"),
}
ORDER = {
    "an answer of just now is not seen": (r"io_answer_valid & io_answer_bits == asked_3", "1'h0"),
    "an answer amid the look-up is not seen": (r"since_REG_1 <=[^;]*;", "since_REG_1 <= 2'h0;"),
    "another id's answer counts": (
        r"io_answer_valid & io_answer_bits == asked_2",
        "io_answer_valid",
    ),
}


@pytest.mark.parametrize("mutant", COUNTER)
def test_a_broken_counter_is_refuted(mutant: str, counter: Path, tmp_path: Path) -> None:
    assert check(broken(counter, *COUNTER[mutant], tmp_path), tmp_path, *BOUNDED) is not None


@pytest.mark.parametrize("mutant", ORDER)
def test_a_broken_order_is_refuted(mutant: str, order: Path, tmp_path: Path) -> None:
    assert check(broken(order, *ORDER[mutant], tmp_path), tmp_path, *BOUNDED) is not None
