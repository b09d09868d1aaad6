# SPDX-License-Identifier: Apache-2.0
"""Skewness of huge pages (MEMTIS, NEMO §5.2): how unevenly a huge page is accessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anemone.analysis.compare import Rows
from anemone.telemetry.paper_rules import BASE_PAGES
from anemone.telemetry.rules import Rule

FAST_SHARE = 1 / 3  # share of the base pages that fits into the fast tier (§5.1: 1:2 fast to slow)


@dataclass(frozen=True)
class Skewness:
    """The result of Listing 1.

    pages: numbers of the tracked huge pages. base: int64[pages, 512], accesses to each base page
    over the whole trace. score: float64[pages]. threshold: accesses from which a base page is hot.
    """

    pages: np.ndarray
    base: np.ndarray
    score: np.ndarray
    threshold: int


def skewness(parts: list[tuple[Rule, Rows]]) -> Skewness:
    """MEMTIS's skewness of each tracked huge page, on a scale that does not depend on the trace.

    S = sum(h_j^2) / U^2, score = log2(1 + S); the score is 0 if U is 0. h_j is the accesses to base
    page j over the mean of all touched base pages. U is the number of the huge page's base pages
    that
    are hot: those that fit into a fast tier of a third of the touched base pages. Uniform accesses
    give a score near 0; one base page with 32 times the mean gives 10.
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
    capacity = max(1, round(len(touched) * FAST_SHARE))
    threshold = int(np.partition(touched, -capacity)[-capacity])
    if threshold == touched.min():  # all base pages are equally hot, so none counts as hot
        threshold += 1
    hot = (counts >= threshold).sum(axis=1)
    spread = ((counts / touched.mean()) ** 2).sum(axis=1)
    score = np.where(hot > 0, np.log2(1 + spread / np.maximum(hot, 1) ** 2), 0.0)
    return Skewness(np.concatenate(pages), counts, score, threshold)
