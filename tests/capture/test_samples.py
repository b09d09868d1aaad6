# SPDX-License-Identifier: Apache-2.0
"""The committed samples are well formed and have the properties that they demonstrate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from anemone.capture import store
from anemone.capture.programs import PROGRAMS
from anemone.capture.samples import SAMPLES
from anemone.hardware.geometry import Geometry
from anemone.trace import Trace, read_trace
from anemone.trace.columns import KINDS

FOLDER = Path(__file__).parents[2] / "sim" / "traces"
OURS = ("graph", "sqlite", "kvstore", "stream")
OTHERS = ("redis", "gcc")  # committed samples of PROGRAMS; `make traces` captures the others
NAMES = OURS + OTHERS
MAX_BYTES = 2_500_000
HUGE, BASE = np.uint64(21), np.uint64(12)

_read: dict[str, Trace] = {}


def sample(name: str) -> Trace:
    if name not in _read:
        _read[name] = read_trace(FOLDER / f"{name}.parquet", Geometry())
    return _read[name]


def counts_by_page(trace: Trace, rows: slice | np.ndarray) -> np.ndarray:
    """Accesses to each touched huge page in the given rows, in order of addresses."""
    pages = np.unique(trace.addr >> HUGE)
    return np.bincount(np.searchsorted(pages, trace.addr[rows] >> HUGE), minlength=len(pages))


def test_they_are_there_and_are_the_commands_own() -> None:
    assert sorted(p.stem for p in FOLDER.glob("*.parquet")) == sorted(NAMES)
    assert sorted(SAMPLES) == sorted(OURS) and set(OTHERS) <= set(PROGRAMS)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_well_formed(name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = FOLDER / f"{name}.parquet"
    assert path.stat().st_size <= MAX_BYTES
    schema = pq.read_schema(path)
    further = [
        ("thread", pa.uint16()),
        ("gap_ns", pa.float64()),
        ("dep", pa.bool_()),
        ("kind", pa.dictionary(pa.uint8(), pa.string())),
    ]
    assert [(f.name, f.type) for f in schema] == [
        ("addr", pa.uint64()),
        ("write", pa.bool_()),
        ("time_ns", pa.uint64()),
        ("tenant", pa.uint16()),
        *(further if name in OTHERS else []),
    ]
    trace = sample(name)
    assert 500_000 <= len(trace) <= 1_500_000
    assert trace.addr.max() < 16 << 30
    assert (trace.addr % np.uint64(64) == 0).all()
    assert (np.diff(trace.time_ns.astype(np.int64)) >= 0).all()
    assert trace.write.any() and not trace.write.all()


@pytest.mark.parametrize("name", OTHERS)
def test_a_program_of_debian_says_where_it_came_from(name: str) -> None:
    origin, trace = store.origin_of(FOLDER / f"{name}.parquet"), sample(name)
    program = PROGRAMS[name]
    assert (origin["sample"], origin["about"]) == (name, program.about)
    assert origin["programs"] == {name: {"tenant": program.tenant, "arguments": {}}}
    settings = origin["settings"].split()
    for setting, value in program.settings.items():
        assert f"{setting}={value}" in settings
    assert set(program.run.text().split()) <= set(settings)
    s = origin["summary"]
    assert s["events"] == len(trace) == sum(s["kinds"].values())
    assert s["writes"] == trace.write.sum() == s["kinds"]["writeback"] + s["kinds"]["nt"]
    assert s["tenants"] == {str(program.tenant): len(trace)}
    assert origin["speed"]["instructions_per_second"] > 0


@pytest.mark.parametrize("name", OTHERS)
def test_a_program_of_debian_has_what_tier_wants(name: str) -> None:
    trace = sample(name)
    assert trace.kind is not None and trace.gap_ns is not None and trace.dep is not None
    kinds = np.bincount(trace.kind, minlength=len(KINDS))
    assert (kinds[:4] > 5000).all()
    assert (trace.gap_ns >= 0).all() and trace.gap_ns.sum() > 1e6
    loads = trace.kind == KINDS.index("load")
    assert 0.05 < trace.dep[loads].mean() < 0.5
    assert not trace.dep[trace.kind >= KINDS.index("prefetch")].any()
    assert trace.thread is not None and (name != "gcc" or not trace.thread.any())


@pytest.mark.parametrize("name", OURS)
def test_a_sample_says_where_it_came_from(name: str) -> None:
    origin, trace = store.origin_of(FOLDER / f"{name}.parquet"), sample(name)
    assert origin["sample"] == name
    assert {part.program for part in SAMPLES[name].parts} == set(origin["programs"])
    for part in SAMPLES[name].parts:
        assert origin["programs"][part.program] == {
            "tenant": part.tenant,
            "arguments": part.arguments,
        }
    for setting, value in SAMPLES[name].settings.items():
        assert f"{setting}={value}" in origin["settings"].split()
    s = origin["summary"]
    assert s["events"] == len(trace) and s["writes"] == trace.write.sum()
    assert s["huge_pages"] == len(np.unique(trace.addr >> HUGE))
    assert sorted(map(int, s["tenants"])) == sorted(p.tenant for p in SAMPLES[name].parts)
    assert all(totals["untracked"] == 0 for totals in s["programs"].values())
    assert "/" not in json.dumps(origin["programs"])  # no paths of the machine that captured it


def test_the_documented_numbers_are_the_samples() -> None:
    text = (FOLDER.parents[1] / "docs" / "traces.md").read_text()
    for name in NAMES:
        s = store.origin_of(FOLDER / f"{name}.parquet")["summary"]
        rows = [line for line in text.splitlines() if line.startswith(f"| {name} | ")]
        row = next(line for line in rows if f"{s['events']:,}" in line)
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1:6] == [
            f"{s[k]:,}" for k in ("events", "reads", "prefetches", "writes", "non_temporal")
        ]
        assert cells[7] == str(s["huge_pages"])


def test_kvstore_a_fifth_is_hot_and_half_way_another_fifth() -> None:
    trace = sample("kvstore")
    half = len(trace) // 2
    counts = [counts_by_page(trace, rows) for rows in (slice(0, half), slice(half, None))]
    assert len(counts[0]) >= 64
    hot = [set(np.flatnonzero(c > 5 * np.median(c)).tolist()) for c in counts]
    for own, c in zip(hot, counts, strict=True):
        assert 0.15 < len(own) / len(c) < 0.30
        assert c[list(own)].sum() > 0.85 * c.sum()
    # The hot sets are disjoint, except for pages at the border of two sets and of the hash table.
    assert len(hot[0] & hot[1]) <= 2
    # The move is sharp: 1 % of the trace before and after it is enough to distinguish the sets.
    step = len(trace) // 100
    new = np.isin(np.arange(len(counts[0])), list(hot[1] - hot[0]))
    before = counts_by_page(trace, slice(half - 2 * step, half - step))
    after = counts_by_page(trace, slice(half + step, half + 2 * step))
    assert before[new].sum() < 0.1 * step and after[new].sum() > 0.7 * step


def test_sqlite_hot_base_pages_stand_out_in_huge_ones() -> None:
    """NEMO §5.2: in skewed huge pages, most accesses are to few of the 512 base pages."""
    trace = sample("sqlite")
    base, counts = np.unique(trace.addr >> BASE, return_counts=True)
    huge = base >> np.uint64(9)
    pages, accesses = np.unique(trace.addr >> HUGE, return_counts=True)
    assert len(pages) >= 64
    skew = np.array([counts[huge == p].max() for p in pages]) / (accesses / 512)
    assert (skew > 8).mean() > 0.6  # the hottest base page has eight times the mean
    assert np.unique(trace.addr).size < 0.6 * len(trace)  # a Zipf load accesses lines repeatedly


def test_stream_is_a_light_tenant_beside_bursts_of_half_a_second() -> None:
    """NEMO §5.3: the noisy neighbour saturates memory every other half second."""
    trace = sample("stream")
    halves = (trace.time_ns // np.uint64(500_000_000)).astype(int)
    whole = halves.max()  # the last half second is incomplete
    assert whole >= 8
    victim, noisy = (
        np.bincount(halves[trace.tenant == t], minlength=whole + 1)[:whole] for t in (0, 1)
    )
    assert (noisy[0::2] > 5 * victim[0::2]).all()
    assert (noisy[1::2] < 0.05 * victim[1::2]).all()
    assert victim.max() < 1.3 * victim.min()
    assert (
        0.9 < trace.write[trace.tenant == 1].sum() / (~trace.write[trace.tenant == 1]).sum() < 1.1
    )
    # Each huge page has one tenant, so that Listing 3 can distinguish tenants by page.
    pages = [set((trace.addr[trace.tenant == t] >> HUGE).tolist()) for t in (0, 1)]
    assert not pages[0] & pages[1]


def test_graph_searches_then_ranks() -> None:
    """A search writes parents in random order; PageRank writes scores sequentially."""
    trace = sample("graph")
    parts = np.array_split(np.arange(len(trace)), 24)
    hottest = [int(counts_by_page(trace, rows).argmax()) for rows in parts]
    assert hottest[0] != hottest[-1]
    shares = [counts_by_page(trace, rows).max() / len(rows) for rows in parts]
    assert min(shares) < 0.3 and max(shares) > 0.5


def test_two_placements_are_in_use() -> None:
    """Scattered samples use the whole device, the others adjacent pages."""
    spread = {name: int(np.ptp(np.unique(sample(name).addr >> HUGE))) for name in NAMES}
    assert spread["graph"] > 4096 and spread["sqlite"] > 4096
    assert spread["kvstore"] < 128 and spread["stream"] < 128
    assert sample("stream").addr.min() >= 8 << 30
