# SPDX-License-Identifier: Apache-2.0
"""Runs the microbenchmarks for `fit` on this machine's NUMA nodes or on the core model."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anemone.capture.build import ROOT, compile_program
from anemone.io.errors import MISSING, InputError
from anemone.io.tables import Table
from anemone.models.camp.counters import NEEDED, check
from anemone.models.camp.fit import Fit, Point

SECONDS = 2.0
_OPERATIONS, _WARM = 200_000, 40_000
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_NODES = Path("/sys/devices/system/node")
# (name, kind, parameter). The parameter is the number of chains for chase, the stride in bytes for
# stride, and the work per word for read and memset. Together they vary L / MLP and the parts of the
# prefetchers and the store buffer.
BENCHMARKS = tuple(
    (f"{kind}-{n}", kind, n)
    for kind, parameters in (
        ("chase", (1, 2, 4, 8)),
        ("read", (0, 4, 16)),
        ("stride", (64, 128, 256, 512)),
        ("memset", (0, 2, 8)),
    )
    for n in parameters
)
_FIELDS = ("name", "dram", "cxl")


def on_machine(platform: str, dram: int, cxl: int, step: Callable[[int, int], None]) -> list[Point]:
    """Count each microbenchmark on both nodes with perf. Raises InputError and RecordError."""
    from anemone.models.camp.record import check_perf, record

    for node in (dram, cxl):
        if not (_NODES / f"node{node}").exists():
            allowed = "a NUMA node of this machine with memory"
            raise InputError("command line", "calibrate", "node", node, allowed)
    check_perf(platform)
    program = microbench()
    size = str(4 * last_cache())
    points = []
    with _on_cpus_of(dram):
        for done, (name, kind, parameter) in enumerate(BENCHMARKS):
            step(done, len(BENCHMARKS))
            runs = []
            for node in (dram, cxl):
                words = [str(program), kind, size, str(parameter)]
                both = [
                    record([*words, str(seconds), str(node)], platform, None).total
                    for seconds in (SECONDS, 0.0)
                ]
                runs.append(without(*both))
            points.append(Point(name, runs[0], scaled(*runs)))
    return points


@contextmanager
def _on_cpus_of(node: int) -> Iterator[None]:
    """Restrict programs that are started inside to a node's processors, because other sockets have
    another distance to the memory. Raises InputError if the node has no processors.
    """
    cpus: set[int] = set()
    for part in (_NODES / f"node{node}" / "cpulist").read_text().strip().split(","):
        if part:
            first, _, last = part.partition("-")
            cpus |= set(range(int(first), int(last or first) + 1))
    before = os.sched_getaffinity(0)
    if not cpus & before:
        allowed = "a node with processors that may be used here"
        raise InputError("command line", "calibrate", "node", node, allowed)
    os.sched_setaffinity(0, cpus & before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def without(whole: Mapping[str, float], setup: Mapping[str, float]) -> dict[str, float]:
    """Counters of a run minus those of a run that only sets up, clamped to values that the model
    accepts: since runs vary, a small difference may be below 0 or out of order.
    """
    left = {name: max(value - setup[name], 0.0) for name, value in whole.items()}
    for less, more in (("P3", "P2"), ("P2", "P1"), ("P8", "P7")):
        if less in left and more in left:
            left[more] = max(left[more], left[less])
    return dividing(left)


def microbench() -> Path:
    """The microbenchmark program, compiled if necessary."""
    source, header = (ROOT / "sim" / name for name in ("camp/microbench.c", "common/circle.h"))
    return compile_program(ROOT / "build" / "camp" / "microbench", source, header)


def scaled(dram: Mapping[str, float], cxl: Mapping[str, float]) -> dict[str, float]:
    """The CXL run's counters scaled to the work (the instructions) of the DRAM run."""
    ratio = dram["instructions"] / cxl["instructions"]
    return {name: value * ratio for name, value in cxl.items()}


