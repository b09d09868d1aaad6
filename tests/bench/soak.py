# SPDX-License-Identifier: Apache-2.0
"""Plays new seeds on every build of every bench until it is stopped or one fails.

    python -m tests.bench.soak                       until stopped
    python -m tests.bench.soak expander 5000000      one bench, and so many events or beats
    python -m tests.bench.soak driver 200000         calls of the driver (tests/cosim/fuzz.py)
    python -m tests.bench.soak upsets 10000          flipped bits in the memories of flat
    SEED=17 CONFIG=p2c2 python -m tests.bench.soak   that one again, of the bench with that build

Exit: 0 when stopped, 1 when a seed failed; how to repeat it is the last line.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.bench.bench import Bench, Shard, merged
from tests.cosim.fuzz import main as fuzz_driver
from tests.engine.bench.coverage import required as engine_bins
from tests.engine.bench.shards import BENCH as ENGINE
from tests.expander.bench.coverage import required as expander_bins
from tests.expander.bench.shards import BENCH as EXPANDER
from tests.flat.bench.coverage import required as flat_bins
from tests.flat.bench.shards import BENCH as FLAT

SEEDS = 10  # a simulation
Counts = tuple[Counter[str], Counter[str]]


@dataclass(frozen=True)
class Soaked:
    """A bench, the bins that it should fill, and the totals that are shown; `unit` is counted."""

    bench: Bench
    required: Callable[[], set[str]]
    unit: str
    shown: tuple[str, ...]

    def play(self, build: str, first: int, count: int) -> Counts:
        """Seeds of a build: totals and coverage."""
        shard = Shard(self.bench.builds[build], first, count)
        return merged([self.bench.play(shard, self.bench.work / "soak" / build)])


BENCHES = {
    "engine": Soaked(ENGINE, engine_bins, "events", ("seeds", "events", "reads")),
    "expander": Soaked(EXPANDER, expander_bins, "beats", ("seeds", "beats", "lines")),
    "flat": Soaked(FLAT, flat_bins, "beats", ("seeds", "beats", "swap")),
}


def again(asked: str) -> None:
    """The seeds that SEED asks for, on the build CONFIG."""
    first, _, last = asked.partition("-")
    name = os.environ.get("CONFIG", "p2c2")
    bench = next(bench for bench in BENCHES.values() if name in bench.bench.builds)
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
            for build in bench.bench.builds:
                print(f"{build} seeds {first}-{first + SEEDS - 1}", flush=True)
                counts, covered = bench.play(build, first, SEEDS)
                totals[name] += counts
                cover[name] += covered
            minutes = (time.monotonic() - started) / 60
            bins = bench.required()
            shown = ", ".join(f"{totals[name][what]} {what}" for what in bench.shown)
            hit = len(bins & cover[name].keys())
            print(f"{name}: {shown}, {hit} of {len(bins)} bins in {minutes:.1f} min", flush=True)


def upsets(flips: str) -> None:
    """So many, each judged by all that comes out (tests/flat/bench/directed_upsets.py)."""
    folder = FLAT.work / "soak" / "upsets"
    FLAT.run(FLAT.builds["flat2"], "directed_upsets", folder, FLIPS=flips)
    print((folder / "simulation.log").read_text())


def main(words: list[str]) -> int:
    """Until stopped, or what the words or SEED ask for."""
    if words[:1] == ["driver"]:
        return fuzz_driver(words[1:])
    if words[:1] == ["upsets"]:
        upsets(words[1])
        return 0
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
