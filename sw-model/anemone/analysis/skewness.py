# SPDX-License-Identifier: Apache-2.0
"""Skewness of huge pages (MEMTIS, NEMO §5.2): is all of a huge page hot?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.analysis.compare import Rows
from anemone.telemetry.paper_rules import BASE_PAGES
from anemone.telemetry.rules import Rule

FAST_SHARE = 1 / 3  # base pages that fit the fast tier at §5.1's 1:2 fast to slow


@dataclass(frozen=True)
class Skewness:
    """Listing 1. pages: huge page numbers tracked; base: int64[pages, 512], accesses of each base
    page over the whole trace; score: float64[pages]; threshold: accesses that make one hot.
    """

    pages: np.ndarray
    base: np.ndarray
    score: np.ndarray
    threshold: int


def skewness(parts: list[tuple[Rule, Rows]]) -> Skewness:
    """MEMTIS's skewness of each tracked huge page, on a scale that does not depend on the trace.

    With h_j the accesses of base page j over the mean of all touched base pages, and U the huge
    page's hot base pages (those that a fast tier of a third of the touched base pages would hold):
    S = sum(h_j^2) / U^2, score = log2(1 + S), and 0 if U is 0. Even use of a huge page gives a
    score near 0; 32 times the mean's accesses, all in one base page, give 10.
    """
    pages, base = [], []
    for rule, rows in parts:
        counts = np.zeros((len(rule.map), BASE_PAGES), np.int64)
        first = np.argsort(rule.map[:, 1])
        slot, offset = np.divmod(rows.index, BASE_PAGES)
        np.add.at(counts, (first[slot], offset), rows.value.astype(np.int64))
        pages.append(rule.map[:, 0].astype(np.int64))
        base.append(counts)
    counts = np.concatenate(base)
    touched = counts[counts > 0]
    if len(touched) == 0:
        return Skewness(np.concatenate(pages), counts, np.zeros(len(counts)), 1)
    room = max(1, round(len(touched) * FAST_SHARE))
    threshold = int(np.partition(touched, -room)[-room])
    if threshold == touched.min():  # all alike: none of them is hot
        threshold += 1
    hot = (counts >= threshold).sum(axis=1)
    spread = ((counts / touched.mean()) ** 2).sum(axis=1)
    score = np.where(hot > 0, np.log2(1 + spread / np.maximum(hot, 1) ** 2), 0.0)
    return Skewness(np.concatenate(pages), counts, score, threshold)
