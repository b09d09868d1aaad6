# SPDX-License-Identifier: Apache-2.0
"""An uninstrumented program in QEMU: every trace column compared with the program's behaviour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anemone.capture.program import Outcome, RunSettings
from anemone.trace.columns import KINDS
from tests.capture.guests import SMALL, request, run_guest

LINES, STEPS = 8192, 4096  # as in guest.c


@pytest.fixture(scope="module")
def each_line() -> Outcome:
    return run_guest("lines")


@pytest.fixture(scope="module")
def flow() -> Outcome:
    return run_guest("flow")


def test_each_line_that_is_read_is_one_load(each_line: Outcome) -> None:
    reads = request(each_line, 1).largest_page()
    assert len(reads.of("load")) == reads.of("load").distinct() == LINES
    assert not len(reads.of("rfo")) and not len(reads.of("nt")) and not len(reads.of("prefetch"))


def test_each_line_that_is_written_is_fetched_for_it_and_written_back(each_line: Outcome) -> None:
    writes = request(each_line, 2).largest_page()
    assert len(writes.of("rfo")) == writes.of("rfo").distinct() == LINES
    assert not len(writes.of("load"))
    assert LINES - 64 * 1024 // 64 <= len(writes.of("writeback")) <= LINES


def test_stores_past_the_cache_leave_as_whole_lines(each_line: Outcome) -> None:
    stores = request(each_line, 3).largest_page()
    assert len(stores.of("nt")) == stores.of("nt").distinct() == LINES
    assert not len(stores.of("rfo")) and not len(stores.of("load"))
    assert each_line.totals["streamed_partial"] == 0


def test_writes_are_writes_and_time_never_falls(each_line: Outcome) -> None:
    capture = each_line.capture
    written = np.isin(capture.more["kind"], [KINDS.index("writeback"), KINDS.index("nt")])
    assert np.array_equal(capture.write, written)
    assert (np.diff(capture.time_ns.astype(np.int64)) >= 0).all()
    assert (capture.more["gap_ns"] >= 0).all() and not capture.more["thread"].any()
    assert (capture.addr % 64 == 0).all() and each_line.status == 0


def test_what_is_not_a_request_has_op_0_and_without_marks_there_is_no_column() -> None:
    unmarked = run_guest("fail")
    assert "op" not in unmarked.capture.more and unmarked.status == 7


def test_the_prefetcher_is_told_from_the_program() -> None:
    reads = request(run_guest("lines", replace(SMALL, prefetch=True)), 1)
    both = len(reads.of("load")) + len(reads.of("prefetch"))
    assert both == LINES and len(reads.of("prefetch")) > LINES * 0.9
    assert not reads.of("prefetch").rows["dep"].any()


@pytest.mark.parametrize("op", [4, 5, 10])
def test_a_chased_pointer_depends(flow: Outcome, op: int) -> None:
    """Request 5 stores the pointer on the stack in between. In request 10 another word of the node
    misses, and the pointer is in the same line.
    """
    loads = request(flow, op).of("load")
    assert len(loads) > STEPS * 0.8 and loads.rows["dep"].mean() > 0.99


def test_of_two_chains_by_turns_one_waits_for_both(flow: Outcome) -> None:
    """The first load of a pair waits for the pair before; after that the second need not wait."""
    loads = request(flow, 13).of("load")
    assert len(loads) > STEPS * 0.8 and 0.45 < loads.rows["dep"].mean() < 0.6


def test_an_address_from_arithmetic_does_not(flow: Outcome) -> None:
    loads = request(flow, 6).of("load")
    assert len(loads) > STEPS * 0.8 and not loads.rows["dep"].any()


def test_an_index_counts_where_its_own_load_reached_memory(flow: Outcome) -> None:
    """A line has sixteen indexes: the first comes from memory, the others from the cache."""
    loads = request(flow, 7).of("load")
    fetched = STEPS * 4 // 64  # lines of indexes
    assert len(loads) > STEPS * 0.8
    assert fetched * 0.8 <= loads.rows["dep"].sum() <= fetched


def test_the_gap_is_the_instructions_between() -> None:
    outcome = run_guest("gap")
    gaps = request(outcome, 8).of("load").rows["gap_ns"]
    assert len(gaps) == STEPS
    # 1000 nops, the load, and a few instructions of the loop, 0.25 ns each.
    assert 250 < np.median(gaps) < 252
    faster = run_guest("gap", run_settings=RunSettings(instruction_ps=100))
    assert 100 < np.median(request(faster, 8).of("load").rows["gap_ns"]) < 101


def test_threads_have_numbers_of_their_own_and_all_their_lines() -> None:
    outcome = run_guest("threads")
    own = [request(outcome, op).of("load") for op in (11, 12)]
    for loads in own:
        assert loads.distinct() >= LINES and loads.distinct("thread") == 1
    assert own[0].rows["thread"][0] != own[1].rows["thread"][0]
    assert 0 not in (own[0].rows["thread"][0], own[1].rows["thread"][0])
    assert outcome.totals["threads"] == 3


def test_the_same_program_gives_the_same_rows(each_line: Outcome) -> None:
    again = run_guest("lines").capture
    for name, column in {**each_line.capture.more, "addr": each_line.capture.addr}.items():
        other = again.addr if name == "addr" else again.more[name]
        assert np.array_equal(column, other), name


def test_what_is_skipped_and_warmed_is_not_recorded(each_line: Outcome) -> None:
    whole = each_line.totals["instructions"]
    run_settings = RunSettings(skip=whole // 4, warm=whole // 4)
    later = run_guest("lines", run_settings=run_settings)
    assert later.totals["instructions"] == whole
    rest = later.totals["recorded_instructions"]
    assert whole / 2 - 8192 <= rest <= whole / 2  # in steps of 4096
    assert len(later.capture) < len(each_line.capture)
    # The end is equal, because the cache was warm and pages have the same frames.
    n = len(later.capture) // 2
    assert np.array_equal(later.capture.addr[-n:], each_line.capture.addr[-n:])


def test_a_program_without_end_is_ended_when_enough_is_recorded() -> None:
    outcome = run_guest("spin", replace(SMALL, events=30_000))
    assert len(outcome.capture) == 30_000 and outcome.status is None


def test_a_crash_keeps_the_trace() -> None:
    outcome = run_guest("crash")
    assert outcome.status is not None and outcome.status < 0 and len(outcome.capture) > 100


def test_a_child_is_counted_and_not_traced() -> None:
    outcome = run_guest("fork")
    assert outcome.totals["children"] == 1 and outcome.status == 0
    assert "op" not in outcome.capture.more  # only the child writes this column


def test_instructions_come_one_by_one_with_registers_and_memory() -> None:
    outcome = run_guest("sums", run_settings=RunSettings(instructions=1_000_000))
    assert outcome.instructions is not None
    rows, operations = outcome.instructions
    # A repeated instruction has a row for each step but counts as one instruction.
    assert 1 <= len(rows) / outcome.totals["recorded_instructions"] < 1.01
    assert (rows["first"] + rows["n"] <= len(operations)).all()
    rax, rcx, rdi, xmm3, flags = 1 << 0, 1 << 1, 1 << 7, 1 << 19, 1 << 32
    expected = [  # bytes, address registers, reads, writes, loads, stores; guest.c's sums()
        (3, rdi, 0, rax, [8], []),
        (4, rdi, rax, flags, [8], [8]),
        (3, rdi, 0, xmm3, [8, 8], []),
        (5, 0, rdi | rax, rcx, [], []),
        (2, 0, 0, rax | flags, [], []),
    ]
    sizes = bytes(rows["bytes"])
    at = sizes.index(bytes([7, *(size for size, *_ in expected), 7]))
    for row, (size, address, reads, writes, loads, stores) in zip(
        rows[at + 1 :], expected, strict=False
    ):
        assert (row["bytes"], row["address_registers"]) == (size, address)
        assert (row["reads"], row["writes"], row["branch"]) == (reads, writes, 0)
        own = operations[row["first"] : row["first"] + row["n"]]
        assert own["bytes"][own["store"] == 0].tolist() == loads
        assert own["bytes"][own["store"] == 1].tolist() == stores
    assert rows["branch"].any()


def test_instructions_stop_at_their_limit() -> None:
    outcome = run_guest("fail", run_settings=RunSettings(instructions=1000))
    assert outcome.instructions is not None and len(outcome.instructions[0]) == 1000
