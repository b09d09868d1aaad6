# SPDX-License-Identifier: Apache-2.0
"""Runs new seeds on every build of every bench until it is stopped or one fails.

    python -m tests.bench.soak                       until stopped
    python -m tests.bench.soak expander 5000000      one bench, and so many events or beats
    python -m tests.bench.soak driver 200000         calls of the driver (tests/cosim/fuzz.py)
    python -m tests.bench.soak churn 1000000         entries of a heap (tests/cosim/churn.py)
    python -m tests.bench.soak upsets 10000          flipped bits in the memories, on four builds
    python -m tests.bench.soak upsets 10000 x2       on this one
    SEED=17 CONFIG=p2c2 python -m tests.bench.soak   that one again, of the bench with that build

The benches: engine, expander, flat, and tiered, which is the last two together. Two builds run at a
time. Progress is kept in build/soak until the hardware or a test changes, so a soak that was
stopped continues.

Exit: 0 if stopped or done, 1 if a seed failed; the last line has the command that repeats it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from threading import Event, Lock

from anemone.io.build_cache import digest
from tests.bench.bench import Bench, Shard, merged
from tests.bench.build import ROOT, ask_for_long_runs
from tests.cosim.churn import main as churn_heap
from tests.cosim.fuzz import main as fuzz_driver
from tests.engine.bench.coverage import required as engine_bins
from tests.engine.bench.shards import BENCH as ENGINE
from tests.expander.bench.coverage import required as expander_bins
from tests.expander.bench.shards import BENCH as EXPANDER
from tests.flat.bench.coverage import required as flat_bins
from tests.flat.bench.shards import BENCH as FLAT

JOBS = 2
REPORTS = ROOT / "build" / "soak"
Counts = tuple[Counter[str], Counter[str]]


@dataclass(frozen=True)
class Soaked:
    """Builds of a bench, the bins that it should fill, and the totals to show; `unit`: the total
    that counts as progress. seeds: those of one simulation, so that it runs for a minute.
    """

    bench: Bench
    builds: tuple[str, ...]
    required: Callable[[], set[str]]
    unit: str
    shown: tuple[str, ...]
    seeds: int = 10

    def run(self, build: str, first: int, count: int) -> Counts:
        """Run seeds of a build. Returns totals and coverage."""
        print(f"{build} seeds {first}-{first + count - 1}", flush=True)
        folder = self.bench.work / "soak" / f"{build}-{first}"
        counts = merged(
            [self.bench.run_shard(Shard(self.bench.builds[build], first, count), folder)]
        )
        shutil.rmtree(folder)
        return counts

    @property
    def inputs(self) -> str:
        """A hash that changes with the hardware and the bench."""
        folders = (ROOT / "hw" / "src", ROOT / "tests" / "bench")
        bench = ROOT.joinpath(*self.bench.package.split("."))
        files = [path for folder in (*folders, bench) for path in folder.rglob("*.*")]
        return digest(sorted(path for path in files if path.suffix in (".scala", ".py")))


TIERED = tuple(name for name, build in EXPANDER.builds.items() if build.ratio)
PLAIN = tuple(name for name in EXPANDER.builds if name not in TIERED)
BEATS = ("seeds", "beats", "lines")
BENCHES = {
    "engine": Soaked(
        ENGINE, tuple(ENGINE.builds), engine_bins, "events", ("seeds", "events", "reads")
    ),
    "expander": Soaked(EXPANDER, PLAIN, expander_bins, "beats", BEATS),
    "tiered": Soaked(EXPANDER, TIERED, expander_bins, "beats", BEATS),
    "flat": Soaked(FLAT, tuple(FLAT.builds), flat_bins, "beats", ("seeds", "beats", "swap"), 100),
}


class Progress:
    """The progress of a bench, kept in build/soak."""

    def __init__(self, name: str) -> None:
        self.name, self.bench = name, BENCHES[name]
        self.totals: Counter[str] = Counter()
        self.cover: Counter[str] = Counter()
        self._path: Path = REPORTS / f"{name}.json"
        self._inputs = self.bench.inputs
        if self._path.exists():
            kept = json.loads(self._path.read_text())
            if kept["inputs"] == self._inputs:
                self.totals.update(kept["totals"])
                self.cover.update(kept["cover"])

    def add(self, counts: Counts) -> None:
        """Add a finished run."""
        self.totals += counts[0]
        self.cover += counts[1]
        state = {"inputs": self._inputs, "totals": self.totals, "cover": self.cover}
        REPORTS.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(state, indent=1) + "\n")
        fresh.replace(self._path)

    def __str__(self) -> str:
        bins = self.bench.required()
        hit = len(bins & self.cover.keys())
        shown = ", ".join(f"{self.totals[what]} {what}" for what in self.bench.shown)
        return f"{self.name}: {shown}, {hit} of {len(bins)} bins"


def again(asked: str) -> None:
    """Run the seeds of SEED on the build CONFIG."""
    first, _, last = asked.partition("-")
    name = os.environ.get("CONFIG", "p2c2")
    bench = next(bench for bench in BENCHES.values() if name in bench.bench.builds)
    bench.run(name, int(first), int(last or first) - int(first) + 1)


def soak(names: list[str], goal: float) -> None:
    """Run new seeds on every build of these benches, until each has done `goal` of its units."""
    progress = [Progress(name) for name in names]
    started = time.monotonic()
    turns = cycle([(one, build) for one in progress for build in one.bench.builds])
    lock, stop = Lock(), Event()

    def unfinished() -> list[Progress]:
        return [one for one in progress if one.totals[one.bench.unit] < goal]

    def work() -> None:
        while not stop.is_set():
            with lock:
                if not (left := unfinished()):
                    return
                one, build = next(turn for turn in turns if turn[0] in left)
            try:
                seeds = one.bench.seeds
                counts = one.bench.run(build, secrets.randbelow(1 << 40) * seeds, seeds)
            except BaseException:
                stop.set()
                raise
            with lock:
                one.add(counts)
                print(f"{one} in {(time.monotonic() - started) / 60:.1f} min", flush=True)

    with ThreadPoolExecutor(JOBS) as pool:
        for worker in [pool.submit(work) for _ in range(JOBS)]:
            worker.result()


UPSETS = (
    (FLAT, "flat2"),
    *((EXPANDER, name) for name in ("x2", "board", "tiered", "flatboard")),
)


def upsets(flips: str, names: list[str]) -> None:
    """Flip a number of bits on each build, or on the named ones, and check all outputs
    (directed_upsets.py of the benches, and directed_faults.py for the tables).
    """
    for bench, name in UPSETS:
        if names and name not in names:
            continue
        more = ("directed_faults", "directed_lines") if name == "x2" else ()
        for module in ("directed_upsets", *more):
            folder = bench.work / "soak" / f"{module}-{name}"
            bench.run(bench.builds[name], module, folder, FLIPS=flips)
            print((folder / "simulation.log").read_text())


def main(words: list[str]) -> int:
    """Run until stopped, or what the arguments or SEED ask for."""
    ask_for_long_runs()
    if words[:1] == ["driver"]:
        return fuzz_driver(words[1:])
    if words[:1] == ["churn"]:
        return churn_heap(words[1:])
    if words[:1] == ["upsets"]:
        upsets(words[1], words[2:])
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
