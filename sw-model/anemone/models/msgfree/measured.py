# SPDX-License-Identifier: Apache-2.0
"""Sampled loads where the processor tells them: `perf mem`, which is PEBS on Intel's processors,
beside `perf stat`, whose counts are the program's metrics.
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
# Of Intel's cores from Skylake on (perf list); the paper's PAPI presets stand for these (III-E).
_LOADS, _L1, _L3 = ("mem_inst_retired.all_loads", "mem_load_retired.l1_miss",
                    "mem_load_retired.l3_miss")  # fmt: skip
_CYCLES, _CLOCK = "cycles", "task-clock"  # task-clock: processor time of all ranks, ms
_READS = "uncore_imc/cas_count_read/"  # of the machine; perf prints MiB
_ELAPSED = "duration_time"  # ns
_LINE, _LOAD_BYTES = 64, 8  # counters do not say how wide a load is: a double's width
_LINE_OF = re.compile(
    r"\s*(?P<pid>\d+)(?:/\d+)?\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+(?P<addr>[0-9a-f]+)\s+"
    r"[0-9a-f]+\s+(?P<data>\|OP .*\S)\s+(?P<weight>\d+)\s*"
)
_FIELDS = "pid,time,addr,data_src,weight"
# Loads from three cycles on. perf's default of 30 leaves out hits in L1 and L2, and each sample
# that is left would stand for more slow loads than there were.
_MEM = ("perf", "mem", "-t", "load", "record", "--ldlat", "3")


@dataclass(frozen=True)
class Measured:
    """period: of perf's event."""

    period: int
    preloads = False

    def words(self, command: Sequence[str], out: Path, preload: str) -> list[str]:
        """perf, and the launcher under it, whose ranks perf follows; they need the same host."""
        count = ["perf", "stat", "-x,", "-o"]
        core = ",".join((_LOADS, _L1, _L3, _CYCLES, _CLOCK))
        return [
            *count, str(out / _UNCORE), "-a", "-e", f"{_READS},{_ELAPSED}", "--",
            *count, str(out / _STAT), "-e", core, "--",
            *_MEM, "-k", "CLOCK_MONOTONIC", "-c", str(self.period),
            "-o", str(out / _DATA), "--", *command,
        ]  # fmt: skip

    def loads(self, out: Path, ranks: Sequence[Rank]) -> Loads:
        """What perf has left in `out`. Raises InputError."""
        script = ["perf", "script", "-i", str(out / _DATA), "-F", _FIELDS, "--ns"]
        done = subprocess.run(script, capture_output=True, text=True, check=False)
        if done.returncode:
            raise InputError(out / _DATA, "perf script", "exit code", done.returncode,
                             done.stderr.strip()[-200:])  # fmt: skip
        counted = counts(read_text(out / _STAT, "perf stat"), out / _STAT, (_LOADS, _L1, _L3,
                         _CYCLES, _CLOCK))  # fmt: skip
        counted |= counts(read_text(out / _UNCORE, "perf stat"), out / _UNCORE, (_READS, _ELAPSED))
        found = loads_of(done.stdout, out / _DATA, ranks, counted)
        for name in (_DATA, _STAT, _UNCORE):
            (out / name).unlink()
        return found


def is_here() -> bool:
    """Whether perf samples loads on this machine and counts what the metrics need."""
    if shutil.which("perf") is None:
        return False
    tried = (
        [*_MEM, "-o", "/dev/null", "--", "true"],
        ["perf", "stat", "-e", f"{_LOADS},{_L1},{_L3}", "--", "true"],
        ["perf", "stat", "-a", "-e", _READS, "--", "true"],
    )
    for words in tried:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode or "<not " in done.stderr:
            return False
    return True


def source_of(data: str) -> str | None:
    """L1, L2, L3, LFB or MEM, of perf's words for where a load found its data; None: not said."""
    level = re.search(r"\|LVL ([^|]*)", data)
    said = level[1] if level else ""
    for words, source in (
        (("LFB",), "LFB"), (("RAM", "L3 miss", "PMEM", "CXL"), "MEM"), (("L1",), "L1"),
        (("L2",), "L2"), (("L3", "Any cache", "Remote Cache"), "L3"),
    ):  # fmt: skip
        if any(word in said for word in words):
            return source
    return None


def counts(text: str, file: object, names: Sequence[str]) -> dict[str, float]:
    """Counts of `perf stat -x,` by event, those of an event's units added up."""
    found: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split(",")
        name = next((n for n in names if len(fields) > 2 and fields[2].startswith(n)), None)
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


def loads_of(text: str, file: object, ranks: Sequence[Rank], counted: dict[str, float]) -> Loads:
    """The samples of `perf script` (fields pid,time,addr,data_src,weight), by rank, and metrics."""
    ghz = counted[_CYCLES] / (counted[_CLOCK] * 1e6)
    rank_of = {int(rank.header["pid"]): rank.name for rank in ranks}
    rows: dict[str, list[tuple[int, int, float, str]]] = {}
    seen = 0
    for pid, time, address, data, cycles in _lines(text, file):
        if pid not in rank_of or "OP LOAD" not in data:
            continue
        seen += 1
        source = source_of(data)
        if source is not None and address:
            one = (time, address, round(cycles / ghz, 2), source)
            rows.setdefault(rank_of[pid], []).append(one)
    if not seen:
        raise InputError(file, "samples", "loads of the ranks", MISSING, "at least one; a smaller "
                         "--period takes more")  # fmt: skip
    ns = counted[_CLOCK] * 1e6 / len(ranks)
    metrics = Metrics(
        mem_gb_per_s=counted[_READS] * (1 << 20) / counted[_ELAPSED],
        l3_miss_share=min(1.0, counted[_L3] / counted[_LOADS]),
        l1_gb_per_s=counted[_LOADS] / len(ranks) * _LOAD_BYTES / ns,
        l2_gb_per_s=counted[_L1] / len(ranks) * _LINE / ns,
        l2_load_share=min(1.0, counted[_L1] / counted[_LOADS]),
    )
    how = f"perf mem, {seen} samples of {counted[_LOADS]:.0f} loads, {ghz:.2f} GHz"
    of = {rank: samples_of(some) for rank, some in rows.items()}
    return Loads(counted[_LOADS] / seen, metrics, of, how)


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
