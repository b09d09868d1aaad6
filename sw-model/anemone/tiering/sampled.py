# SPDX-License-Identifier: Apache-2.0
"""Runs on samples instead of a trace, to estimate the share of accesses that hits the fast tier.

Time is that of the samples. Pages move instantly at the ends of intervals; there are no latencies.
The policy gets the weights of a page's samples as its heat.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anemone.golden.tier import first_touch
from anemone.tiering.config import FAST, SLOW, TierConfig
from anemone.tiering.interfaces import Answer, Heat, Policy, Statistics
from anemone.tiering.machine import Units
from anemone.tiering.result import SAMPLED
from anemone.trace.samples import Samples

_NOWHERE = 255
_INTERVAL_NS = 1e9


class _Pages:
    """The placement of pages. tier: uint8[pages], _NOWHERE before a page's first sample."""

    def __init__(self, config: TierConfig, pages: int) -> None:
        self.config = config
        self.tier = np.full(pages, _NOWHERE, np.uint8)
        self.used = [0, 0]
        self.touched = 0

    def touch(self, pages: np.ndarray) -> None:
        """Place pages that have no tier yet, in order of their first samples."""
        new = pages[self.tier[pages] == _NOWHERE]
        for page in new[np.sort(np.unique(new, return_index=True)[1])].tolist():
            tier = first_touch(self.config, self.touched, self.used)
            self.tier[page] = tier
            self.used[tier] += 1
            self.touched += 1

    def move(self, answer: Answer) -> list[int]:
        """Promote while the fast tier has a free frame, else demote. Returns moves [up, down]."""
        free = [self.config.fast.pages - self.used[FAST], self.config.slow.pages - self.used[SLOW]]
        down, moved = iter(answer.demote.tolist()), [0, 0]

        def go(page: int, to: int) -> bool:
            if self.tier[page] == to or free[to] == 0:
                return False
            self.tier[page] = to
            free[to] -= 1
            free[1 - to] += 1
            moved[to] += 1
            return True

        for page in answer.promote.tolist():
            while free[FAST] == 0:
                other = next(down, None)
                if other is None:
                    break
                go(other, SLOW)
            go(page, FAST)
        for page in down:
            go(page, SLOW)
        self.used[FAST] += moved[FAST] - moved[SLOW]
        self.used[SLOW] += moved[SLOW] - moved[FAST]
        return moved


def hit_ratios(
    config: TierConfig, samples: Samples, policy: Policy | None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(report, timeline) of a policy on samples; docs/tiering.md describes both."""
    pages = _Pages(config, int(samples.page.max()) + 1)
    every = config.interval_ns or (policy.interval_ms * 1e6 if policy else _INTERVAL_NS)
    number = (samples.time // every).astype(np.int64)
    ends = np.append(np.flatnonzero(np.diff(number)) + 1, len(samples))
    rows, moved, begin = [], np.zeros(2, np.int64), 0
    hits = total = 0.0
    for end in ends.tolist():
        page, weight = samples.page[begin:end], samples.weight[begin:end]
        pages.touch(page)
        fast = float(weight[pages.tier[page] == FAST].sum())
        hits, total = hits + fast, total + float(weight.sum())
        now = float(number[begin] + 1) * every
        up = down = 0
        if policy:
            store = samples.store[begin:end]
            share = (fast, float(weight.sum()) - fast)
            seen = _seen(config, pages, page, weight, store, now, share)
            up, down = pages.move(policy.act(seen))
        moved += (up, down)
        rows.append((now, fast / float(weight.sum()), float(weight.sum()), end - begin, up, down))
        begin = end
    report = {
        "hit_ratio": hits / total,
        "weight": total,
        "samples": len(samples),
        "cached": samples.cached,
        "unknown": samples.unknown,
        "pages": {"fast": pages.used[FAST], "slow": pages.used[SLOW]},
        "promoted": int(moved[FAST]),
        "demoted": int(moved[SLOW]),
    }
    columns = zip(*rows, strict=True)
    timeline = {
        name: np.array(values, dtype)
        for (name, dtype), values in zip(SAMPLED.items(), columns, strict=True)
    }
    return report, timeline


def _seen(
    config: TierConfig,
    pages: _Pages,
    page: np.ndarray,
    weight: np.ndarray,
    store: np.ndarray,
    now: float,
    accesses: tuple[float, float],
) -> Statistics:
    """The policy's input from an interval's samples."""
    frame = np.flatnonzero(pages.tier != _NOWHERE)
    n = len(pages.tier)
    heat = np.bincount(page, weight, minlength=n)[frame]
    writes = np.bincount(page, weight * store, minlength=n)[frame]
    capacity = (config.fast.pages, config.slow.pages)
    return Statistics(
        now_ns=now,
        units=Units(frame, pages.tier[frame], np.zeros(len(frame), np.bool_)),
        heat=Heat(heat, writes),
        free=(capacity[FAST] - pages.used[FAST], capacity[SLOW] - pages.used[SLOW]),
        capacity=capacity,
        span=1,
        frame_bytes=config.page_bytes,
        accesses=(int(accesses[FAST]), int(accesses[SLOW])),
        latency_ns=(config.fast.latency_ns, config.slow.latency_ns),
    )
