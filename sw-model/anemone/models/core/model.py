# SPDX-License-Identifier: Apache-2.0
"""Runs programs on a modelled machine (sim/core) and returns Intel's counters and the time."""

from __future__ import annotations

import ctypes
import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from anemone.models.core.build import library

MACHINES = Path(__file__).with_name("machines.toml")
# One operation (sim/core/op.hpp). kind: 0 compute, 1 load, 2 store, 3 branch. from: distance to the
# operations that produce its inputs, 0 for none. latency: cycles of a compute operation; of a
# branch 0 predicted, 1 mispredicted, 2 not taken, 3 taken. continues: 1 if it belongs to the
# instruction of the operation before.
OPERATION = np.dtype(
    [
        ("address", "<u8"), ("pc", "<u4"), ("from", "<u2", 2), ("kind", "u1"), ("latency", "u1"),
        ("continues", "u1"), ("", "u1"), ("", "<u4"),
    ]
)  # fmt: skip
_ERROR_BYTES = 400
_MEMORY = 9  # length of the result of anemone_core_memory
_LINE = 64
_FOREVER = 1 << 62  # operations


class CoreError(RuntimeError):
    """A machine or program that the model does not accept."""


@dataclass(frozen=True)
class Machine:
    """A core and its caches, as in machines.toml; `with_(name=value)` returns a changed copy."""

    name: str
    sizes: Mapping[str, float]

    def with_(self, **sizes: float) -> Machine:
        unknown = set(sizes) - set(self.sizes)
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))}: {self.name} has no such size")
        return Machine(self.name, {**self.sizes, **sizes})

    @property
    def ghz(self) -> float:
        return self.sizes["ghz"]


@dataclass(frozen=True)
class Tier:
    """A memory. ns: latency of a load that misses all caches of an idle machine. gb_per_s:
    bandwidth of reads and writes.
    """

    ns: float
    gb_per_s: float


@dataclass(frozen=True)
class Placed:
    """A range of bytes in flat memory. share: share of its pages that is dedicated. filled: share
    of the other pages' frames that is filled.
    """

    first: int
    end: int
    share: float
    filled: float


@dataclass(frozen=True)
class Owned:
    """A range of bytes whose 4 KiB pages and page tables take these frames of flat memory, in order
    of first touch. Frame f shares near lines with frame f + (number of near pages).
    """

    first: int
    end: int
    frames: np.ndarray


