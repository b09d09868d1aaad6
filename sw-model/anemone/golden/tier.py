# SPDX-License-Identifier: Apache-2.0
"""The reference model of tiered memory without a policy: the times of a trace, row by row.

It keeps the whole trace in memory as Python numbers. tiering.kernel is bit-exactly the same.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field

from anemone.golden.dram import DramModel
from anemone.golden.flat import FlatMemory
from anemone.hardware.geometry import LINE_BYTES
from anemone.io.errors import InputError
from anemone.tiering.config import FAST, SLOW, TierConfig
from anemone.tiering.drams import drams
from anemone.trace import Trace


@dataclass
class TierRun:
    """issue, completion: ns by row. tiers: the tier that served each row. order: rows in order of
    issue. tier_of: tier by touched page; empty if memory is flat.
    """

    issue: list[float]
    completion: list[float]
    tiers: list[int]
    order: list[int] = field(default_factory=list)
    tier_of: dict[int, int] = field(default_factory=dict)


def run(config: TierConfig, trace: Trace) -> TierRun:
    """Run a trace with the policy "none". Raises InputError if a page does not fit."""
    n = len(trace)
    rows_of: dict[int, list[int]] = {}
    for row, thread in enumerate([0] * n if trace.thread is None else trace.thread.tolist()):
        rows_of.setdefault(thread, []).append(row)
    addr, write = trace.addr.tolist(), trace.write.tolist()
    gap = [0.0] * n if trace.gap_ns is None else trace.gap_ns.tolist()
    dep = [False] * n if trace.dep is None else trace.dep.tolist()
    tiers = (config.fast, config.slow)
    free, used = [0.0, 0.0], [0, 0]
    behind = [
        DramModel(drams()[t.dram].slower(config.scale), t.channels) if t.dram else None
        for t in tiers
    ]
    done = TierRun([0.0] * n, [0.0] * n, [0] * n)
    reads: dict[int, list[float]] = {t: [] for t in rows_of}  # completions, by thread
    writes: dict[int, list[float]] = {t: [] for t in rows_of}
    issued = dict.fromkeys(rows_of, 0.0)

    def issue(thread: int, row: int) -> float:
        """When a thread's next row issues. Everything that it waits for is known at this point."""
        at = issued[thread] + gap[row]
        before, maximum = reads[thread], config.outstanding
        if write[row]:
            before, maximum = writes[thread], config.posted or n
        if len(before) >= maximum:
            at = max(at, before[-maximum])
        if dep[row] and not write[row] and before:
            at = max(at, before[-1])
        return at

    flat = FlatMemory(config.flat_config) if config.flat else None

    def flat_access(at: float, line: int, write: bool) -> tuple[int, float]:
        """(tier that had the line, completion), from the near and far accesses of golden.flat."""
        before = vars(flat.counts).copy()
        flat.write(line, bytes(LINE_BYTES)) if write else flat.read(line)
        traffic = {key: count - before[key] for key, count in vars(flat.counts).items()}
        ns = [LINE_BYTES / tier.gb_per_s for tier in tiers]
        start = max(at, free[FAST])
        free[FAST] = start + (traffic["near_reads"] + traffic["near_writes"]) * ns[FAST]
        near = start + tiers[FAST].latency_ns
        if not traffic["misses"]:
            return FAST, near
        start = max(near, free[SLOW])
        free[SLOW] = start + (traffic["far_reads"] + traffic["far_writes"]) * ns[SLOW]
        return SLOW, near if write and traffic["swaps"] else start + tiers[SLOW].latency_ns

    counts = Counter(a // config.page_bytes for a in addr)
    best = {p for p, _ in sorted(counts.items(), key=lambda c: (-c[1], c[0]))[: config.fast.pages]}
    queue = [(issue(thread, rows[0]), thread, 0) for thread, rows in rows_of.items()]
    heapq.heapify(queue)
    while queue:
        at, thread, number = heapq.heappop(queue)
        row = rows_of[thread][number]
        page = addr[row] // config.page_bytes
        if flat:
            tier, completion = flat_access(at, addr[row] // LINE_BYTES, write[row])
        else:
            if page not in done.tier_of:
                done.tier_of[page] = first_touch(config, len(done.tier_of), used, page in best)
                used[done.tier_of[page]] += 1
            tier = done.tier_of[page]
            start = max(at, free[tier])
            free[tier] = start + LINE_BYTES / tiers[tier].gb_per_s
            completion = start + tiers[tier].latency_ns
            if config.timing == "dram":
                completion += behind[tier].extra(start, addr[row], write[row])
        done.tiers[row] = tier
        (writes if write[row] else reads)[thread].append(completion)
        done.issue[row], done.completion[row] = at, completion
        done.order.append(row)
        issued[thread] = at
        if number + 1 < len(rows_of[thread]):
            heapq.heappush(queue, (issue(thread, rows_of[thread][number + 1]), thread, number + 1))
    return done


def first_touch(config: TierConfig, before: int, used: list[int], best: bool = False) -> int:
    """The tier of a page at its first touch.

    before: number of pages touched before. used: pages in each tier. best: whether it is among the
    most accessed pages of the trace that fit the fast tier.
    """
    has_free = [used[FAST] < config.fast.pages, used[SLOW] < config.slow.pages]
    wanted, other = FAST, SLOW
    if config.start == "optimum":
        wanted, other = (FAST, FAST) if best else (SLOW, SLOW)
    elif config.start == "slow":
        wanted, other = SLOW, SLOW
    elif config.start == "fast":
        other = FAST
    elif config.start == "weighted" and before % sum(config.weights) >= config.weights[FAST]:
        wanted, other = SLOW, FAST
    if not (has_free[wanted] or has_free[other]):
        raise InputError("trace", "page", "number", before + 1, "no more pages than there are")
    return wanted if has_free[wanted] else other
