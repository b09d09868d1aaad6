# SPDX-License-Identifier: Apache-2.0
"""Runs a program under `perf stat`, once a group of counters, so that nothing is multiplexed.

Core events are counted in the program and its threads, those of the mesh (P14 to P17) in the whole
machine meanwhile. Runs differ a little: the counts of each are scaled to the cycles of the first.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anemone.io.errors import MISSING, Bare, InputError
from anemone.models.camp import perf
from anemone.models.camp.events import ALWAYS, GROUPS, MODELS, Event

_CPUINFO = Path("/proc/cpuinfo")
_STDERR = 2  # where what the program prints goes
MOST_SPREAD = 0.05  # of cycles from run to run, before a warning
_CLOCK = "task-clock"  # of perf, ms of processor time


class RecordError(RuntimeError):
    """The program, or perf on it, failed."""


@dataclass(frozen=True)
class Recording:
    """Counters of a program, whole or by interval (t in seconds). clock_ghz: cycles over processor
    time; spread: the largest difference of a run's cycles from the first's, a fraction."""

    intervals: dict[float | None, dict[str, float]]
    clock_ghz: float
    spread: float

    @property
    def content(self) -> dict:
        """As a file of counters has it (counters.py)."""
        if None in self.intervals:
            return self.intervals[None]
        return {"intervals": [{"t": t, **values} for t, values in self.intervals.items()]}

    @property
    def total(self) -> dict[str, float]:
        names = next(iter(self.intervals.values()))
        return {n: sum(values[n] for values in self.intervals.values()) for n in names}


def platform_here(cpuinfo: str) -> str:
    """The platform of the processor in a text as /proc/cpuinfo. Raises InputError if it is none."""
    field = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (.*)$", cpuinfo, re.MULTILINE))
    intel = field.get("vendor_id") == "GenuineIntel" and field.get("cpu family") == "6"
    model = int(field.get("model", "0")) if intel else 0
    if model not in MODELS:
        what = " ".join(field.values()) or "unknown"
        allowed = "Skylake-SP, Sapphire or Emerald Rapids, or --platform for one like them"
        raise InputError("/proc/cpuinfo", "processor", "model", Bare(what), allowed)
    return MODELS[model]


def here() -> str:
    """`platform_here` of this machine."""
    return platform_here(_CPUINFO.read_text())


def check_perf(platform: str) -> None:
    """Raise InputError unless perf is here and counts every event of the platform."""
    if shutil.which("perf") is None:
        raise InputError("record", "commands", "perf", MISSING, "perf (apt-get install linux-perf)")
    missing: dict[str, list[Event]] = {}
    for event in _events(platform):
        why = _refusal(event)
        if why:
            missing.setdefault(why, []).append(event)
    if missing:
        (what, why), *others = ((_named(events), why) for why, events in missing.items())
        why = "; ".join([why, *(f"{some} is {reason}" for some, reason in others)])
        allowed = "a machine, not a virtual one, with these counters; for the mesh also root, or "
        allowed += "kernel.perf_event_paranoid 0"
        raise InputError("perf stat", f"counters of {platform}", what, Bare(why), allowed)


def _named(events: list[Event]) -> str:
    few = len(events) <= 3
    return ", ".join(f"{e.counter} ({e.name})" if few else e.counter for e in events)


def _events(platform: str) -> Iterable[Event]:
    yield from ALWAYS
    for group in GROUPS[platform]:
        yield from group


def _refusal(event: Event) -> str:
    """Why perf does not count an event; nothing if it does."""
    words = ["perf", "stat", "-x,", *(["-a"] if event.uncore else []), "-e", event.asked]
    done = subprocess.run([*words, "--", "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip(" \\_") for line in done.stderr.splitlines() if line.strip()]
        return next((line for line in lines[1:] if line), lines[0] if lines else "refused")
    return "not supported" if "<not supported>" in done.stderr else ""


def record(program: Sequence[str], platform: str, interval: float | None) -> Recording:
    """Run `program` for each group of the platform's events. interval: seconds, or the whole run.

    Raises InputError if perf counted less than everything, RecordError if the program failed.
    """
    runs = [_run(program, platform, group, interval) for group in GROUPS[platform]]
    return merge([counted for counted, _ in runs], next(ghz for _, ghz in runs if ghz))


def merge(runs: list[dict[float | None, dict[str, float]]], clock_ghz: float) -> Recording:
    """One recording of runs that counted different events, the first of them cycles.

    Intervals are put together by their order, as many as the shortest run has; in each, counts are
    scaled by cycles to the first run's. Those of the mesh, which come without cycles, are used as
    ratios and stay as they are.
    """
    first = runs[0]
    done = []
    for number, (t, values) in enumerate(list(first.items())[: min(map(len, runs))]):
        together = dict(values)
        for other in runs[1:]:
            counted = list(other.values())[number]
            scale = together["c"] / counted["c"] if counted.get("c") else 1.0
            for name, value in counted.items():
                together.setdefault(name, value * scale)
        done.append((t, together))
    cycles = [sum(v["c"] for v in run.values()) for run in runs if "c" in next(iter(run.values()))]
    spread = max(abs(c / cycles[0] - 1) for c in cycles)
    return Recording(dict(done), clock_ghz, spread)


def _run(
    program: Sequence[str], platform: str, group: tuple[Event, ...], interval: float | None
) -> tuple[dict[float | None, dict[str, float]], float]:
    """Counters of one run by interval, and its clock in GHz (0 of a run that counts the mesh)."""
    mesh = group[0].uncore
    events = group if mesh else (*ALWAYS, *group)
    asked = ",".join(event.asked for event in events)
    # In braces the events of a core are counted together, or not at all.
    words = [
        "perf",
        "stat",
        "-x,",
        *(["-a"] if mesh else []),
        "-e",
        asked if mesh else f"{{{asked}}}",
    ]
    words += [] if mesh else ["-e", _CLOCK]
    words += [] if interval is None else ["-I", str(round(interval * 1000))]
    with tempfile.TemporaryDirectory(prefix="anemone-camp-") as folder:
        said = Path(folder, "perf")
        done = subprocess.run([*words, "-o", said, "--", *program], stdout=_STDERR, check=False)
        text = said.read_text() if said.exists() else ""
    if done.returncode:
        raise RecordError(f"{program[0]}: under perf it ended with status {done.returncode}")
    found = list(perf.rows(text, platform, "perf"))
    shared = [row for row in found if row.share < perf.ALL]
    if shared:
        value = Bare(f"counted {shared[0].share:g} % of the time")
        allowed = "counted all the time: stop other uses of the counters (the NMI watchdog is one)"
        raise InputError("perf", f"line {shared[0].line}", shared[0].event.name, value, allowed)
    intervals = perf.by_interval(found, "perf")
    for values in intervals.values():
        for event in events:
            if event.counter not in values:
                raise InputError("perf", "output", event.name, MISSING, "a row of each event")
    cycles = sum(values.get("c", 0.0) for values in intervals.values())
    # Its point is the locale's, which may be a comma.
    times = re.findall(rf"(?:^|,)\s*(\d+)[.,](\d+),[^,\n]*,{_CLOCK}\b", text, re.MULTILINE)
    clock = sum(float(f"{whole}.{part}") for whole, part in times)
    if not (clock or mesh):
        raise InputError("perf", "output", _CLOCK, MISSING, "a row of each event")
    return intervals, cycles / clock / 1e6 if clock else 0.0
