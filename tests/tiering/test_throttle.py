# SPDX-License-Identifier: Apache-2.0
"""Bandwidth by thread, and throttled threads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from anemone.hardware.geometry import Geometry
from anemone.io.errors import InputError
from anemone.policies.throttle import BandwidthCap
from anemone.studies import noisy_neighbour
from anemone.tiering import Answer, Policy, Statistics, Tier, TierConfig, simulate
from anemone.tiering.sources.mbm import Mbm
from anemone.tiering.sources.oracle import Oracle
from anemone.trace import Trace

GEOMETRY = Geometry(device_gib=1)
MACHINE = TierConfig(
    4096, 4, Tier(0, 10.0, 64.0), Tier(1000, 100.0, 16.0), start="slow", interval_ns=1e6
)


def two(n: int = 4000, gap: float = 10_000.0) -> Trace:
    """Thread 5 has three of four accesses; all take the same time."""
    thread = np.where(np.arange(n) % 4 == 0, 2, 5)
    return Trace(
        (np.arange(n) % 100 * 4096).astype(np.uint64), np.zeros(n, bool),
        thread=thread.astype(np.uint16), gap_ns=np.where(thread == 2, 3 * gap, gap),
    )  # fmt: skip


@dataclass
class Share(Policy):
    """A policy that lets thread 5 run for a share of the time and records accesses by thread."""

    share: float = 1.0

    def __post_init__(self) -> None:
        self.seen: list[np.ndarray] = []

    def act(self, seen: Statistics) -> Answer:
        self.seen.append(seen.heat.threads)
        return Answer(quota=np.array([1.0, self.share]))


def test_mbm_tells_whose_lines_they_were() -> None:
    policy = Share()
    done = simulate(MACHINE, two(), policy, Mbm(), GEOMETRY)
    lines = np.sum(policy.seen, axis=0)
    polls = done.extra["telemetry"]["polls"]
    assert polls == len(policy.seen) == int(done.time_ns // 1e6)
    assert lines.sum() == pytest.approx(4000, abs=110) and lines[1] == pytest.approx(
        3 * lines[0], 0.1
    )
    assert done.telemetry_cpu_ns == polls * 320_000


@pytest.mark.parametrize("scale", [1, 8])
def test_a_poll_costs_the_same_on_a_smaller_machine(scale: int) -> None:
    done = simulate(replace(MACHINE, scale=scale), two(), Share(), Mbm(poll_ns=10.0), GEOMETRY)
    assert done.telemetry_cpu_ns == done.extra["telemetry"]["polls"] * 10


def test_a_share_of_the_time() -> None:
    """A thread with a quarter of its processor takes four times as long; the other does not."""
    trace = two(20_000)
    free = simulate(MACHINE, trace, Share(), Mbm(), GEOMETRY)
    held = simulate(MACHINE, trace, Share(0.25), Mbm(), GEOMETRY)
    assert held.time_ns / free.time_ns == pytest.approx(4, rel=0.08)
    assert held.accesses == free.accesses
    half = simulate(MACHINE, trace, Share(0.25), Mbm(), GEOMETRY, until_ns=free.time_ns)
    assert half.time_ns <= free.time_ns
    # The whole first period of 10 ms, then a quarter of the other fourteen.
    assert sum(half.accesses) == pytest.approx(5000 + 1000 + 14 * 250, rel=0.01)


def test_the_cap_is_kept() -> None:
    """An access every 10 us is 6.4 MB/s; a cap of 2 MB/s reduces it to about 2 MB/s."""
    policy = BandwidthCap(thread=1, cap_gb_per_s=0.002)
    config = replace(MACHINE, interval_ns=5e6)
    done = simulate(config, two(80_000), policy, Mbm(), GEOMETRY, until_ns=0.6e9)
    late = done.timeline["time_ns"] > 0.3e9
    lines = done.timeline["slow_accesses"][late].sum() - 0.3e9 / 30_000  # minus the other thread's
    assert lines * 64 / 0.3e9 == pytest.approx(0.002, rel=0.25)


def test_who_does_not_tell_is_refused() -> None:
    for source in (Oracle(), None):
        with pytest.raises(ValueError, match="mbm does"):
            simulate(MACHINE, two(), BandwidthCap(), source, GEOMETRY)


@pytest.mark.parametrize("thread", [2, -3])
def test_a_thread_that_is_not_there(thread: int) -> None:
    """It is refused before the run, which may end before the policy is called."""
    with pytest.raises(InputError, match=f"t.csv: threads: policy.thread is {thread}; .* 0 to 1"):
        simulate(MACHINE, two(4), BandwidthCap(thread=thread), Mbm(), GEOMETRY, name="t.csv")


def test_the_neighbour_is_found() -> None:
    """A notification throttles the writer earlier than a slow poll."""
    study, found = noisy_neighbour.STUDY, {}
    for how in ("victim alone", "not throttled", "NEMO, interrupts", "MBM, 100 ms"):
        point = {
            "victim": "store",
            "timing": "queue",
            "how": how,
            "k": 2048,
            "seconds": 1,
            "seed": 1,
            "engine": "model",
        }
        found[how] = study.run(point)
    late = [found[how]["latency_ns"]["p95"] for how in found]
    assert late[0] < late[2] < late[1] and late[2] < late[3]
    assert found["NEMO, interrupts"]["counted"]["notified"] >= 1
    assert found["NEMO, interrupts"]["cpu"] < found["MBM, 100 ms"]["cpu"]