def last_cache(folder: Path = _CACHES) -> int:
    """Size in bytes of the largest cache of a core. Raises InputError."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    found = [re.fullmatch(r"(\d+)([KMG])", f.read_text().strip()) for f in folder.glob("*/size")]
    sizes = [int(m[1]) * units[m[2]] for m in found if m]
    if not sizes:
        raise InputError(
            folder, "caches", "size", MISSING, "sizes of the caches, as Linux reports them"
        )
    return max(sizes)


def on_model(
    platform: str, cxl: str, step: Callable[[int, int], None], page_bits: int = 12
) -> list[Point]:
    """Run each microbenchmark on the platform's core model, with a memory of machines.toml."""
    from anemone.models.core import Kernel, Memory, machine, simulate, tier

    on = machine(platform).with_(page_bits=page_bits)
    kernels = {
        "chase": ("chase", "chains", {"work": 0}),
        "read": ("stream", "work", {}),
        "stride": ("stride", "step", {}),
        "memset": ("memset", "work", {}),
    }
    points = []
    for done, (name, kind, parameter) in enumerate(BENCHMARKS):
        step(done, len(BENCHMARKS))
        of, setting, more = kernels[kind]
        program = Kernel(of, {"bytes": 1 << 30, setting: parameter, **more})
        runs = [
            simulate(on, Memory(tier(platform), tier(cxl), share), [program], _OPERATIONS, _WARM)
            for share in (1.0, 0.0)
        ]
        points.append(Point(name, *(dividing(run.counters) for run in runs)))
    return points


def dividing(counters: Mapping[str, float]) -> dict[str, float]:
    """The counters with P13 and P15 at least 1, because the model divides by them. On a real
    machine every run has a demand read and a lookup.
    """
    divide = {name: max(counters[name], 1.0) for name in ("P13", "P15") if name in counters}
    return {**counters, **divide}


def content_of(points: list[Point], platform: str) -> dict:
    """The content of points.json."""
    kept = {*NEEDED[platform], "P1", "P11"}

    def counters(of: Mapping[str, float]) -> dict[str, float]:
        return {name: of[name] for name in of if name in kept}

    rows = [{"name": p.name, "dram": counters(p.dram), "cxl": counters(p.cxl)} for p in points]
    return {"platform": platform, "points": rows}


def points_of(content: dict[str, Any], platform: str, file: object) -> list[Point]:
    """The points in the content of points.json. Raises InputError."""
    table = Table(file, "points", content)
    table.only("points", optional=("platform",))
    listed = content["points"]
    if not isinstance(listed, list) or not listed:
        raise table.wrong("points", "a list of at least one { name, dram, cxl }")
    points = []
    for number, each in enumerate(listed, 1):
        if not isinstance(each, dict):
            raise InputError(file, f"point {number}", "point", each, "{ name, dram, cxl }")
        row = Table(file, f"point {number}", each)
        row.only(*_FIELDS)
        ends = []
        for key in ("dram", "cxl"):
            end = row.table(key)
            counted = Table(file, f"point {number}, {key}", end.content)
            ends.append(check(counted, platform))
        points.append(Point(str(each["name"]), *ends))
    return points


def picture(found: Fit) -> str:
    """SVG of the scaling factor over L / MLP with the fit, and of predicted over measured
    slowdown.
    """
    import altair as alt
    import numpy as np
    import vl_convert

    dots = [{"x": x, "y": y} for x, y, _ in found.factors]
    span = [d["x"] for d in dots]
    k = found.calibration
    line = [
        {"x": x, "y": 1 / (k.p / x + k.q)} for x in np.linspace(min(span), max(span), 60).tolist()
    ]
    parts = [
        {"part": part, "measured": m, "predicted": p}
        for part, pairs in found.parts.items()
        for m, p in pairs
    ]
    far = max([abs(v) for row in parts for v in (row["measured"], row["predicted"])] or [1.0])
    x = alt.X("x:Q", title="L / MLP on DRAM, cycles")
    y = alt.Y("y:Q", title="R_Lat / R_MLP - 1")
    left = alt.Chart(alt.InlineData(line)).mark_line(color="gray").encode(x=x, y=y)
    left += alt.Chart(alt.InlineData(dots)).mark_point().encode(x=x, y=y)
    ends = alt.InlineData([{"measured": 0, "predicted": 0}, {"measured": far, "predicted": far}])
    at = {"x": alt.X("measured:Q"), "y": alt.Y("predicted:Q")}
    right = alt.Chart(ends).mark_line(color="gray").encode(**at)
    right += (
        alt.Chart(alt.InlineData(parts)).mark_point().encode(**at, color=alt.Color("part:N"))
    ).properties(title="slowdown by component")
    chart = alt.hconcat(left.properties(title="scaling factor"), right)
    return vl_convert.vegalite_to_svg(chart.to_dict())


def report(found: Fit) -> dict:
    """The fit as JSON content."""
    constants = {k: v for k, v in asdict(found.calibration).items() if k != "file"}
    return {**constants, "residuals": dict(found.residuals), "doubts": list(found.doubts)}
