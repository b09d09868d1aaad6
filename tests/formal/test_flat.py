# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode's MSHRs: allocation, unbounded; lists of operations, bounded (Yosys, ABC).

hw/test/flat/MshrAllocatorReference.scala and MshrOpListsReference.scala are the properties: for any
requests and decisions since power-up, no two of four requests hold the same set with different
MSHRs, and no MSHR that a request waits for is reallocated; for any pushes and pops, no operation is
lost and each MSHR's order is kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formal.checker import UNBOUNDED, broken, check, proof, within

# A reset, and three operations pushed and popped in any order.
FRAMES = 8
BOUNDED = within(FRAMES)


@pytest.fixture(scope="session")
def allocator() -> Path:
    """The allocator's property."""
    return proof("MshrAllocatorProof")


@pytest.fixture(scope="session")
def lists() -> Path:
    """The lists'."""
    return proof("MshrOpListsReference")


def test_a_set_has_one_mshr_and_an_mshr_one_set(allocator: Path, tmp_path: Path) -> None:
    assert check(allocator, tmp_path, *UNBOUNDED) is None


def test_no_operation_is_forgotten(lists: Path, tmp_path: Path) -> None:
    assert check(lists, tmp_path, *BOUNDED) is None


ALLOCATOR = {
    "an MSHR is free while a request waits for it": (r"io_idle & ~undecided", "io_idle"),
    "an MSHR is free while it is shared": (r"(~undecided) & ~shares\)", r"\1)"),
    "sets are told apart by all bits but one": (
        r" & \(planes_6 \^ ~\{4\{io_next_bits\[6\]\}\}\)",
        "",
    ),
    "the request before is not compared": (
        r"(io_next_bits == io_allocate_bits_nearIndex) & needsOne",
        "1'h0",
    ),
    "a set is compared as if its MSHR were still in use": (r"(matching <=\s*)stays", r"\1used"),
    "a request is not compared while MSHRs are in use": (
        r"~\(\|used\) & ~io_allocate_valid;",
        "1'h1;",
    ),
    "who was last to ask is not noted": (r"= free \| shares;", "= free;"),
}
LISTS = {
    "an empty list has an operation": (r"(remains = waiting) & ~empties", r"\1"),
    "which is next is not noted": (r"planes_0_2 \| follows", "planes_0_2"),
    "the first of an empty list is not noted": (r"\| _GEN_0;", ";"),
    "operations lose a bit": (r"planes_4 \| newRequest;", "planes_4;"),
}


@pytest.mark.parametrize("mutant", ALLOCATOR)
def test_a_broken_allocator_is_refuted(mutant: str, allocator: Path, tmp_path: Path) -> None:
    assert check(broken(allocator, *ALLOCATOR[mutant], tmp_path), tmp_path, *UNBOUNDED) is not None


@pytest.mark.parametrize("mutant", LISTS)
def test_broken_lists_are_refuted(mutant: str, lists: Path, tmp_path: Path) -> None:
    assert check(broken(lists, *LISTS[mutant], tmp_path), tmp_path, *BOUNDED) is not None
