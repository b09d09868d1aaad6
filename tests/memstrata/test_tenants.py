# SPDX-License-Identifier: Apache-2.0
"""Misses by machine as NEMO's rule counts them on flat memory's golden model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

import pytest

from anemone.memstrata.loop import Judged, Reading
from anemone.studies.mixes import Mix, Policy
from anemone.studies.tenants import ASKED, MOST, Tenants
from tests.memstrata.test_mixes import job


@pytest.fixture
def tenants() -> Iterator[Tenants]:
    with contextlib.closing(Tenants("model")) as running:
        yield running


def reading(requests: float, misses: float) -> Reading:
    return Reading({"l3_ns": 100.0}, requests, misses)


def test_what_misses_is_counted(tenants: Tenants) -> None:
    """To a part in ASKED, in every interval anew, whoever came and went meanwhile."""
    first = {"a": reading(1e6, 0.0), "b": reading(2e6, 1e6), "idle": reading(0.0, 0.0)}
    assert tenants.count(first) == first
    later = {"b": reading(1e6, 1e6), "c": reading(1e6, 0.3e6), "a": reading(4e6, 1e3)}
    found = tenants.count(later)
    assert list(found) == list(later)
    assert found["a"].misses == 1 / ASKED * 4e6 and found["a"].metrics == later["a"].metrics
    assert found["b"].misses == 1e6 and found["c"].misses == pytest.approx(0.3e6)
    assert tenants.count(first) == first
    with pytest.raises(ValueError, match="65 machines"):
        tenants.count(dict.fromkeys(map(str, range(MOST + 1)), first["a"]))


def decisions(engine: str) -> list[tuple[list[tuple], dict[str, float]]]:
    """Of a mix by what is counted: exchanges of each interval, and misses."""
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
