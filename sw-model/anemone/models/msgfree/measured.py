# SPDX-License-Identifier: Apache-2.0
"""Sampled loads where the processor tells them, by perf, beside `perf stat`, whose counts are the
program's metrics: PEBS on Intel's processors, IBS on AMD's.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anemone.io.errors import MISSING, Bare, InputError
from anemone.io.tables import read_text
from anemone.models.msgfree.folder import Rank
from anemone.models.msgfree.loads import Loads, samples_of
from anemone.models.msgfree.site import Metrics

_DATA, _STAT, _UNCORE = "perf.data", "perf.stat", "perf.uncore"
_CYCLES, _CLOCK = "cycles", "task-clock"  # task-clock: processor time of all ranks, ms
_ELAPSED = "duration_time"  # ns
_LINE, _LOAD_BYTES = 64, 8  # counters do not say how wide a load is: a double's width


@dataclass(frozen=True)
class Unit:
    """What samples loads. record: perf's words. minimum: its shortest period; step: of what it is a
    multiple. loads, l1_miss, l3_miss: events of the ranks. reads: of memory, `of_machine` or of the
    ranks, so many bytes a count. l1_hit: cycles where it tells none of a hit in L1.
    """

    record: tuple[str, ...]
    loads: str
    l1_miss: str
    l3_miss: str
    reads: str
    read_bytes: int
    of_machine: bool
    minimum: int = 1
    step: int = 1
    l1_hit: int = 0

    def period(self, asked: int) -> int:
        """The shortest that the unit can have of at least what is asked for."""
        return -(-max(asked, self.minimum) // self.step) * self.step

    @property
    def counted(self) -> tuple[str, ...]:
        """Events of the ranks."""
        own = (self.loads, self.l1_miss, self.l3_miss, _CYCLES, _CLOCK)
        return own if self.of_machine else (*own, self.reads)

    @property
    def machines(self) -> tuple[str, ...]:
        """Events of the machine."""
        return (self.reads, _ELAPSED) if self.of_machine else (_ELAPSED,)


# Of Intel's cores from Skylake on (perf list); the paper's PAPI presets stand for these (III-E).
# Loads from three cycles on: perf's default of 30 leaves out hits in L1 and L2, and each sample
# that is left would stand for more slow loads than there were. perf prints the reads in MiB.
PEBS = Unit(
    ("perf", "mem", "-t", "load", "record", "--ldlat", "3"),
    "mem_inst_retired.all_loads", "mem_load_retired.l1_miss", "mem_load_retired.l3_miss",
    "uncore_imc/cas_count_read/", 1 << 20, True,
)  # fmt: skip
# Of AMD's from Zen 3 on (perf list: ls_dispatch.ld_dispatch, ls_dmnd_fills_from_sys of all and of
# memory, ls_any_fills_from_sys of memory). `perf mem` has no loads alone there, refuses --ldlat or
# takes no less than 128, and would sample every so many cycles, slow loads more often: cnt_ctl=1
# samples every so many operations. -a: kernels before 6.2 have IBS of processors alone. IBS tells
# no latency of a hit in L1: 4 cycles are Zen's.
IBS = Unit(
    ("perf", "record", "-a", "-d", "-W", "-e", "ibs_op/cnt_ctl=1/"),
    "cpu/event=0x29,umask=0x01,name=loads/", "cpu/event=0x43,umask=0x5f,name=l1_miss/",
    "cpu/event=0x43,umask=0x48,name=l3_miss/", "cpu/event=0x44,umask=0x48,name=reads/", _LINE,
    False, minimum=144, step=16, l1_hit=4,
)  # fmt: skip
_LINE_OF = re.compile(
    r"\s*(?P<pid>\d+)(?:/\d+)?\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+(?P<addr>[0-9a-f]+)\s+"
    r"[0-9a-f]+\s+(?P<data>\|OP .*\S)\s+(?P<weight>\d+)\s*"
)
_FIELDS = "pid,time,addr,data_src,weight"


@dataclass(frozen=True)
class Measured:
    """period: of perf's event, loads or, of IBS, operations; the unit's next longer one."""

    period: int
    unit: Unit = PEBS
    preloads = False

    def words(self, command: Sequence[str], out: Path, preload: str) -> list[str]:
        """perf, and the launcher under it, whose ranks perf follows; they need the same host."""
        count = ["perf", "stat", "-x,", "-o"]
        return [
            *count, str(out / _UNCORE), "-a", "-e", ",".join(self.unit.machines), "--",
            *count, str(out / _STAT), "-e", ",".join(self.unit.counted), "--",
            *self.unit.record, "-k", "CLOCK_MONOTONIC", "-c", str(self.unit.period(self.period)),
            "-o", str(out / _DATA), "--", *command,
        ]  # fmt: skip

    def loads(self, out: Path, ranks: Sequence[Rank]) -> Loads:
        """What perf has left in `out`. Raises InputError."""
        script = ["perf", "script", "-i", str(out / _DATA), "-F", _FIELDS, "--ns"]
        done = subprocess.run(script, capture_output=True, text=True, check=False)
        if done.returncode:
            raise InputError(out / _DATA, "perf script", "exit code", done.returncode,
                             done.stderr.strip()[-200:])  # fmt: skip
        counted = {}
        for name, events in ((_STAT, self.unit.counted), (_UNCORE, self.unit.machines)):
            counted |= counts(read_text(out / name, "perf stat"), out / name, events)
        found = loads_of(done.stdout, out / _DATA, ranks, counted, self.unit)
        for name in (_DATA, _STAT, _UNCORE):
            (out / name).unlink()
        return found


def unit_here() -> Unit | None:
    """What samples loads on this machine, if perf also counts what the metrics need."""
    return next((unit for unit in (PEBS, IBS) if not refusal(unit)), None)


def refusal(unit: Unit = PEBS) -> str:
    """What perf says first where it does not do with this unit; "" where it does."""
    if not shutil.which("perf"):
        return "no perf"
    tried = (
        [*unit.record, "-c", str(unit.period(10_000)), "-o", "/dev/null", "--", "true"],
        ["perf", "stat", "-e", ",".join(unit.counted), "--", "true"],
        ["perf", "stat", "-a", "-e", ",".join(unit.machines), "--", "true"],
    )
    for words in tried:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode or "<not " in done.stderr:
            errors = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            return next((line for line in errors if "<not " in line), (errors or ["refused"])[0])
    return ""


def source_of(data: str) -> str | None:
    """Where a load found its data, from perf's words: L1, L2, L3, LFB or MEM; None if not given."""
    level = re.search(r"\|LVL ([^|]*)", data)
    levels = level[1] if level else ""
    for words, source in (
        (("LFB",), "LFB"), (("RAM", "L3 miss", "PMEM", "CXL"), "MEM"), (("L1",), "L1"),
        (("L2",), "L2"), (("L3", "Any cache", "Remote Cache"), "L3"),
    ):  # fmt: skip
        if any(word in levels for word in words):
            return source
    return None


