# SPDX-License-Identifier: Apache-2.0
"""Loads sampled with the core model, from a program whose loads and sources are known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from anemone.io.errors import InputError
from anemone.models.msgfree.loads import attribute, read_loads
from anemone.models.msgfree.modelled import Modelled, metrics_of
from anemone.models.msgfree.parameters import read_parameters
from anemone.models.msgfree.places import places
from anemone.models.msgfree.predict import predict
from tests.msgfree.mpi import SOURCES, each_mpi, launcher, program, settings, traced  # noqa: F401

# Receives of loads.c by the comment on their line: sources of their loads, and numbers.
BY_HAND = {
    "// far": {"MEM": 64, "L2": 64, "L3": 64},
    "// few": {"L1": 3 * 64},
    "// again": {"MEM": 64, "LFB": 64},
}


@each_mpi
def test_each_load_has_its_receive_and_its_source(mpi: str, tmp_path: Path) -> None:
    ranks = traced(mpi, 2, ["loads"], tmp_path / "run", sampler=Modelled("clx", 1))
    loads = read_loads(tmp_path / "run")
    assert loads and loads.rate == 1
    lines = SOURCES["loads"].read_text().splitlines()
    at = places(ranks[0].sites.values())
    found: dict[str, Counter[str]] = {name: Counter() for name in BY_HAND}
    latencies: dict[str, list[float]] = {}
    for site, (latency, source) in attribute(ranks[0], loads):
        line = lines[at[ranks[0].sites[site]].line - 1]
        found[next(name for name in BY_HAND if line.endswith(name))][source] += 1
        latencies.setdefault(source, []).append(latency)
    assert found == BY_HAND
    # Cascade Lake at 2.4 GHz: 5, 14 and 57 cycles, and 7 more for the second TLB with 512 pages.
    # Memory takes 86 ns after a page walk, which delays other loads.
    for source, cycles in (("L1", 5), ("L2", 14), ("L3", 57 + 7)):
        assert min(latencies[source]) == pytest.approx(cycles / 2.4, abs=0.01), source
    assert 86 < min(latencies["MEM"]) < 2 * 86
    assert not list(attribute(ranks[1], loads))
    assert {path.suffix for path in (tmp_path / "run").iterdir()} == {
        ".trace", ".names", ".csv", ".toml",
    }  # fmt: skip


@each_mpi
def test_threads_may_receive_in_turn(mpi: str, tmp_path: Path) -> None:
    traced(mpi, 1, ["hostile", "helped"], tmp_path / "run", sampler=Modelled("clx", 10))
    loads = read_loads(tmp_path / "run")
    assert loads and loads.compute_ns >= 0


@each_mpi
def test_a_period_samples_its_share_and_predict_takes_it(mpi: str, tmp_path: Path) -> None:
    """4 tiles of 32 cells have two halos each, and each halo cell is loaded once per step."""
    period, steps = 8, 40
    words = ["heat", "32", str(steps), "message"]
    ranks = traced(mpi, 4, words, tmp_path / "run", sampler=Modelled("clx", period))
    loads = read_loads(tmp_path / "run")
    assert loads and loads.rate == period
    (site,) = predict(ranks, read_parameters(), loads=loads)
    halo = 4 * 2 * 32 * steps
    assert len(site.samples) * period == pytest.approx(halo, rel=0.1)
    assert site.verdict and site.verdict.access.mpi_ns > 0
    # All data fit into the L2.
    metrics = loads.metrics
    assert 0 < metrics.l3_miss_share <= metrics.l2_load_share < 0.1
    assert metrics.l1_gb_per_s > metrics.l2_gb_per_s > 0


def test_metrics_by_hand() -> None:
    """Two ranks of 100 ns and 50 ns."""
    kinds = [("cycles", "u8"), ("ghz", "f8"), ("loads", "u8"), ("load_bytes", "u8"),
             ("l1_miss", "u8"), ("l3_miss", "u8"), ("lines_read", "u8")]  # fmt: skip
    headers = np.array([(200, 2.0, 40, 320, 10, 2, 5), (100, 2.0, 60, 480, 10, 3, 5)], kinds)
    found = metrics_of(list(headers), hosts=1)
    assert found.mem_gb_per_s == pytest.approx(5 * 64 / 100 + 5 * 64 / 50)
    assert found.l1_gb_per_s == pytest.approx((320 / 100 + 480 / 50) / 2)
    assert found.l2_gb_per_s == pytest.approx((640 / 100 + 640 / 50) / 2)
    assert (found.l3_miss_share, found.l2_load_share) == (0.05, 0.2)
    assert metrics_of(list(headers), hosts=2).mem_gb_per_s == pytest.approx(found.mem_gb_per_s / 2)


def test_the_program_is_found_among_the_launchers_words(tmp_path: Path) -> None:
    words = Modelled("clx", 1).words(
        ["mpirun", "-n", "2", "sleep", "1", ":", "-n", "1", "true"], tmp_path, "tracer.so"
    )
    assert words[0] == "mpirun"
    assert words.count("-plugin") == 2
    assert [words[i + 1] for i, w in enumerate(words) if w == "-0"] == ["sleep", "true"]
    with pytest.raises(InputError) as refused:
        Modelled("clx", 1).words(["mpirun", "-n", "2"], tmp_path, "tracer.so")
    assert refused.value.field == "program"
