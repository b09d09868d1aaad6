# SPDX-License-Identifier: Apache-2.0
"""Plays new seeds on every build of every bench until it is stopped or one fails.

    python -m tests.cocotb.soak                       until stopped
    python -m tests.cocotb.soak expander 5000000      one bench, and so many events or beats
    SEED=17 CONFIG=p2c2 python -m tests.cocotb.soak   that one again, of the bench with that build

Exit: 0 when stopped, 1 when a seed failed; how to repeat it is the last line.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections import Counter

from tests.cocotb.bench import coverage as engine_coverage
from tests.cocotb.bench import shards as engine
from tests.cocotb.bench.build import WORK as ENGINE_WORK
from tests.cocotb.bench.simulate import campaign
from tests.cocotb.bench.sizes import SIZES
from tests.expander.bench import coverage as expander_coverage
from tests.expander.bench import shards as expander
from tests.expander.bench.build import WORK as EXPANDER_WORK
from tests.expander.bench.sizes import BUILDS
from tests.flat import test_rtl_campaign as flat_campaign
from tests.flat.bench import shards as flat
from tests.flat.bench.build import BUILDS as FLAT_BUILDS
from tests.flat.bench.build import WORK as FLAT_WORK

SEEDS = 10  # a simulation
Counts = tuple[Counter[str], Counter[str]]


class Engine:
    """The telemetry engine at its own ports; counted in events."""

    unit, builds = "events", SIZES
    shown = ("seeds", "events", "reads")
    required = staticmethod(engine_coverage.required)

    @staticmethod
    def play(name: str, first: int, count: int) -> Counts:
        """Seeds of a build: totals and coverage."""
        folder = ENGINE_WORK / "soak" / name
        return engine.merged([campaign(SIZES[name], first, count, folder)])


class Expander:
    """The whole expander; counted in beats of its memory ports."""

    unit, builds = "beats", BUILDS
    shown = ("seeds", "beats", "lines")
    required = staticmethod(expander_coverage.required)

    @staticmethod
    def play(name: str, first: int, count: int) -> Counts:
        """Seeds of a build: totals and coverage."""
        shard = expander.Shard(BUILDS[name], first, count)
        return expander.merged([expander.play(shard, EXPANDER_WORK / "soak" / name)])


class Flat:
    """The swap controller of flat memory mode; counted in accesses."""

    unit, builds = "beats", FLAT_BUILDS
    shown = ("seeds", "beats", "swap")
    required = staticmethod(flat_campaign.required)

    @staticmethod
    def play(name: str, first: int, count: int) -> Counts:
        """Seeds of a build: totals and coverage."""
        shard = flat.Shard(FLAT_BUILDS[name], first, count)
        return expander.merged([flat.play(shard, FLAT_WORK / "soak" / name)])


BENCHES = {"engine": Engine, "expander": Expander, "flat": Flat}


def again(asked: str) -> None:
    """The seeds that SEED asks for, on the build CONFIG."""
    first, _, last = asked.partition("-")
    name = os.environ.get("CONFIG", "p2c2")
    bench = next(bench for bench in BENCHES.values() if name in bench.builds)
    print(f"{name} seeds {asked}", flush=True)
    bench.play(name, int(first), int(last or first) - int(first) + 1)


def soak(benches: list[str], goal: float) -> None:
    """New seeds on every build of these benches, until each has played `goal` of its units."""
    totals = {name: Counter[str]() for name in benches}
    cover = {name: Counter[str]() for name in benches}
    started = time.monotonic()
    while unfinished := [n for n in benches if totals[n][BENCHES[n].unit] < goal]:
        for name in unfinished:
            bench = BENCHES[name]
            first = secrets.randbelow(1 << 40) * SEEDS
            for build in bench.builds:
                print(f"{build} seeds {first}-{first + SEEDS - 1}", flush=True)
                counts, covered = bench.play(build, first, SEEDS)
                totals[name] += counts
                cover[name] += covered
            minutes = (time.monotonic() - started) / 60
            bins = bench.required()
            shown = ", ".join(f"{totals[name][what]} {what}" for what in bench.shown)
            hit = len(bins & cover[name].keys())
            print(f"{name}: {shown}, {hit} of {len(bins)} bins in {minutes:.1f} min", flush=True)


def main(words: list[str]) -> int:
    """Until stopped, or what the words or SEED ask for."""
    benches = [word for word in words if word in BENCHES] or list(BENCHES)
    goal = next((int(word) for word in words if word.isdecimal()), float("inf"))
    try:
        if asked := os.environ.get("SEED"):
            again(asked)
        else:
            soak(benches, goal)
    except KeyboardInterrupt:
        print("\nstopped; every seed passed")
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
