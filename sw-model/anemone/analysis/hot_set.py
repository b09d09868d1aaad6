# SPDX-License-Identifier: Apache-2.0
"""The hot set of huge pages, and when it moves (NEMO §5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HOT_SHARE = 0.2  # share of the touched huge pages that is the hot set (§5.1: 20 %)
MOVED = 0.6  # the hot set has moved if it takes less than this share of the best set's traffic
SETTLED = 12  # consecutive polls that must agree on a hot set; a quarter of a trace


@dataclass(frozen=True)
class HotSet:
    """Whether the hot set of the earlier polls is still the hot set, and when it moved.

    kept: float64[polls], the set's traffic over the traffic of the best set of its size (nan for
    the first poll). similarity: float64[polls, polls], cosine of the polls' access counts. moves:
    the first poll after each move. stable: whether the hot set ever settled. size: pages in the hot
    set.
    """

    kept: np.ndarray
    similarity: np.ndarray
    moves: list[int]
    stable: bool
    size: int


def hot_set(counts: np.ndarray) -> HotSet:
    """Find when the hottest fifth of the huge pages moved. counts: int64[polls, pages].

    A tiering daemon could do the same after each poll. It keeps the hot set of all polls since the
    last move, and divides the traffic of this set by the traffic of the poll's own hottest fifth. A
    ratio near 1 means that no other set is better: the hot set is the same, or all pages are
    equally hot. The hot set has moved when `SETTLED` polls agreed on it and the ratio is then below
    `MOVED` for two consecutive polls. A single outlier is not a move, and a program that scans its
    memory never settles.
    """
    polls, pages = counts.shape
    size = max(1, round(pages * HOT_SHARE))
    norm = np.sqrt((counts.astype(float) ** 2).sum(axis=1))
    unit = counts / np.maximum(norm, 1e-12)[:, None]
    kept = np.full(polls, np.nan)
    moves: list[int] = []
    agreed = longest = 0
    earlier = counts[0].copy()
    for poll in range(1, polls):
        kept[poll] = hot_traffic(earlier, counts[poll], size)
        if kept[poll] >= MOVED:
            earlier += counts[poll]
            agreed += 1
            longest = max(longest, agreed)
            continue
        if agreed >= SETTLED:
            if poll + 1 == polls or hot_traffic(earlier, counts[poll + 1], size) >= MOVED:
                continue  # a single outlier, or the trace ends too early to decide
            moves.append(poll)
        agreed, earlier = 0, counts[poll].copy()
    return HotSet(kept, unit @ unit.T, moves, longest >= SETTLED, size)


def hot_traffic(earlier: np.ndarray, now: np.ndarray, size: int) -> float:
    """Accesses in `now` to the `size` hottest pages of `earlier`, over those to its own hottest."""
    old = np.argsort(-earlier, kind="stable")[:size]
    old = old[earlier[old] > 0]  # an untouched page is never hot
    best = np.partition(now, len(now) - size)[-size:].sum()
    return float(now[old].sum() / best) if best else 1.0
