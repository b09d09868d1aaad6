# SPDX-License-Identifier: Apache-2.0
"""Runs programs on a modelled machine (sim/core): counters as Intel defines them, and the time."""

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
# One operation (sim/core/op.hpp). kind: 0 compute, 1 load, 2 store, 3 branch; from: how many
# operations back its inputs are, 0 for none; latency: of compute, cycles, of a branch 0 predicted,
# 1 mispredicted, 2 not taken, 3 taken; continues: 1 where it is of the instruction before.
OPERATION = np.dtype(
    [
        ("address", "<u8"), ("pc", "<u4"), ("from", "<u2", 2), ("kind", "u1"), ("latency", "u1"),
        ("continues", "u1"), ("", "u1"), ("", "<u4"),
    ]
)  # fmt: skip
_ERROR_BYTES = 400
_MEMORY = 9  # numbers of anemone_core_memory
_LINE = 64
_FOREVER = 1 << 62  # operations


class CoreError(RuntimeError):
    """A machine or program that the model does not take."""


@dataclass(frozen=True)
class Machine:
    """A core and its caches, as in machines.toml; `with_(name=value)` is another one."""

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
    """Memory: ns of a load that misses all caches of an idle machine, GB/s of reads and writes."""

    ns: float
    gb_per_s: float


@dataclass(frozen=True)
class Placed:
    """A range of bytes of flat memory: the share of its pages that is dedicated, and the share of
    the others' frames that is filled."""

    first: int
    end: int
    share: float
    filled: float


@dataclass(frozen=True)
class Owned:
    """A range of bytes whose pages of 4 KiB, and those of its page tables, take these frames of
    flat memory, in order of first touch: frame f shares near lines with f + near pages."""

    first: int
    end: int
    frames: np.ndarray


@dataclass(frozen=True)
class Memory:
    """Two tiers, pages divided: fast_share of them on the fast one. Or, with near_lines, both as
    one flat memory (docs/flat.md): `ratio` far lines to each near line, every miss swaps.

    shares: of each core's own, in place of fast_share; for kernels that do not say where their data
    are. dedicated: share of the pages that are dedicated near memory, beside the near lines. filled
    > 0: programs have run for ever, lines are where they left them; their data are in such a share
    of flat memory's pages, anywhere. 0: as after reset, pages in order of first touch. owned: whose
    frames are whose; none: nobody's, else all that is asked for has to be in such a range.
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
    """A generated program (sim/core/kernels.hpp has the names and what the settings mean)."""

    name: str
    settings: Mapping[str, float] = field(default_factory=dict)

    def text(self) -> str:
        return "\n".join([f"kernel={self.name}", *(f"{k}={v!r}" for k, v in self.settings.items())])


Program = Kernel | np.ndarray  # of OPERATION


@dataclass(frozen=True)
class Part:
    """Of a range of memory: lines asked of flat memory, near misses, and page walks."""

    asked: int
    missed: int
    walks: int


@dataclass(frozen=True)
class Run:
    """What a run gave.

    cores: counts of each core by name: c, P1 ... P17 (Table 5 of CAMP) and more (capi.cpp).
    seconds: until the last core was done. read_gb, written_gb: of each tier; queued_ns: what a read
    waited there, on average. near_hits, near_misses, dedicated: of flat memory; parts: of
    those that its memory names.
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
        """Of all cores together, as `perf stat` counts a program of several threads."""
        return {name: sum(core[name] for core in self.cores) for name in self.cores[0]}

    @property
    def gb_per_s(self) -> float:
        return sum((*self.read_gb, *self.written_gb)) / self.seconds

    def mean_ns(self, what: str) -> float:
        """Average latency of l1_miss, l2_miss or l3_miss loads, or of tlb_miss, ns; 0: none."""
        counted = self.counters["P4" if what == "l1_miss" else what]
        cycles = self.counters[f"{what}_cycles"]
        return cycles / counted / self.machine.ghz if counted else 0.0

    @property
    def read_ns(self) -> float:
        """Latency of a demand read behind the L2, ns: P11 / P12 by the clock; 0: there was none."""
        reads = self.counters["P12"]
        return self.counters["P11"] / reads / self.machine.ghz if reads else 0.0

    @property
    def mlp(self) -> float:
        """Demand reads outstanding while there is one: P11 / P13; 0: there was none."""
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
    """A memory of machines.toml: DRAM (spr), another socket's (spr-numa), cxl-a, cxl-b, cxl-c."""
    return Tier(**_machines()["memory"][name])


def simulate(
    on: Machine,
    memory: Memory,
    programs: Sequence[Program],
    operations: int,
    warm: int = 0,
    by_cycles: bool = False,
) -> Run:
    """Each program on a core of its own, `operations` of each after `warm` that are not counted.

    by_cycles: both are cycles, so that cores are side by side all the time. A program of operations
    (an array of OPERATION) ends with the array, by_cycles it begins again. Raises CoreError for
    sizes or programs that the model does not take.
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
        # What is under way when cycles end is so when they begin, too.
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
    """Each kernel's data on a core of its own: ranges of bytes (first, end), in order; those that
    are in another are left out. Raises CoreError."""
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
    """A machine as sim/core/config.hpp reads it."""
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
    """Where a core's data are, apart from the others'."""
    return (core + 1) << 40


def _load(lib, made, core: int, program: Program, error, checked, again: bool) -> Program:
    """Give a core its program; what has to be kept meanwhile. again: operations are repeated."""
    if isinstance(program, Kernel):
        # A core's data lie apart from the others', unless the settings say where.
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
