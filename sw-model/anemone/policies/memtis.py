# SPDX-License-Identifier: Apache-2.0
"""MEMTIS (Lee et al., SOSP 2023): hot pages by a histogram that fits the fast tier, and
splitting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.policies.pages import UNIT_NS, ByFrame
from anemone.tiering.config import FAST, SLOW
from anemone.tiering.interfaces import Answer, Policy, Statistics
from anemone.tiering.parameters import setting

_BINS = 16  # bins of the histogram, by powers of two
_SKEW_SCALE = 11  # divisor of the sum of squares in check_transhuge_cooling
_VERY_HOT = 13  # pages in this bin and above are never split


@dataclass
class Memtis(Policy):
    """Pages are ranked by sampled accesses; the hottest bins that fit the fast tier are hot.

    samples_per_access: scale of heat. cooling: samples after which all counts are halved (the
    published htmm_cooling_period). hot_bin: the lowest bin that can be hot (htmm_thres_hot). With
    an adaptive sampling period, samples are weighted by their period relative to the first; the
    published code counts each once. split, gamma: whether skewed huge pages are split, and the
    factor (htmm_gamma / 10). most_splits: huge pages per round (nr_max in
    deferred_split_scan_for_htmm).

    If a source counts every access to a frame, skewness is of the last interval alone (NEMO §5.2).
    The source is asked to count the frames of hot and of cold pages of the slow tier by turns (the
    active and the inactive list there).
    """

    samples_per_access: float = setting(1 / 199, maximum=1.0)
    cooling: int = setting(2_000_000, 1, divide=True)
    hot_bin: int = setting(1, 0, _BINS - 1)
    split: bool = setting(True)
    gamma: float = setting(0.4)
    most_splits: int = setting(50, 1, divide=True)

    interval_ms = 500.0

    def __post_init__(self) -> None:
        self.splits = self.split
        self._counts, self._bases = ByFrame(), ByFrame()
        self._samples = 0.0
        self._threshold = self.hot_bin  # the lowest hot bin
        self._hot_turn = False

    def act(self, seen: Statistics) -> Answer:
        frame, tier, sizes = seen.units.frame, seen.units.tier, seen.frames()
        samples = seen.heat.units * self.samples_per_access
        counts = self._counts.of(frame) + samples
        self._samples += samples.sum()
        cools = self._samples >= self.cooling
        base = self._base_counts(seen)
        skewed = self._skewed(seen, base) if self.split and seen.span > 1 else frame[:0]
        if cools:
            self._samples, counts = 0.0, counts / 2
            if not seen.heat.exact:
                self._bases.values /= 2
        self._counts.set(frame, counts)

        # The count of a split page's frame is scaled to a whole page.
        bins = _bin(counts * (seen.span // sizes))
        pages = np.bincount(bins, sizes, minlength=_BINS)
        self._threshold = max(self.hot_bin, _hottest_that_fit(pages, seen.capacity[0]))
        hot = bins >= self._threshold
        up = np.flatnonzero(hot & (tier == SLOW))
        up = up[np.argsort(-bins[up], kind="stable")]
        down = np.flatnonzero(~hot & (tier == FAST))
        down = down[np.argsort(bins[down], kind="stable")]
        wanted = sizes[up].sum() - seen.free[0]
        down = down[np.cumsum(sizes[down]) - sizes[down] < wanted]
        kept = ~np.isin(frame[up], skewed)
        self._hot_turn = not self._hot_turn
        return Answer(
            promote=frame[up[kept]],
            demote=frame[down],
            split=skewed,
            watch=frame[(tier == SLOW) & (hot == self._hot_turn)],
            cpu_ns=np.count_nonzero(samples) * UNIT_NS,
        )

    def _base_counts(self, seen: Statistics) -> np.ndarray:
        """Samples by frame of the pages in heat.base: float64[m, span]."""
        frames = seen.heat.base_page[:, None] + np.arange(seen.span)
        counts = seen.heat.base.reshape(frames.shape) * self.samples_per_access
        if not seen.heat.exact:
            counts += self._bases.of(frames.reshape(-1)).reshape(frames.shape)
        self._bases.set(frames.reshape(-1), counts.reshape(-1))
        return counts

    def scores(self, seen: Statistics, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(skewness float64[m], has a hot frame bool[m]) of pages, from their frames' samples.

        The threshold of a hot frame is the lower one of the histogram of all frames and of that of
        pages (bp_hot_thres); in each, the hottest bins that fit the fast tier are hot.
        """
        bins = np.bincount(_bin(self._bases.values * seen.span), minlength=_BINS)
        own = _hottest_that_fit(bins, seen.capacity[0])
        return skewness(base, max(self.hot_bin, min(self._threshold, own)))

    def _skewed(self, seen: Statistics, base: np.ndarray) -> np.ndarray:
        """First frames of the most skewed huge pages, which are to be split now."""
        if not len(base):
            return seen.heat.base_page
        score, used = self.scores(seen, base)
        # The fast tier's hit ratio that placement by base pages would gain.
        flat = np.sort(self._bases.values)[::-1]
        ideal = flat[: seen.capacity[0]].sum()
        total = max(1.0, flat.sum())
        present = seen.accesses[0] / max(1, sum(seen.accesses))
        gain = 0.95 * ideal / total - present
        if gain <= 0 or not used.any():
            return seen.heat.base_page[:0]
        fast, slow = seen.latency_ns
        mean = max(1e-9, base[used].sum(axis=1).mean())
        number = gain * total / mean * max(0.0, slow - fast) / fast * self.gamma
        order = np.argsort(-score, kind="stable")[: min(int(number), self.most_splits)]
        return np.sort(seen.heat.base_page[order[score[order] > 0]])


def _hottest_that_fit(frames: np.ndarray, capacity: int) -> int:
    """The lowest bin such that it and all hotter bins of frames, float64[bins], fit the
    capacity.
    """
    fits = np.cumsum(frames[::-1])[::-1] <= capacity
    return int(np.argmax(fits)) if fits.any() else _BINS - 1


def _bin(counts: np.ndarray) -> np.ndarray:
    """The histogram's bin of each count, int64: 0, 1-2, 3-6, ... (get_idx in htmm_core.c)."""
    return np.minimum(np.log2(counts + 1).astype(np.int64), _BINS - 1)


def skewness(base: np.ndarray, hot_bin: int) -> tuple[np.ndarray, np.ndarray]:
    """(score float64[m], has a hot frame bool[m]) of counts by frame, float64[m, span].

    As in the published code, a sample of a frame counts `span`. The score is the sum of the squared
    counts over the squared number of hot frames, scaled: logarithmic below 1024 and linear above
    (check_transhuge_cooling, get_skew_idx). It is 0 without a hot frame and for very hot pages.
    """
    counts = base * base.shape[1]
    hot = np.count_nonzero(_bin(counts) >= max(hot_bin, 1), axis=1)
    raw = (counts**2).sum(axis=1) / _SKEW_SCALE / np.maximum(hot, 1) ** 2
    small = np.where(raw >= 1, np.floor(np.log2(np.maximum(raw, 1))) + 1, 0)
    large = 11 + np.minimum(np.ceil(raw / 1024) - 1, 9)
    score = np.where(raw >= 1024, large, small)
    very_hot = _bin(base.sum(axis=1)) >= _VERY_HOT
    return np.where((hot == 0) | very_hot, 0.0, score), hot > 0
