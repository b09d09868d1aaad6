# SPDX-License-Identifier: Apache-2.0
"""Runs a program under `perf stat`, once for each group of counters, to avoid multiplexing.

Core events are counted for the program and its threads, mesh events (P14 to P17) for the whole
machine. Since runs vary, the counts of each run are scaled to the cycles of the first.
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
_STDERR = 2  # the program's output goes here
MAX_SPREAD = 0.05  # relative difference of the runs' cycles above which there is a warning
_CLOCK = "task-clock"  # perf's event of processor time, ms


class RecordError(RuntimeError):
    """The program failed, or perf failed to run it."""


@dataclass(frozen=True)
class Recording:
    """Counters of a program, in total or by interval (t in seconds). clock_ghz: cycles over
    processor time; spread: the largest relative difference between a run's cycles and the first
    run's.
    """

    intervals: dict[float | None, dict[str, float]]
    clock_ghz: float
    spread: float

    @property
    def content(self) -> dict:
        """The content of a file of counters (counters.py)."""
        if None in self.intervals:
            return self.intervals[None]
        return {"intervals": [{"t": t, **values} for t, values in self.intervals.items()]}

    @property
    def total(self) -> dict[str, float]:
        names = next(iter(self.intervals.values()))
        return {n: sum(values[n] for values in self.intervals.values()) for n in names}


def platform_here(cpuinfo: str) -> str:
    """The platform in the text of /proc/cpuinfo. Raises InputError for an unsupported processor."""
    field = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (.*)$", cpuinfo, re.MULTILINE))
    intel = field.get("vendor_id") == "GenuineIntel" and field.get("cpu family") == "6"
    model = int(field.get("model", "0")) if intel else 0
    if model not in MODELS:
        what = " ".join(field.values()) or "unknown"
        allowed = "Skylake-SP, Sapphire or Emerald Rapids, or --platform for one like them"
        raise InputError("/proc/cpuinfo", "processor", "model", Bare(what), allowed)
    return MODELS[model]


def here() -> str:
    """The platform of this machine."""
    return platform_here(_CPUINFO.read_text())


def check_perf(platform: str) -> None:
    """Raise InputError unless perf is installed and counts every event of the platform."""
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
    """Why perf does not count an event; empty if it does."""
    words = ["perf", "stat", "-x,", *(["-a"] if event.uncore else []), "-e", event.asked]
    done = subprocess.run([*words, "--", "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip(" \\_") for line in done.stderr.splitlines() if line.strip()]
        return next((line for line in lines[1:] if line), lines[0] if lines else "refused")
    return "not supported" if "<not supported>" in done.stderr else ""


def record(program: Sequence[str], platform: str, interval: float | None) -> Recording:
    """Run `program` once for each group of events. interval: seconds; None for the whole run.

    Raises InputError if perf multiplexed or missed events, RecordError if the program failed.
    """
    runs = [_run(program, platform, group, interval) for group in GROUPS[platform]]
    return merge([counted for counted, _ in runs], next(ghz for _, ghz in runs if ghz))


def merge(runs: list[dict[float | None, dict[str, float]]], clock_ghz: float) -> Recording:
    """Merge runs that counted different events; the first run has cycles.

    Intervals are matched by their order, up to the length of the shortest run. In each interval,
    counts are scaled to the first run's cycles. Mesh events have no cycles; their counts are not
    scaled, because the model uses only ratios of them.
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
    """Counters of one run by interval, and its clock in GHz (0 for a run with mesh events)."""
    mesh = group[0].uncore
    events = group if mesh else (*ALWAYS, *group)
    asked = ",".join(event.asked for event in events)
    # Braces make perf count the core events together or not at all.
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
        output = Path(folder, "perf")
        done = subprocess.run([*words, "-o", output, "--", *program], stdout=_STDERR, check=False)
        text = output.read_text() if output.exists() else ""
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
    # perf prints the locale's decimal point, which may be a comma.
    times = re.findall(rf"(?:^|,)\s*(\d+)[.,](\d+),[^,\n]*,{_CLOCK}\b", text, re.MULTILINE)
    clock = sum(float(f"{whole}.{part}") for whole, part in times)
    if not (clock or mesh):
        raise InputError("perf", "output", _CLOCK, MISSING, "a row of each event")
    return intervals, cycles / clock / 1e6 if clock else 0.0
