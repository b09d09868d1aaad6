# SPDX-License-Identifier: Apache-2.0
"""Caption (Demystifying CXL, §6) on the core model: how well it finds the best share on CXL."""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

import numpy as np

from anemone.models.core import Kernel, Memory, Run, Tier, machine, simulate
from anemone.studies.camp_workloads import STREAMS, drawn_settings
from anemone.studies.caption_judge import judge
from anemone.studies.study import Found, Point, Study
from anemone.tiering.devices import devices

# The memory of one SNC node: two of the eight DDR5 channels and a quarter of the last-level cache,
# also for threads on cores of other nodes (§3.1, §5). 16 cores for 16 instances of SPEC (§6.2).
CORES, L3_KIB = 16, 15 << 10
_CHANNELS, _ALL_CHANNELS = 2, 8
_COUNTED, _WARM = 10_000, 4_000  # operations of a core at each ratio
# EMBEDDING stands for DLRM: random accesses to a large table with little work, by 32 threads
# (§5.2). The linear model is fitted to it alone, as in the paper (§6.1). STORE stands for Redis:
# one thread with dependent loads.
EMBEDDING = {"kernel": "gather", "settings": {"bytes": 1 << 29, "work": 2, "ilp": 2, "seed": 1}}
STORE = {"kernel": "hash", "settings": {"bytes": 1 << 29, "work": 60, "depth": 2, "seed": 99}}
_SINGLE, _PAIRED = 2, 4  # mixes of each single kernel, and mixes of two kernels


def memory(share: float) -> Memory:
    """`share` of the pages in the SNC node's DRAM, the others on CXL-A."""
    one = devices()["caption-cxl-a"]
    latency, gb_per_s = one.fast[:2]
    return Memory(Tier(latency, gb_per_s * _CHANNELS / _ALL_CHANNELS), Tier(*one.slow[:2]), share)


def mixes(seed: int) -> list[dict[str, Any]]:
    """Name and programs of each mix: CAMP's bandwidth-bound kernels, alone and in pairs."""
    rng = np.random.default_rng(seed)
    found = []
    for kernel, ranges in STREAMS.items():
        for _ in range(_SINGLE):
            one = {"kernel": kernel, "settings": drawn_settings(rng, ranges), "cores": CORES}
            found.append({"name": f"{kernel} {len(found) % _SINGLE + 1}", "programs": [one]})
    names = list(STREAMS)
    for _ in range(_PAIRED):
        pair = [names[i] for i in rng.choice(len(names), 2, replace=False)]
        programs = [
            {"kernel": k, "settings": drawn_settings(rng, STREAMS[k]), "cores": CORES // 2}
            for k in pair
        ]
        found.append({"name": " + ".join(pair), "programs": programs})
    return found


class Caption(Study):
    title = "Caption: the share of pages on CXL memory, tuned while programs run"
    about = (
        "Sixteen cores of Sapphire Rapids with two DDR5 channels and CXL-A (§5, Table 1), at 21 "
        "shares of the pages on CXL: programs of CAMP's bandwidth-bound ranges alone and in pairs, "
        "an embedding reduction (32 cores) and a key-value store (one). The linear model is fitted "
        "to the embedding reduction alone; Algorithm 1 then runs on what the core model says of "
        "the share that it has reached. Throughput is in operations a cycle, of two programs the "
        "geometric mean."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        size = {"step": 10 if quick else 5, "operations": _COUNTED // (4 if quick else 1),
                "warm": _WARM // (4 if quick else 1)}  # fmt: skip
        special = [
            {"name": "embedding", "programs": [{**EMBEDDING, "cores": 32}]},
            {"name": "store", "programs": [{**STORE, "cores": 1}]},
            {"name": "embedding + store",
             "programs": [{**EMBEDDING, "cores": CORES - 1}, {**STORE, "cores": 1}]},
        ]  # fmt: skip
        every = mixes(seed)
        every = [*every[::6], every[-1]] if quick else every
        return [{"idle": True}, *({**one, **size} for one in special + every)]

    def run(self, point: Point) -> dict[str, Any]:
        if "idle" in point:
            chase = Kernel("chase", {"bytes": 1 << 28, "work": 0})
            ends = [_at(cxl, [chase], 20_000, 2000).read_ns for cxl in (0, 100)]
            return {"dram": ends[0], "cxl": ends[1]}
        shares = range(0, 101, point["step"])
        return {"curve": [_seen(x, point) for x in shares]}

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        return judge(answers)


def _at(cxl: int, cores: list[Kernel], operations: int, warm: int) -> Run:
    on = machine("spr").with_(l3_kib=L3_KIB)
    return simulate(on, memory(1 - cxl / 100), cores, operations, warm)


def _seen(cxl: int, point: Point) -> dict[str, float]:
    """Throughput and counters with `cxl` percent of the pages on CXL."""
    programs, operations = point["programs"], point["operations"]
    cores = [
        Kernel(one["kernel"], {**one["settings"], "seed": one["settings"]["seed"] + core})
        for one in programs
        for core in range(one["cores"])
    ]
    run = _at(cxl, cores, operations, point["warm"])
    left, rates = iter(run.cores), []
    for one in programs:
        rates.append(sum(operations / next(left)["c"] for _ in range(one["cores"])))
    counters = run.counters
    return {
        "cxl": cxl,
        "throughput": geometric_mean(rates),
        "l1_miss_latency_ns": run.mean_ns("l1_miss"),
        "ddr_read_latency_ns": memory(1.0).fast.ns + run.queued_ns[0],
        "ipc": counters["instructions"] / counters["c"],
        "l_ns": run.read_ns,
        **{name: counters[name] for name in ("c", "P1", "P2", "P3", "P6")},
    }


STUDY = Caption()
