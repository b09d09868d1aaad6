# SPDX-License-Identifier: Apache-2.0
"""Captured programs: every kind of access is seen, and traces are reproducible."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anemone.capture import build, run
from anemone.capture.samples import Part
from anemone.capture.settings import Pages, Settings
from anemone.io.errors import InputError

SMALL = Settings(llc_kib=64, ways=8, events=20_000)
STORE = Part("kvstore", 0, {"keys": 4000})


def test_every_kind_of_access_is_seen_once_and_in_order() -> None:
    """The probe prints its accesses, and a direct-mapped cache of 16 lines shows each of them."""
    program = build.build(Path(__file__).with_name("probe.cpp"), [])
    shape = Settings(llc_kib=1, ways=1, prefetch=False, pages=Pages.base)
    got = run.run(program, Part("probe", 0), shape)
    totals = got.programs["probe"]
    accesses = [line.split() for line in totals["said"].splitlines()]
    names = [name for _, name, _ in accesses]
    kind = {name: how for _, name, how in accesses}
    assert len(accesses) > 40 and totals["untracked"] == 0

    # Most events are in the page of the probe's lines; the others are its stack.
    pages = got.addr >> np.uint64(12)
    values, counts = np.unique(pages, return_counts=True)
    mine = pages == values[np.argmax(counts)]
    line = ((got.addr[mine] & np.uint64(0xFFF)) >> np.uint64(6)).astype(int)
    write, streamed = got.write[mine], got.non_temporal[mine]
    assert len(names) < 64

    first = list(dict.fromkeys(line[~write].tolist()))
    first = [names[i] for i in first if i < len(names)]
    expected = [name for name in names if kind[name] != "n"]
    assert sorted(first) == sorted(expected)
    # `a = b` may access either first, so the order of such pairs is not compared.
    pairs = ("unaligned", "range")
    first, expected = ([n for n in x if not any(p in n for p in pairs)] for x in (first, expected))
    assert first == expected
    assert {names[i] for i in line[write & ~streamed]} == {n for n in names if kind[n] == "w"}
    assert [names[i] for i in line[streamed]] == ["stream"]


@pytest.mark.parametrize("how", ["again", "fixed-addresses", "long-environment"])
def test_a_trace_does_not_depend_on_where_the_system_puts_things(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = build.build_program("kvstore")
    want = run.run(program, STORE, SMALL)
    if how == "fixed-addresses":
        setarch = shutil.which("setarch")
        if setarch is None or subprocess.run([setarch, "-R", "true"], check=False).returncode:
            pytest.skip("address randomisation cannot be turned off here")
        real = subprocess.Popen

        def popen(command, *, executable, **others):
            return real([setarch, "-R", str(executable), *command[1:]], **others)

        monkeypatch.setattr(subprocess, "Popen", popen)
    elif how == "long-environment":  # moves the system's stack and the program
        other = tmp_path / ("long-name-" * 20) / "kvstore"
        other.parent.mkdir()
        shutil.copy(program, other)
        program = other
        monkeypatch.setenv("SOMETHING", "x" * 5000)
    got = run.run(program, STORE, SMALL)
    for name in run.COLUMNS:
        assert np.array_equal(getattr(want, name), getattr(got, name)), name
    assert len(got) == SMALL.events
    assert got.programs["kvstore"]["untracked"] == 0


def test_the_seed_changes_what_is_asked_for() -> None:
    program = build.build_program("kvstore")
    a, b = (run.run(program, STORE, replace(SMALL, seed=seed)) for seed in (1, 2))
    assert not np.array_equal(a.addr, b.addr)


def test_the_prefetcher_moves_a_values_lines_ahead_of_the_program() -> None:
    """NEMO §5.1: the prefetcher fetches values of many lines, which a core's samples do not see."""
    program = build.build_program("kvstore")
    on = run.run(program, STORE, SMALL)
    off = run.run(program, STORE, replace(SMALL, prefetch=False))
    assert off.prefetch.sum() == 0
    assert on.prefetch.sum() > 0.5 * (~on.write).sum()
    # The total is unchanged, because each prefetch replaces a fetch.
    per_request = [
        c.programs["kvstore"]["loads"] / c.programs["kvstore"]["fills"] for c in (on, off)
    ]
    assert per_request[0] > 2 * per_request[1]


def test_a_larger_cache_lets_less_through() -> None:
    program = build.build_program("kvstore")
    rates = []
    for kib in (64, 1024, 8192):
        totals = run.run(program, STORE, replace(SMALL, llc_kib=kib)).programs["kvstore"]
        rates.append(totals["fills"] / max(totals["loads"], 1))
    assert rates[0] > rates[1] > rates[2]


def test_streaming_kernels_write_a_line_for_each_line_of_stores() -> None:
    program = build.build_program("stream")
    part = Part("stream", 1, {"mib": 1, "on_ms": 5, "off_ms": 5})
    got = run.run(program, part, replace(SMALL, slow_down=100, events=100_000))
    totals = got.programs["stream"]
    assert totals["streamed_partial"] <= 20 and totals["writebacks"] == 0
    # Copy and scale read one line for each line written, add and triad read two.
    assert 1.0 < (~got.write).sum() / got.non_temporal.sum() < 2.0
    assert np.array_equal(got.write, got.non_temporal)
    # Bursts: nearly all lines are in the first half of each 10 ms.
    half = got.time_ns // np.uint64(5_000_000) % np.uint64(2)
    assert (half == 1).mean() < 0.1 and len(np.unique(got.time_ns // np.uint64(10_000_000))) > 3


def test_merged_tenants_share_no_page_and_keep_their_order() -> None:
    parts = [STORE, Part("stream", 1, {"mib": 1, "on_ms": 1, "off_ms": 1})]
    captures = []
    for number, part in enumerate(parts):
        shape = replace(SMALL, slow_down=10, tenants=2, tenant=number)
        captures.append(run.run(build.build_program(part.program), part, shape))
    both = run.merge(captures, 15_000)
    assert len(both) <= 15_000 and (np.diff(both.time_ns.astype(np.int64)) >= 0).all()
    for number, own in enumerate(captures):
        mine = both.tenant == number
        assert mine.any()
        assert np.array_equal(both.addr[mine], own.addr[: mine.sum()])
    pages = [set((c.addr >> np.uint64(21)).tolist()) for c in captures]
    assert not pages[0] & pages[1]


def test_a_program_that_fails_is_one_line() -> None:
    program = build.build_program("kvstore")
    tight = replace(SMALL, device_gib=1, tenants=64, tenant=63)  # 8 pages of 2 MiB
    with pytest.raises(InputError) as e:
        run.run(program, Part("kvstore", 0, {"keys": 50_000}), tight)
    assert "the device is full" in str(e.value) and "\n" not in str(e.value)
