# SPDX-License-Identifier: Apache-2.0
"""The values for the template of report.html, the page of `anemone sim`."""

from __future__ import annotations

from dataclasses import dataclass, field

from anemone import __version__
from anemone.analysis.compare import Comparison, Output
from anemone.backends import NAMES
from anemone.flat.analysis import PlacedRun
from anemone.hardware.geometry import Geometry
from anemone.report import flat
from anemone.report.charts import Figure
from anemone.report.html import render
from anemone.telemetry.rules import Rule


@dataclass
class Run:
    """The results of the listings on one trace.

    outputs: by backend ("rtl", "model"). agreed: RTL against model; None if only one ran. counted:
    the first backend's output against a direct count of the trace. flat: results of flat memory
    mode. shown: the pictures. moves: when the hot set moved, in seconds or events.
    """

    name: str
    about: str
    events: int
    seconds: float | None
    pages: int
    tenants: int
    rules: list[Rule]
    outputs: dict[str, Output] = field(default_factory=dict)
    agreed: Comparison | None = None
    counted: Comparison | None = None
    polls: int = 0
    moves: list[float] = field(default_factory=list)
    flat: list[PlacedRun] = field(default_factory=list)
    shown: list[Figure] = field(default_factory=list)

    @property
    def good(self) -> bool:
        counted = all(c.equal for c in (self.agreed, self.counted) if c is not None)
        return counted and all(run.good for run in self.flat)

    @property
    def values(self) -> int:
        """Number of values compared: the larger of the two comparisons."""
        return max((c.values for c in (self.agreed, self.counted) if c is not None), default=0)

    @property
    def facts(self) -> list[str]:
        """The trace's properties, a few words each."""
        clock = [] if self.seconds is None else [f"{_duration(self.seconds)} on the trace's clock"]
        return [
            number_of(self.events, "access", "accesses"),
            *clock,
            f"{number_of(self.pages, 'huge page')} ({self.pages * 2:,} MiB) touched",
            number_of(self.tenants, "tenant"),
            number_of(self.polls, "poll"),
        ]

    @property
    def differences(self) -> list[str]:
        """Lines that describe the differences; empty if everything is equal."""
        lines = []
        for words, comparison in (
            ("RTL and model", self.agreed),
            ("output and trace", self.counted),
        ):
            if comparison is not None and not comparison.equal:
                lines.append(f"{words}: {comparison.words}")
                lines += [f"  {difference}" for difference in comparison.differences]
        flat = [f"flat memory, {p.placement}: {line}" for p in self.flat for line in p.complaints]
        return lines + flat

    @property
    def counted_rules(self) -> list[dict]:
        """The counters of each rule, as the first backend reported them."""
        return next(iter(self.outputs.values())).report["rules"]

    def speed(self, backend: str) -> float | None:
        output = self.outputs.get(backend)
        return output.report["events_per_second"] if output else None


def verdict(runs: list[Run]) -> str:
    """The overall result as one sentence."""
    bad = [run.name for run in runs if not run.good]
    traces = number_of(len(runs), "trace")
    if bad:
        return f"Not equal: {', '.join(bad)}"
    if all(run.agreed for run in runs):
        return f"RTL equals the golden model on {traces}"
    backend = next(iter(runs[0].outputs)) if runs else "model"
    name = {"rtl": "The RTL", "model": "The golden model"}[backend]
    return f"{name} equals a plain count of {traces}"


def page(runs: list[Run], geometry: Geometry) -> str:
    """The whole HTML document."""
    both = any(run.agreed for run in runs)
    backends = [e for e in NAMES if any(e in run.outputs for run in runs)]
    heads = ["trace", "accesses", "time", "huge pages", "tenants", "values compared"]
    equal = [*(["RTL = model"] if both else []), "= trace"]
    compared = any(placed.agreed is not None for run in runs for placed in run.flat)
    polls = sum(run.events // rule.read_every for run in runs for rule in run.rules)
    return render(
        "sim.html",
        verdict=verdict(runs),
        geometry=geometry,
        version=__version__,
        both=both,
        tiles=_tiles(runs),
        heads=[*heads, *equal, *(f"{NAMES[e]} events/s" for e in backends)],
        rows=[_row(run, backends) for run in runs],
        polled=polls * geometry.lines * geometry.channels,
        flat_heads=[*flat.HEADS, *(["RTL = model"] if compared else []), "= trace"],
        flat_rows=[_flat_row(run.name, placed) for run in runs for placed in run.flat],
        runs=runs,
        counters=("matched", "unmapped", "out_of_range", "notifications"),
    )


def _tiles(runs: list[Run]) -> list[dict]:
    """The numbers at the top of the page."""
    good = all(run.good for run in runs)
    unlike = sum(c.total for run in runs for c in (run.agreed, run.counted) if c is not None)
    events = sum(run.events for run in runs)
    tiles = [
        ("", f"{events:,}", "memory accesses replayed"),
        ("", f"{sum(len(run.rules) for run in runs):,}", "rules, one a pipeline"),
        ("", f"{sum(run.values for run in runs):,}", "non-zero values compared"),
        ("good" if good else "bad", f"{unlike:,}", "differences"),
    ]
    for backend, words in (("rtl", "RTL events/s"), ("model", "model events/s")):
        seconds = sum(run.events / (run.speed(backend) or 1e9) for run in runs)
        if any(run.speed(backend) for run in runs):
            tiles.append(("", short(events / seconds), words))
    return [dict(zip(("css", "value", "words"), tile, strict=True)) for tile in tiles]


def _row(run: Run, backends: list[str]) -> dict:
    """A trace's row in the table at the top."""
    return {
        "name": run.name,
        "cells": [
            f"{run.events:,}",
            "" if run.seconds is None else _duration(run.seconds),
            f"{run.pages:,}",
            f"{run.tenants:,}",
            f"{run.values:,}",
        ],
        "marks": [
            "" if c.equal else f"{c.total:,} differ"
            for c in (run.agreed, run.counted)
            if c is not None
        ],
        "last": [short(run.speed(e) or 0) for e in backends],
    }


def _flat_row(name: str, run: PlacedRun) -> dict:
    """A placement's row in the table of flat memory mode."""
    unlike = [c[0] if c else "" for c in (run.agreed, run.counted) if c is not None]
    return {"name": name, "cells": flat.cells(run), "marks": unlike, "last": []}


def number_of(number: int, what: str, many: str = "") -> str:
    """A number and its noun: "1 trace", "2 traces"; `many` is an irregular plural."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def short(rate: float) -> str:
    """A rate with three digits: 612 k, 4.31 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if rate >= size:
            return f"{rate / size:.3g}{unit}"
    return f"{rate:.0f}"


def _duration(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