def counts(text: str, file: object, names: Sequence[str]) -> dict[str, float]:
    """Counts of `perf stat -x,` by event, those of an event's units added up."""
    found: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split(",")
        name = next((n for n in names if len(fields) > 2 and fields[2].startswith(_shown(n))), None)
        if line.startswith("#") or name is None:
            continue
        try:
            found[name] = found.get(name, 0.0) + float(fields[0])
        except ValueError as e:
            raise InputError(file, f"line {number}", name, Bare(fields[0]), "a count") from e
    for name in names:
        if name not in found:
            raise InputError(file, "file", name, MISSING, "a row of perf stat -x,")
    return found


def _shown(event: str) -> str:
    """How perf stat calls an event: by its name=, where it has one."""
    named = re.search(r"name=(\w+)", event)
    return named[1] if named else event


def loads_of(
    text: str, file: object, ranks: Sequence[Rank], counted: dict[str, float], unit: Unit = PEBS
) -> Loads:
    """The samples of `perf script` (fields pid,time,addr,data_src,weight), by rank, and metrics."""
    ghz, loads = counted[_CYCLES] / (counted[_CLOCK] * 1e6), counted[unit.loads]
    rank_of = {int(rank.header["pid"]): rank.name for rank in ranks}
    rows: dict[str, list[tuple[int, int, float, str]]] = {}
    seen = 0
    for pid, time, address, data, cycles in _lines(text, file):
        if pid not in rank_of or "OP LOAD" not in data:
            continue
        seen += 1
        source = source_of(data)
        if source is not None and address:
            cycles = cycles or (unit.l1_hit if source == "L1" else 0)
            one = (time, address, round(cycles / ghz, 2), source)
            rows.setdefault(rank_of[pid], []).append(one)
    if not seen:
        raise InputError(file, "samples", "loads of the ranks", MISSING, "at least one; a smaller "
                         "--period takes more")  # fmt: skip
    ns = counted[_CLOCK] * 1e6 / len(ranks)
    metrics = Metrics(
        mem_gb_per_s=counted[unit.reads] * unit.read_bytes / counted[_ELAPSED],
        l3_miss_share=min(1.0, counted[unit.l3_miss] / loads),
        l1_gb_per_s=loads / len(ranks) * _LOAD_BYTES / ns,
        l2_gb_per_s=counted[unit.l1_miss] / len(ranks) * _LINE / ns,
        l2_load_share=min(1.0, counted[unit.l1_miss] / loads),
    )
    how = f"perf, {seen} samples of {loads:.0f} loads, {ghz:.2f} GHz"
    of = {rank: samples_of(some) for rank, some in rows.items()}
    return Loads(loads / seen, metrics, of, how)


def _lines(text: str, file: object) -> Iterator[tuple[int, int, int, str, int]]:
    """pid, ns, address, where from, cycles."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _LINE_OF.fullmatch(line)
        if found is None:
            allowed = f"perf script -F {_FIELDS} --ns"
            raise InputError(file, f"line {number}", "sample", line.strip(), allowed)
        time = int(found["s"]) * 10**9 + int(found["ns"])
        yield int(found["pid"]), time, int(found["addr"], 16), found["data"], int(found["weight"])
