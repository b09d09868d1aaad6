# SPDX-License-Identifier: Apache-2.0
"""Misses by machine, counted by NEMO's rule on flat memory's golden model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from anemone.memstrata.judges import Forest
from anemone.memstrata.loop import Judged, Reading
from anemone.memstrata.outliers import Line
from anemone.studies import flat_mixes
from anemone.studies.flat_mixes import KINDS, OUTLIER
from anemone.studies.memstrata import COMMON, run_mix
from anemone.studies.mixes import Mix, Policy
from anemone.studies.surfaces import Surface
from anemone.studies.tenants import ASKED, MAX_MACHINES, Tenants
from tests.memstrata.test_mixes import job, row


@pytest.fixture
def tenants() -> Iterator[Tenants]:
    with contextlib.closing(Tenants("model")) as running:
        yield running


def reading(requests: float, misses: float) -> Reading:
    return Reading({"l3_ns": 100.0}, requests, misses)


def test_what_misses_is_counted(tenants: Tenants) -> None:
    """Counts are exact to a part in ASKED, start again each interval, and survive other machines'
    starts and ends."""
    first = {"a": reading(1e6, 0.0), "b": reading(2e6, 1e6), "idle": reading(0.0, 0.0)}
    assert tenants.count(first) == first
    later = {"b": reading(1e6, 1e6), "c": reading(1e6, 0.3e6), "a": reading(4e6, 1e3)}
    found = tenants.count(later)
    assert list(found) == list(later)
    assert found["a"].misses == 1 / ASKED * 4e6 and found["a"].metrics == later["a"].metrics
    assert found["b"].misses == 1e6 and found["c"].misses == pytest.approx(0.3e6)
    assert tenants.count(first) == first
    with pytest.raises(ValueError, match="65 machines"):
        tenants.count(dict.fromkeys(map(str, range(MAX_MACHINES + 1)), first["a"]))


def decisions(engine: str) -> list[tuple[list[tuple], dict[str, float]]]:
    """A mix's exchanges in each interval, with the misses that decided them."""
    found = []
    with contextlib.closing(Tenants(engine)) as device:

        def by_misses(readings: Mapping[str, Reading]) -> dict[str, Judged]:
            return {
                n: Judged(r.misses > 0.2 * r.requests > 0, r.misses) for n, r in readings.items()
            }

        jobs = [job("a", 0.5), job("b", 0.2), job("c", 0.04), job("d", 0.0)]
        mix = Mix(jobs, 0.33, Policy(by_misses, device.count))
        its_round = mix.host.round

        def watched(readings: Mapping[str, Reading]) -> list:
            moved = its_round(readings)
            exchanges = [(m.donor, m.borrower, m.exchange.pages) for m in moved]
            found.append((exchanges, {n: r.misses for n, r in readings.items()}))
            return moved

        mix.host.round = watched
        mix.run(100)
    return found


def test_a_mix_is_led_by_what_is_counted() -> None:
    found = decisions("model")
    assert len(found) == 10 and any(moved for moved, _ in found)
    assert any(misses for _, misses in found)


def loads_nothing(slowdown: float) -> Surface:
    """A machine of which only stores miss near memory, so it has no L3 miss latency."""
    base = {"l3_ns": 0.0, "requests": 20.0}
    return Surface({
        (0.0, 1.0): {**row(1 + slowdown, misses=0.5 if slowdown else 0.0), **base},
        (1.0, 1.0): {**row(1.0), **base},
    })  # fmt: skip


@pytest.mark.parametrize("mix", COMMON)
def test_counters_find_in_a_common_mix_whom_no_latency_shows(
    mix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the study's run the latency's threshold finds no outlier, and the worst machine stays
    above 30 %. Counted misses find it, and it ends below 6 % (§6.1)."""
    some = {kind: [{"kernel": kind, "vm_bytes": 1 << 27, "cores": 2}] for kind in (*KINDS, OUTLIER)}
    monkeypatch.setattr(flat_mixes, "choice", lambda quick, seed: some)
    monkeypatch.setattr(
        flat_mixes, "surface",
        lambda workload, places: loads_nothing(0.5 if workload["kernel"] == OUTLIER else 0.0),
    )  # fmt: skip
    monkeypatch.setattr(
        flat_mixes, "forest",
        lambda counted, quick, seed: Forest(
            Path("m"), None if counted else Line(0.01, -1.0),
            lambda request: [[float(mpki > 1) for mpki, *_ in request["ask"][0]["rows"]]],
        ),
    )  # fmt: skip
    point = {"mix": mix, "number": 0, "share": 0.33, "ends": False, "quick": False, "seed": 1}
    found = {
        name: run_mix({**point, "policy": name, **more})
        for name, more in (
            ("no software", {}), ("Memstrata", {}), ("miss counters", {"engine": "model"}),
        )
    }  # fmt: skip
    worst = {name: max(m["slowdown"] for m in a["machines"]) for name, a in found.items()}
    assert worst["no software"] == pytest.approx(worst["Memstrata"]) and worst["Memstrata"] > 30
    assert worst["miss counters"] < 6
    guessed, counted = found["Memstrata"], found["miss counters"]
    assert guessed["intervals"] == [] and counted["intervals"] == [1.0]
    assert guessed["copied_gb"] < 0.1 < counted["copied_gb"]  # a launch also moves a few pages
    assert guessed["judged"] == counted["judged"] == 30 * 6
    assert guessed["right"] == 30 * 5 < counted["right"]
