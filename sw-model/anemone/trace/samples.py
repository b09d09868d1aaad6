# SPDX-License-Identifier: Apache-2.0
"""Samples of memory accesses: `perf script` of perf's memory events, and DAMON's records.

A sample represents `period` accesses; a page of a DAMON region represents as many accesses as the
region was found accessed. Samples have no individual accesses to time, so they only give hit
ratios.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anemone.io.errors import Bare, InputError
from anemone.io.tables import decoded, read_bytes
from anemone.trace import damo

# COMM PID[/TID] [CPU] TIME: PERIOD EVENT: ADDRESS [DATA_SRC |OP ...|LVL ...|...] ...
_HEAD = r"\s*(?P<comm>.+?)\s+(?:\d+|-\d+)(?:/\d+)?\s+(?:\[\d+\]\s+)?(?P<time>\d+\.\d+):\s+"
_PERF = re.compile(_HEAD + r"(?P<period>\d+)\s+(?P<event>\S+):\s+(?P<addr>[0-9a-f]+)\b(?P<rest>.*)")
_NO_PERIOD = re.compile(_HEAD + r"(?P<event>\S+):")
# ... TIME: damon:damon_aggregated: target_id=N nr_regions=N START-END: NR_ACCESSES [AGE]
_DAMON = re.compile(
    r".*?\s(?P<time>\d+\.\d+):\s+damon:damon_aggregated:\s+target_id=(?P<target>\d+)\s+"
    r"nr_regions=\d+\s+(?P<start>\d+)-(?P<end>\d+):\s+(?P<seen>-?\d+)(?:\s+-?\d+)?\s*$"
)
_PERF_DATA = b"PERFILE2"  # perf record's binary file, which only perf itself reads
_CALLED = re.compile(r"\s+[0-9a-f]+ .*")  # a line of a call chain, below its sample
_LEVEL = re.compile(r"\|LVL ([^|]*)")
_MEMORY = ("RAM", "L3 miss", "PMEM", "CXL")  # perf's names of memory levels
_PAGE = 4096


@dataclass(frozen=True)
class Samples:
    """Samples in order of time. kind: "perf" or "DAMON".

    page: int64[n], pages numbered in the order of their first samples. weight: float64[n], accesses
    that each sample represents. store: bool[n]. time: float64[n], ns since the first sample.
    cached, unknown: number of perf's samples that were left out because a cache served them, or
    without an address.
    """

    kind: str
    page: np.ndarray
    weight: np.ndarray
    store: np.ndarray
    time: np.ndarray
    cached: int = 0
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.page)


def kind_of(text: bytes) -> str | None:
    """The kind of samples at the start of a file: "perf", "DAMON", or None."""
    if damo.is_records(text):
        return "DAMON"
    if text.startswith(_PERF_DATA):
        return "perf"
    for raw in text[:4096].splitlines():
        line = raw.decode("utf-8", "replace")
        if _DAMON.fullmatch(line):
            return "DAMON"
        if _PERF.fullmatch(line) or (_NO_PERIOD.match(line) and "mem" in line):
            return "perf"
    return None


def is_samples(path: Path) -> bool:
    """Whether a file has samples instead of accesses. A pipe is not read and counts as accesses."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return kind_of(file.read(4096)) is not None
    except OSError:
        return False


def read_samples(path: Path, page_bytes: int = _PAGE) -> Samples:
    """Read all samples of a text file. Raises InputError.

    page_bytes: size of a page; a DAMON region covers all pages that it touches.
    """
    content = damo.unpacked(path, read_bytes(path, "samples"))
    kind = kind_of(content)
    if kind is None or content.startswith(_PERF_DATA):
        allowed = "perf script of memory events, or of damon:damon_aggregated"
        what = "perf's own file" if kind else "of no kind that is known"
        raise InputError(path, "file", "samples", Bare(what), allowed)
    text = decoded(path, content)
    cached = unknown = 0
    rows: list[tuple[float, int, int, float, bool]] = []  # time, first page, pages, weight, store
    parse = _perf if kind == "perf" else _damon
    for time, first, last, weight, store, level in parse(path, text):
        if level is not None and not any(name in level for name in _MEMORY):
            cached += 1
        elif kind == "perf" and first == 0:
            unknown += 1
        elif weight > 0:
            pages = max(1, -(-last // page_bytes) - first // page_bytes)
            rows.append((time, first // page_bytes, pages, weight, store))
    if not rows:
        what = Bare(f"empty, of {cached} in caches and {unknown} without an address")
        raise InputError(path, "file", "samples", what, "at least one of memory")
    time, first, pages, weight, store = (np.array(column) for column in zip(*rows, strict=True))
    order = np.argsort(time, kind="stable")
    of = np.repeat(order, pages[order])
    nth = np.arange(len(of)) - np.repeat(np.cumsum(pages[order]) - pages[order], pages[order])
    # Pages are renumbered in order of first touch, because virtual addresses are sparse.
    _, at, number = np.unique(first[of] + nth, return_index=True, return_inverse=True)
    rank = np.empty(len(at), np.int64)
    rank[np.argsort(at, kind="stable")] = np.arange(len(at))
    weights, times = weight[of].astype(np.float64), (time[of] - time.min()) * 1e9
    return Samples(kind, rank[number], weights, store[of].astype(np.bool_), times, cached, unknown)


_Sample = tuple[float, int, int, float, bool, str | None]  # time, start, end, weight, store, level


def _perf(path: Path, text: str) -> Iterator[_Sample]:
    for number, line in enumerate(text.split("\n"), 1):
        found = _PERF.fullmatch(line)
        if found:
            level = _LEVEL.search(found["rest"])
            store = "OP STORE" in found["rest"] or "store" in found["event"].lower()
            at = int(found["addr"], 16)
            yield (
                float(found["time"]), at, at + 1, float(found["period"]), store,
                level[1] if level else None,
            )  # fmt: skip
        elif line.strip() and not line.startswith("#") and not _CALLED.fullmatch(line):
            allowed = "perf script -F comm,tid,time,period,event,addr,data_src"
            missing = _NO_PERIOD.match(line)
            field = "period or address" if missing else "sample"
            raise InputError(path, f"line {number}", field, line.strip(), allowed)


def _damon(path: Path, text: str) -> Iterator[_Sample]:
    if text.lstrip().startswith("["):
        for time, target, start, end, seen in damo.regions(path, text):
            space = target % (1 << 14) << 48
            yield time, space + start, space + end, seen, False, None
        return
    for number, line in enumerate(text.split("\n"), 1):
        found = _DAMON.fullmatch(line)
        if found:
            # Targets are separate address spaces. damo ends a record with a region of -1.
            space = int(found["target"]) % (1 << 14) << 48
            start, end, seen = (int(found[name]) for name in ("start", "end", "seen"))
            yield float(found["time"]), space + start, space + end, float(seen), False, None
        elif line.strip() and not line.startswith("#"):
            allowed = "perf script of damon:damon_aggregated: TIME: EVENT: target_id= nr_regions= "
            raise InputError(
                path, f"line {number}", "region", line.strip(), allowed + "START-END: NR_ACCESSES"
            )
