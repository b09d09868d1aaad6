# SPDX-License-Identifier: Apache-2.0
"""The reference model compared with results by hand, for each row of docs/flat.md."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.flat import POLICIES, FlatConfig
from anemone.flat.result import DEDICATED, HIT, MISS, SWAP
from anemone.golden.flat import WHOLE, FlatMemory, merge, replay, unwritten
from tests.flat.strategies import configs, traces

A, B = b"a" * 64, b"b" * 64
FEW = 0x3  # a strobe of two bytes
LINES = 10  # near lines; not a power of two

# Accesses below: near reads, near writes, far reads, far writes.
TABLE = [
    # kind, policy, n, what is done, outcome, traffic
    ("hit", "every", 1, "read", HIT, (1, 0, 0, 0)),
    ("hit", "every", 1, "write", HIT, (1, 1, 0, 0)),
    ("hit", "every", 1, "partial", HIT, (1, 1, 0, 0)),
    ("miss", "every", 1, "read", SWAP, (1, 1, 1, 1)),
    ("miss", "every", 1, "write", SWAP, (1, 1, 0, 1)),
    ("miss", "every", 1, "partial", SWAP, (1, 1, 1, 1)),
    ("miss", "never", 1, "read", MISS, (1, 0, 1, 0)),
    ("miss", "never", 1, "write", MISS, (1, 0, 0, 1)),
    ("miss", "never", 1, "partial", MISS, (1, 0, 0, 1)),
    ("miss", "one_in", 2, "read", MISS, (1, 0, 1, 0)),
    ("miss", "one_in", 2, "write", MISS, (1, 0, 0, 1)),
    ("miss", "one_in", 1, "partial", SWAP, (1, 1, 1, 1)),
    ("miss", "nth", 1, "read", SWAP, (1, 1, 1, 1)),
    ("miss", "nth", 2, "read", MISS, (1, 1, 1, 0)),
    ("miss", "nth", 2, "write", MISS, (1, 1, 0, 1)),
    ("miss", "nth", 2, "partial", MISS, (1, 1, 0, 1)),
    ("dedicated", "every", 1, "read", DEDICATED, (1, 0, 0, 0)),
    ("dedicated", "every", 1, "write", DEDICATED, (0, 1, 0, 0)),
    ("dedicated", "every", 1, "partial", DEDICATED, (0, 1, 0, 0)),
]


def act(memory: FlatMemory, p: int, what: str) -> bytes | None:
    if what == "read":
        return memory.read(p)
    memory.write(p, A, WHOLE if what == "write" else FEW)
    return None


@pytest.mark.parametrize("ratio", [1, 2, 3, 4])
@pytest.mark.parametrize(("kind", "policy", "n", "what", "outcome", "traffic"), TABLE)
def test_the_table(
    ratio: int, kind: str, policy: str, n: int, what: str, outcome: int, traffic: tuple[int, ...]
) -> None:
    """Each row of the table, on a line in its reset state, for each tag."""
    for tag in range(1, ratio + 1):
        config = FlatConfig(LINES, ratio, (1 << 20, (1 << 20) + 128), policy, n)
        memory = FlatMemory(config)
        p = {"hit": 3, "miss": tag * LINES + 3, "dedicated": (1 << 14) + 1}[kind]
        data = act(memory, p, what)
        assert (memory.outcome, memory.mismatches) == (outcome, 0)
        hit, miss, swap = outcome == HIT, outcome in (MISS, SWAP), outcome == SWAP
        assert astuple(memory.counts) == (hit, miss, swap, *traffic)
        assert memory.sets() == ({3: tag} if swap else {})
        if what == "read":
            assert data == unwritten(p)
        else:
            assert memory.contents(p) == (A if what == "write" else A[:2] + unwritten(p)[2:])
        untouched = set(range(config.lines)) - {p}
        assert all(memory.contents(q) == unwritten(q) for q in untouched)


def test_what_lines_hold_before_they_are_written() -> None:
    assert unwritten(0) == b"\xff" * 64
    assert unwritten(0x102) == (b"\xfd\xfe" + b"\xff" * 6) * 8
    memory = FlatMemory(FlatConfig(3, 2, (12 * 64, 14 * 64)))
    assert [memory.read(p) for p in (*range(9), 12, 13)] == [
        unwritten(p) for p in (*range(9), 12, 13)
    ]
    assert memory.mismatches == 0


def test_merge() -> None:
    assert merge(A, B, 0) == A and merge(A, B, WHOLE) == B
    assert merge(A, B, 1 << 63 | 2) == b"ab" + b"a" * 61 + b"b"


def outcomes(policy: str, n: int, accesses: list[int], near_lines: int = 4) -> str:
    """Outcomes of reads of lines, as letters h, m, s or d."""
    memory = FlatMemory(FlatConfig(near_lines, 2, (0x1000, 0x1040), policy, n))
    codes = replay(memory, [(p * 64, False) for p in accesses])
    assert memory.mismatches == 0
    return "".join("hmsd"[code] for code in codes)


# With four near lines, lines 0, 4 and 8 share set 0, and 1, 5 and 9 set 1; 64 is dedicated.
@pytest.mark.parametrize(
    ("policy", "n", "accesses", "expected"),
    [
        ("every", 1, [0, 4, 4, 0, 8, 4, 0], "hshssss"),
        ("never", 1, [0, 4, 4, 8, 0], "hmmmh"),
        ("nth", 1, [0, 4, 0, 8], "hsss"),
        ("nth", 2, [4, 4, 4], "msh"),
        ("nth", 3, [4, 4, 4, 4], "mmsh"),
        ("nth", 2, [4, 8, 4, 8, 8], "mmmms"),  # another line starts at 1
        ("nth", 2, [4, 0, 0, 4], "mhhs"),  # a hit does not touch the count
        ("nth", 2, [4, 5, 4, 5], "mmss"),  # each set has its own
        ("nth", 2, [4, 64, 4], "mds"),
        ("nth", 2, [4, 4, 0, 8, 0, 0], "msmmms"),  # a swap zeroes it: the victim starts at 1
        ("nth", 3, [4, 8, 8, 4, 4, 4], "mmmmms"),
        ("one_in", 1, [4, 0], "ss"),
        ("one_in", 3, [4, 5, 8, 8, 9, 4, 0], "mmshmms"),  # across sets; hits do not count
        ("one_in", 2, [64, 4, 0, 64, 9, 9], "dmhdsh"),
    ],
)
def test_policies(policy: str, n: int, accesses: list[int], expected: str) -> None:
    assert outcomes(policy, n, accesses) == expected


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        ([("nth", 3, [4, 4]), ("never", 1, [8, 4]), ("nth", 3, [4])], "mm mm s"),  # its count stays
        ([("nth", 2, [4]), ("every", 1, [8, 0]), ("nth", 2, [4, 4])], "m ss ms"),  # but for a swap
        ([("nth", 5, [4, 4, 4]), ("nth", 2, [4])], "mmm s"),  # more than it takes now
        ([("one_in", 3, [4, 8]), ("never", 1, [4]), ("one_in", 3, [4, 4, 4])], "mm m mms"),
        ([("one_in", 5, [4, 8]), ("one_in", 2, [4, 4])], "mm ms"),  # misses from the change on
        ([("one_in", 2, [4]), ("one_in", 2, [4])], "m s"),  # which this is not
    ],
)
def test_a_policy_that_changes(policies: list[tuple[str, int, list[int]]], expected: str) -> None:
    memory = FlatMemory(FlatConfig(4, 2, policy=policies[0][0], n=policies[0][1]))
    outcomes = []
    for policy, n, lines in policies:
        memory.set_policy(policy, n)
        codes = replay(memory, [(p * 64, False) for p in lines])
        outcomes.append("".join("hmsd"[code] for code in codes))
    assert " ".join(outcomes) == expected and memory.mismatches == 0


def test_the_largest_n() -> None:
    assert outcomes("nth", 255, [4] * 256) == "m" * 254 + "sh"


def test_a_swap_moves_the_victim_to_where_the_missed_line_was() -> None:
    memory = FlatMemory(FlatConfig(4, 3))
    where = lambda: [memory.where(tag * 4 + 1) for tag in range(4)]  # noqa: E731
    assert where() == [0, 1, 2, 3]
    memory.read(9)
    assert where() == [2, 1, 0, 3]
    memory.write(13, A)
    assert where() == [2, 1, 3, 0]
    memory.read(1)
    assert where() == [0, 1, 3, 2]
    assert memory.sets() == {} and memory.contents(13) == A
    memory.read(5)
    assert memory.sets() == {1: 1}


def test_dedicated_memory_is_never_looked_up_in_a_set() -> None:
    """Also with addresses within the sets: line 5 would be in set 1."""
    memory = FlatMemory(FlatConfig(4, 1, (5 * 64, 6 * 64)))
    memory.write(5, A)
    memory.write(1, B)
    assert (memory.read(5), memory.read(1)) == (A, B)
    assert astuple(memory.counts) == (2, 0, 0, 3, 2, 0, 0)
    assert memory.sets() == {}


def test_there_is_no_memory_behind_the_last_line() -> None:
    memory = FlatMemory(FlatConfig(4, 1))
    for p in (8, 1 << 40, -1):
        with pytest.raises(IndexError):
            memory.read(p)


def test_a_read_of_wrong_data_is_a_mismatch() -> None:
    memory = FlatMemory(FlatConfig(4, 1))
    memory.write(2, A)
    memory._near[2] = B
    assert memory.read(2) == B and memory.mismatches == 1


def assert_exclusive(memory: FlatMemory) -> None:
    """Check that each line is in exactly one slot and has the data last written."""
    config = memory.config
    for set_index in range(config.near_lines):
        slots = [
            memory.where(tag * config.near_lines + set_index) for tag in range(config.ratio + 1)
        ]
        assert sorted(slots) == list(range(config.ratio + 1))
        assert memory.sets().get(set_index, 0) == slots.index(0)
    for p in {*range(config.lines), *config.dedicated_lines}:
        assert memory.contents(p) == memory._written.get(p, unwritten(p))


@settings(max_examples=300)
@given(st.data())
def test_nothing_is_lost_and_the_counts_add_up(data: st.DataObject) -> None:
    """Random traces with partial writes: invariants, and the table summed by outcome."""
    config = data.draw(configs())
    memory = FlatMemory(config)
    addr, write = data.draw(traces(config))
    seen = dict.fromkeys(range(4), 0)
    partials = 0
    for i, (a, w) in enumerate(zip(addr.tolist(), write.tolist(), strict=True)):
        partial = w and i % 3 == 0
        act(memory, a // 64, "read" if not w else "partial" if partial else "write")
        assert memory.outcome is not None
        seen[memory.outcome] += 1
        partials += partial and memory.outcome == SWAP
    assert memory.mismatches == 0
    assert_exclusive(memory)
    counts = memory.counts
    assert (counts.hits, counts.misses, counts.swaps) == (seen[0], seen[1] + seen[2], seen[2])
    assert sum(seen.values()) == len(addr)
    dedicated_writes = 0
    for a, w in zip(addr.tolist(), write.tolist(), strict=True):
        dedicated_writes += w and a // 64 in config.dedicated_lines
    assert counts.near_reads == len(addr) - dedicated_writes
    # A miss needs one far access and a swap another one, except for full-line writes.
    asked = counts.far_reads + counts.far_writes
    swapped_whole = counts.misses + counts.swaps - asked
    assert 0 <= swapped_whole <= counts.swaps - partials


def test_policies_are_all_tested() -> None:
    assert {row[1] for row in TABLE} == set(POLICIES)
