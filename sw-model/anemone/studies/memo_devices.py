# SPDX-License-Identifier: Apache-2.0
"""memo's measurements (Demystifying CXL, §4) on our models of the paper's four devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from anemone.hardware.geometry import LINE_BYTES
from anemone.models.core import Kernel, Memory, machine, simulate
from anemone.models.core import Tier as CoreTier
from anemone.studies.memo_devices_judge import ALL_READ, PEAKS, judge
from anemone.studies.study import Found, Point, Study
from anemone.tiering import Tier, TierConfig
from anemone.tiering import simulate as tiered
from anemone.tiering.devices import devices
from anemone.trace import Trace

TIMINGS = ("queue", "dram")
BURST = 16  # back-to-back accesses (§4.1)
# Memory traffic of memo's instructions: (lines read, lines written). st reads the line that it
# writes (O3) and causes a write-back of an evicted line.
INSTRUCTIONS = {"ld": (1, 0), "nt-ld": (1, 0), "st": (1, 1), "nt-st": (0, 1)}
MIXES = {"All Read": (1, 0), "3:1-RW": (3, 1), "2:1-RW": (2, 1), "1:1-RW": (1, 1)}
SNC_KIB, ALL_KIB = 15 << 10, 60 << 10  # last-level cache of one SNC node and of all four (§4.3)
BUFFER = 32 << 20  # bytes

_THREADS, _OUTSTANDING = 32, 16
_PAGES = 1 << 18


def tier(name: str) -> Tier:
    """The memory of a device; DDR5-L is the local DRAM."""
    if name == "DDR5-L":
        return Tier(_PAGES, *devices()["caption-cxl-a"].fast)
    if name == "DDR5-R":
        latency = devices()["camp-numa-spr"].slow[0]
        return Tier(_PAGES, latency, round(ALL_READ[name] / 100 * PEAKS[name], 1), "ddr5-4800", 1)
    return Tier(_PAGES, *devices()[f"caption-{name.lower()}"].slow)


class MemoDevices(Study):
    title = "memo on our model of the paper's devices"
    about = (
        "Figures 3 to 5: random latency of a chase and of 16 accesses back to back, the share of "
        "the theoretical bandwidth that streams of 32 threads reach, and a 32 MB buffer under two "
        "sizes of last-level cache. A device is what `anemone tier` has of it: one latency and one "
        "bandwidth (queue), or banks, rows and refresh behind the latency (dram)."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        lines = 20_000 if quick else 200_000
        points: list[Point] = []
        for device in ("DDR5-L", *PEAKS):
            for timing in TIMINGS:
                each = {"device": device, "timing": timing, "seed": seed}
                points.append({**each, "what": "latency", "bursts": 20 if quick else 400})
                points.append({**each, "what": "bandwidth", "lines": lines})
        loads = 20_000 if quick else 200_000
        points += [{"what": "cache", "kib": kib, "device": device, "loads": loads}
                   for kib, device in ((SNC_KIB, "DDR5-L"), (ALL_KIB, "CXL-A"))]  # fmt: skip
        return points

    def run(self, point: Point) -> dict[str, Any]:
        return {"latency": _latency, "bandwidth": _bandwidth, "cache": _cache}[point["what"]](point)

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def _config(point: Point) -> TierConfig:
    one = tier(point["device"])
    return TierConfig(
        4096, _OUTSTANDING, one, one, start="fast", timing=point["timing"], posted=_OUTSTANDING
    )


def _latency(point: Point) -> dict[str, float]:
    """Latencies in ns: of a dependent load, and of each of 16 parallel accesses, by instruction.

    st waits for the lines that it reads, not for the write-backs of evicted lines.
    """
    config, rng = _config(point), np.random.default_rng(point["seed"])
    n = point["bursts"] * BURST
    chase = Trace(_random(rng, n), np.zeros(n, np.bool_), dep=np.ones(n, np.bool_))
    found = {"chase": tiered(config, chase).time_ns / n}
    for name, (reads, _) in INSTRUCTIONS.items():
        bursts = [
            Trace(_random(rng, BURST), np.full(BURST, not reads)) for _ in range(point["bursts"])
        ]
        found[name] = float(np.median([tiered(config, one).time_ns for one in bursts])) / BURST
    return found


def _bandwidth(point: Point) -> dict[str, float]:
    """GB/s of streams of 32 threads, by read to write ratio and by instruction."""
    found = {}
    for name, (reads, writes) in {**MIXES, **INSTRUCTIONS}.items():
        period = reads + writes
        each = point["lines"] // _THREADS // period * period
        row = np.arange(each * _THREADS)
        thread, at = row % _THREADS, row // _THREADS
        # A thread's reads and writes use separate ranges.
        write = at % period >= reads
        line = at // period * np.where(write, writes, reads) + at % period - write * reads
        part = (2 * thread + write) * (each + 1)
        trace = Trace(
            (part + line).astype(np.uint64) * np.uint64(LINE_BYTES), write,
            thread=thread.astype(np.uint16),
        )  # fmt: skip
        seconds = tiered(_config(point), trace).time_ns / 1e9
        # The program did not request the lines that st reads.
        asked = writes if name == "st" else period
        found[name] = len(row) / period * asked * LINE_BYTES / seconds / 1e9
    return found


def _cache(point: Point) -> dict[str, float]:
    """Latency in ns of a dependent load in a buffer of 32 MB."""
    one = tier(point["device"])
    memory = CoreTier(one.latency_ns, one.gb_per_s)
    chase = Kernel("chase", {"bytes": BUFFER, "work": 0})
    loads = point["loads"]
    on = machine("spr").with_(l3_kib=point["kib"])
    run = simulate(on, Memory(memory, memory), [chase], loads, 3 * BUFFER // LINE_BYTES)
    return {"chase": run.mean_ns("l1_miss")}


def _random(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, _PAGES * 64, n).astype(np.uint64) * np.uint64(LINE_BYTES)


STUDY = MemoDevices()
