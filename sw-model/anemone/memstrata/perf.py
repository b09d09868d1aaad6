# SPDX-License-Identifier: Apache-2.0
"""The classifier's metrics of a machine, of events of the cores that it is pinned to (§4.2).

Events and encodings are those of Intel's event files (github.com/intel/perfmon, SPR). A latency is
occupancy over arrivals, or walks' cycles over walks, in ns by the clock while not halted.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from anemone.io import counters
from anemone.io.counters import Counted
from anemone.io.errors import MISSING, InputError

# Each line is counted at the same time; a core takes turns where its counters are too few.
_GROUPS: tuple[dict[str, str], ...] = (
    {"instructions": "", "cycles": "", "ref_tsc": "event=0x00,umask=0x03"},
    {"l3_pending": "event=0x20,umask=0x10", "l3_reads": "event=0x21,umask=0x10"},
    {"l2_pending": "event=0x20,umask=0x01", "l2_reads": "event=0x21,umask=0x01"},
    {"walk_cycles": "event=0x12,umask=0x10,cmask=1", "walks": "event=0x12,umask=0x0e"},
    {"l2_misses": "event=0xd1,umask=0x10"},
    # Lines that come from memory, for demands and by the L3's prefetcher (OCR.READS_TO_CORE and
    # OCR.HWPF_L3, L3_MISS_LOCAL).
    {
        "reads": "event=0x2a,umask=0x01,offcore_rsp=0x70cc04477",
        "prefetches": "event=0x2b,umask=0x01,offcore_rsp=0x84002380",
    },
    # Dirty lines that leave the L2, less those that come back from the L3 to be written again.
    {
        "evicted": "event=0x2a,umask=0x01,offcore_rsp=0x10808",
        "again": "event=0x2b,umask=0x01,offcore_rsp=0x1f80040022",
    },
)
_TSC = "msr/tsc,name=tsc/"
EVENTS = (*(name for group in _GROUPS for name in group), "tsc")


@dataclass(frozen=True)
class Measured:
    """Of a machine in an interval. metrics: as in outliers.METRICS. misses: of near memory, None
    where nobody counts them. is_outlier: None where nobody said so before. by_region: misses of
    each of the telemetry's regions that are the machine's."""

    metrics: dict[str, float]
    instructions: float
    misses: float | None = None
    is_outlier: bool | None = None
    by_region: Mapping[int, int] = field(default_factory=dict)

    @property
    def requests(self) -> float:
        """Of memory, in all."""
        return self.metrics["requests"] * self.instructions / 1000


def asked() -> list[str]:
    """The events as words of `perf stat`."""
    words = []
    for group in _GROUPS:
        terms = [f"cpu/{code},name={n}/" if code else n for n, code in group.items()]
        words += ["-e", f"{{{','.join(terms)}}}" if len(terms) > 1 else terms[0]]
    return [*words, "-e", _TSC]


def measured(cores: Sequence[Mapping[str, Counted]]) -> Measured:
    """Of a machine's cores together."""
    of = {name: sum(core[name].value for core in cores) for name in EVENTS}
    tsc_ns = sum(core["tsc"].ns for core in cores)
    ghz = _ratio(of["tsc"], tsc_ns) * _ratio(of["cycles"], of["ref_tsc"])

    def ns(waited: str, arrived: str) -> float:
        return _ratio(_ratio(of[waited], of[arrived]), ghz)

    memory_requests = of["reads"] + of["prefetches"] + max(0.0, of["evicted"] - of["again"])
    kilo = of["instructions"] / 1000
    return Measured(
        {
            "l3_ns": ns("l3_pending", "l3_reads"), "l2_ns": ns("l2_pending", "l2_reads"),
            "tlb_ns": ns("walk_cycles", "walks"), "l2_mpki": _ratio(of["l2_misses"], kilo),
            "requests": _ratio(memory_requests, kilo),
        },
        of["instructions"],
    )  # fmt: skip


def live(
    cores: Mapping[str, Sequence[int]], interval: float
) -> Generator[dict[str, Measured], None, None]:
    """Intervals of machines by the cores that each has, until it is closed.

    Raises InputError where perf does not count, SourceError when it ends.
    """
    every = sorted(core for some in cores.values() for core in some)
    words = ["-A", "-C", ",".join(map(str, every)), *asked()]
    for rows in counters.perf("memstrata", interval, words, EVENTS, "--counters", by_cpu=True):
        for core in every:
            if (f"CPU{core}",) not in rows:
                allowed = "a row of each core of HOST.toml: those that are online"
                raise InputError("perf stat", "rows", f"CPU{core}", MISSING, allowed)
        yield {name: measured([rows[f"CPU{c}",] for c in some]) for name, some in cores.items()}


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0