@dataclass(frozen=True)
class Memory:
    """Two tiers, with fast_share of the pages on the fast one. With near_lines, both tiers form one
    flat memory (docs/flat.md) with `ratio` far lines for each near line, in which every miss swaps.

    shares: fast_share of each core separately; for kernels without a `base` setting. dedicated:
    share of the pages that is dedicated near memory, in addition to the near lines. filled: above
    0, the memory starts in the steady state, with data in this share of flat memory's pages at
    random places; 0 is the state after reset, with pages in order of first touch. owned: frames
    that belong to ranges; if there are any, every access has to be in one of these ranges.
    """

    fast: Tier
    slow: Tier
    fast_share: float = 1.0
    near_lines: int = 0
    ratio: int = 1
    shares: tuple[float, ...] = ()
    dedicated: float = 0.0
    filled: float = 0.0
    parts: tuple[Placed, ...] = ()
    owned: tuple[Owned, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """A generated program; sim/core/kernels.hpp defines the names and settings."""

    name: str
    settings: Mapping[str, float] = field(default_factory=dict)

    def text(self) -> str:
        return "\n".join([f"kernel={self.name}", *(f"{k}={v!r}" for k, v in self.settings.items())])


Program = Kernel | np.ndarray  # of OPERATION


@dataclass(frozen=True)
class Part:
    """Counts of a range of memory: lines requested from flat memory, near misses, page walks."""

    asked: int
    missed: int
    walks: int


@dataclass(frozen=True)
class Run:
    """The result of a run.

    cores: counts of each core by name: c, P1 ... P17 (Table 5 of CAMP) and more (capi.cpp).
    seconds: until the last core finished. read_gb, written_gb: for each tier. queued_ns: mean
    queueing time of a read in each tier. near_hits, near_misses, dedicated: accesses of flat
    memory. parts: counts of each of the memory's parts.
    """

    machine: Machine
    cores: tuple[Mapping[str, float], ...]
    seconds: float
    read_gb: tuple[float, float]
    written_gb: tuple[float, float]
    queued_ns: tuple[float, float]
    near_hits: int
    near_misses: int
    dedicated: int
    parts: tuple[Part, ...] = ()

    @functools.cached_property
    def counters(self) -> dict[str, float]:
        """The sum over all cores, as `perf stat` counts a program with several threads."""
        return {name: sum(core[name] for core in self.cores) for name in self.cores[0]}

    @property
    def gb_per_s(self) -> float:
        return sum((*self.read_gb, *self.written_gb)) / self.seconds

    def mean_ns(self, what: str) -> float:
        """Mean latency in ns of l1_miss, l2_miss or l3_miss loads, or of tlb_miss; 0 without
        any.
        """
        counted = self.counters["P4" if what == "l1_miss" else what]
        cycles = self.counters[f"{what}_cycles"]
        return cycles / counted / self.machine.ghz if counted else 0.0

    @property
    def read_ns(self) -> float:
        """Mean latency of a demand read behind the L2 in ns, from P11 / P12; 0 without any."""
        reads = self.counters["P12"]
        return self.counters["P11"] / reads / self.machine.ghz if reads else 0.0

    @property
    def mlp(self) -> float:
        """Mean number of outstanding demand reads while there is one, P11 / P13; 0 without any."""
        cycles = self.counters["P13"]
        return self.counters["P11"] / cycles if cycles else 0.0


@functools.cache
def _machines() -> dict:
    return tomllib.loads(MACHINES.read_text())


def machine(name: str) -> Machine:
    """A machine of machines.toml: skx, spr or emr. Raises KeyError."""
    cores = _machines()["core"]
    own = cores[name]
    base = cores[own["like"]] if "like" in own else {}
    return Machine(name, {**base, **{k: v for k, v in own.items() if k != "like"}})


def tier(name: str) -> Tier:
    """A memory of machines.toml: DRAM (such as spr), another socket (spr-numa), or cxl-a to
    cxl-c.
    """
    return Tier(**_machines()["memory"][name])


def simulate(
    on: Machine,
    memory: Memory,
    programs: Sequence[Program],
    operations: int,
    warm: int = 0,
    by_cycles: bool = False,
) -> Run:
    """Run each program on its own core: `warm` operations that are not counted, then `operations`.

    by_cycles: both limits are in cycles, so that all cores run the whole time. An array of
    OPERATION then starts again at its end; otherwise the program ends with the array. Raises
    CoreError for sizes or programs that the model does not accept.
    """
    lib = library()
    error = ctypes.create_string_buffer(_ERROR_BYTES)

    def checked(status: int) -> None:
        if status:
            raise CoreError(error.value.decode())

    made = lib.anemone_core_new(settings(on, memory, len(programs)).encode(), error, len(error))
    checked(not made)
    try:
        for core, share in enumerate(memory.shares):
            lib.anemone_core_place(made, _base(core), _base(core + 1), share, memory.filled)
        for part in memory.parts:
            lib.anemone_core_place(made, part.first, part.end, part.share, part.filled)
        for each in memory.owned:
            frames = np.ascontiguousarray(each.frames, np.uint32)
            taken = each.first, each.end, frames.ctypes.data, len(frames)
            checked(lib.anemone_core_frames(made, *taken, error, len(error)))
        kept = [_load(lib, made, i, p, error, checked, by_cycles) for i, p in enumerate(programs)]
        first, then = (_FOREVER, _FOREVER) if by_cycles else (warm, operations)
        stops = (warm, operations) if by_cycles else (0, 0)
        if warm:
            checked(lib.anemone_core_run(made, first, stops[0], error, len(error)))
        cold, before = _counts(lib, made, len(programs), False), _memory(lib, made)
        placed = _placed(lib, made, memory)
        checked(lib.anemone_core_run(made, then, stops[1], error, len(error)))
        # By cycles, unfinished operations at the end are balanced by those at the start.
        done, after = _counts(lib, made, len(programs), not by_cycles), _memory(lib, made)
        placed = _placed(lib, made, memory) - placed
        del kept
    finally:
        lib.anemone_core_delete(made)
    cores = tuple(
        {n: b - a for n, a, b in zip(_names(), one, two, strict=True)}
        for one, two in zip(cold.tolist(), done.tolist(), strict=True)
    )
    counts = after - before
    gb = counts * _LINE / 1e9
    waited = [counts[t + 2] / max(counts[t], 1) / on.ghz for t in (0, 3)]
    return Run(
        on,
        cores,
        max(core["c"] for core in cores) / on.ghz / 1e9,
        (gb[0], gb[3]),
        (gb[1], gb[4]),
        (waited[0], waited[1]),
        int(counts[6]),
        int(counts[7]),
        int(counts[8]),
        tuple(Part(*row) for row in placed[len(memory.shares) :].tolist()),
    )


def parts_of(on: Machine, programs: Sequence[Kernel]) -> list[list[tuple[int, int]]]:
    """The ranges of bytes (first, end) of each kernel's data, one kernel per core, in ascending
    order; ranges inside another one are left out. Raises CoreError.
    """
    lib = library()
    error = ctypes.create_string_buffer(_ERROR_BYTES)

    def checked(status: int) -> None:
        if status:
            raise CoreError(error.value.decode())

    text = settings(on, Memory(tier("spr"), tier("spr")), len(programs))
    made = lib.anemone_core_new(text.encode(), error, len(error))
    checked(not made)
    try:
        found = []
        for core, program in enumerate(programs):
            _load(lib, made, core, program, error, checked, False)
            rows = np.zeros((lib.anemone_core_parts(made, core, None, 0), 2), np.uint64)
            lib.anemone_core_parts(made, core, rows.ctypes.data, len(rows))
            ranges = sorted({(a, a + n) for a, n in rows.tolist()})
            found.append([
                (a, b) for a, b in ranges
                if not any((c, d) != (a, b) and c <= a and b <= d for c, d in ranges)
            ])  # fmt: skip
    finally:
        lib.anemone_core_delete(made)
    return found


def settings(on: Machine, memory: Memory, cores: int) -> str:
    """A machine in the format that sim/core/config.hpp reads."""
    values = {
        **on.sizes,
        "cores": cores,
        "fast_ns": memory.fast.ns,
        "fast_gb_per_s": memory.fast.gb_per_s,
        "slow_ns": memory.slow.ns,
        "slow_gb_per_s": memory.slow.gb_per_s,
        "fast_share": memory.dedicated if memory.near_lines else memory.fast_share,
        "near_lines": memory.near_lines,
        "ratio": memory.ratio,
        "filled": memory.filled,
    }
    return "\n".join(f"{name}={value!r}" for name, value in values.items())


def _base(core: int) -> int:
    """Start of a core's data; each core has its own range."""
    return (core + 1) << 40


def _load(lib, made, core: int, program: Program, error, checked, again: bool) -> Program:
    """Load a core's program; returns the object that must stay alive. again: repeat operations."""
    if isinstance(program, Kernel):
        # Each core has its own data unless the settings give a base.
        base = {} if "base" in program.settings else {"base": _base(core)}
        text = Kernel(program.name, {**program.settings, **base}).text()
        checked(lib.anemone_core_kernel(made, core, text.encode(), error, len(error)))
        return program
    operations = np.ascontiguousarray(program, OPERATION)
    data = operations.ctypes.data
    of = (made, core, data, len(operations), again)
    checked(lib.anemone_core_trace(*of, error, len(error)))
    return operations


@functools.cache
def _names() -> list[str]:
    return library().anemone_core_names().decode().split(",")


def _counts(lib, made, cores: int, everything: bool) -> np.ndarray:
    found = np.zeros((cores, len(_names())), np.uint64)
    for core in range(cores):
        lib.anemone_core_counts(made, core, everything, found[core].ctypes.data)
    return found.astype(np.float64)


def _memory(lib, made) -> np.ndarray:
    found = np.zeros(_MEMORY)
    lib.anemone_core_memory(made, found.ctypes.data)
    return found


def _placed(lib, made, memory: Memory) -> np.ndarray:
    found = np.zeros((len(memory.shares) + len(memory.parts), 3), np.uint64)
    lib.anemone_core_placed(made, found.ctypes.data)
    return found.astype(np.int64)
