# SPDX-License-Identifier: Apache-2.0
"""The workloads that CAMP is checked on: the ranges of their settings, and how they are drawn.

They were fixed before the first full run, with one change after a run of ten workloads. At first
work was one chain of operations with one operation in every cycle, but programs have more
parallelism (ilp). The ranges are those of programs, not of microbenchmarks: data of 1 to 512 MiB,
work between accesses, a hot part, mispredicted branches. The settings of the microbenchmarks
(calibrate.BENCHMARKS) are at the ends of the ranges.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from anemone.io.errors import MISSING, Bare, InputError
from anemone.models.core import Kernel, operations_of
from anemone.models.core.model import Program

_BYTES = ("log", 1 << 20, 1 << 29)
_STORES, _HOT = ("real", 0.0, 0.5), ("real", 0.0, 0.98)
_ALL = {"ilp": ("whole", 1, 4)}  # programs that do not wait run two to four instructions per cycle
_EACH = 19  # workloads of each kind
CORES = (1, 2, 4, 8, 16)
COPIES = (1, 4, 8)  # copies of a captured program, each on its own core with its own data
COPY_BITS = 50  # address bits of one copy
# Kind -> (kernels that alternate, from sim/core/kernels.hpp; ranges of their settings). "log" is an
# integer from a log-uniform range, "whole" an integer and "real" a number from a uniform range;
# from a list one entry is chosen.
RANGES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "chase": (("chase",), {
        "bytes": _BYTES, "work": ("log", 1, 400), "chains": ("log", 1, 8), "stores": _STORES,
        "mispredict": ("real", 0.0, 0.1)}),
    "stream": (("stream",), {
        "bytes": _BYTES, "work": ("log", 1, 64), "chains": ("whole", 1, 4), "step": [8, 16, 32],
        "stores": ("real", 0.0, 1.0)}),
    "stride": (("stride",), {
        "bytes": _BYTES, "work": ("log", 1, 200), "step": [64, 128, 256, 512, 1024, 2048],
        "stores": _STORES}),
    "gather": (("gather",), {
        "bytes": _BYTES, "work": ("log", 1, 200), "stores": _STORES, "hot": _HOT,
        "mispredict": ("real", 0.0, 0.05)}),
    "hash": (("hash",), {
        "bytes": _BYTES, "work": ("log", 2, 200), "depth": ("whole", 1, 4), "stores": _STORES,
        "hot": _HOT, "mispredict": ("real", 0.0, 0.1)}),
    "tree": (("tree",), {
        "bytes": _BYTES, "work": ("log", 1, 40), "depth": ("whole", 8, 24), "stores": _STORES,
        "mispredict": ("real", 0.0, 0.3)}),
    "stencil": (("stencil",), {"bytes": _BYTES, "work": ("log", 1, 16), "step": [8, 16, 32]}),
    "sort": (("sort",), {
        "bytes": _BYTES, "work": ("log", 1, 32), "step": [8, 16, 64],
        "mispredict": ("real", 0.0, 0.4)}),
    "mixed": (("mixed",), {
        "bytes": _BYTES, "work": ("log", 1, 64), "stores": _STORES, "hot": _HOT,
        "mispredict": ("real", 0.0, 0.05)}),
    "store-heavy": (("memset", "scatter"), {
        "bytes": _BYTES, "work": ("log", 1, 200), "step": [8, 16, 64], "hot": _HOT}),
}  # fmt: skip

# Programs in the Python interpreter and in SQLite, which the kernels do not imitate: (setup code,
# code of the endless loop). The capture skips SKIP instructions.
SKIP, INSTRUCTIONS = 700_000_000, 1_500_000
# A capture also ends after this many trace lines, so this is more than INSTRUCTIONS cause. COMMANDS
# miss less often.
_LINES, _LINES_OF_COMMAND = 400_000, 30_000
_DRAWN = "import random; r = random.Random(1)\n"
PROGRAMS: dict[str, tuple[str, str]] = {
    "dictionary": (
        _DRAWN + "d = {r.getrandbits(40): i for i in range(400000)}; k = list(d)",
        "d[k[r.randrange(400000)]] += 1",
    ),
    "sorting": (_DRAWN + "v = [r.random() for _ in range(300000)]", "sorted(v)"),
    "graph": (
        _DRAWN + "e = [[r.randrange(200000) for _ in range(4)] for _ in range(200000)]; a = 0",
        "s = {a}; q = [a]; a += 1\n for x in q:\n  for y in e[x]:\n"
        "   if y not in s: s.add(y); q.append(y)",
    ),
    "sqlite": (
        "import sqlite3, random; r = random.Random(1); c = sqlite3.connect(':memory:')\n"
        "c.execute('create table t(k integer primary key, v text)')\n"
        "c.executemany('insert into t values(?,?)', ((i, 'x' * 60) for i in range(300000)))",
        "c.execute('select v from t where k=?', (r.randrange(300000),)).fetchone()",
    ),
}  # fmt: skip

# Installed system programs. TEXT and SOURCE stand for generated input files; output goes beside
# these or is discarded. After SKIP_COMMAND instructions all of them are past their startup.
SKIP_COMMAND = 150_000_000
TEXT, SOURCE = "TEXT", "SOURCE"
COMMANDS: dict[str, tuple[str, ...]] = {
    "xz": ("xz", "-T1", "-k", "-f", TEXT),
    "sort": ("sort", "--parallel=1", "-S", "1G", "-o", "/dev/null", TEXT),
    "awk": ("awk", "{ n[$1]++; n[$2]++ } END { print length(n) }", TEXT),
    "perl": ("perl", "-ne", "push @{ $n{$_} }, $. for split; END { print scalar %n }", TEXT),
    "sqlite3": ("sqlite3", ":memory:",
                "create table t(k integer primary key, v text);"
                "with n(i) as (select 1 union all select i + 1 from n where i < 1000000)"
                " insert into t select i * 7919 % 1000003, hex(randomblob(40)) from n;"
                "select max(v) from t"),
    "cc1": ("cc1", "-quiet", "-O2", "-o", "/dev/null", SOURCE),
}  # fmt: skip
_LINES_OF_TEXT, _WORDS_OF_TEXT, _FUNCTIONS = 1_000_000, 200_000, 4000


def drawn(seed: int) -> list[dict[str, Any]]:
    """The workloads as points: first the kernels, then the programs."""
    rng = np.random.default_rng(seed)
    points: list[dict[str, Any]] = []
    for kind, (kernels, ranges) in RANGES.items():
        for i in range(_EACH):
            points.append(
                {"kind": kind, "kernel": kernels[i % len(kernels)],
                 "settings": drawn_settings(rng, ranges), "cores": CORES[i % len(CORES)]}
            )  # fmt: skip
    names = (*PROGRAMS, *COMMANDS)
    programs = [{"kind": "program", "program": p, "cores": n} for p in names for n in COPIES]
    return points + programs


def drawn_settings(rng: np.random.Generator, ranges: dict[str, Any]) -> dict[str, float]:
    """Draw a kernel's settings from their ranges."""
    settings = {name: _draw(rng, of) for name, of in {**ranges, **_ALL}.items()}
    return {**settings, "seed": int(rng.integers(1, 1 << 31))}


def _draw(rng: np.random.Generator, of: Any) -> float:
    if isinstance(of, list):
        return of[int(rng.integers(len(of)))]
    how, minimum, maximum = of
    if how == "real":
        return round(float(rng.uniform(minimum, maximum)), 3)
    if how == "whole":
        return int(rng.integers(minimum, maximum + 1))
    return round(float(np.exp(rng.uniform(np.log(minimum), np.log(maximum)))))


def programs_of(point: dict[str, Any], folder: Path) -> list[Program]:
    """The program of each core. folder: cache of captured programs. Raises InputError."""
    if "kernel" in point:
        return [Kernel(point["kernel"], point["settings"])] * point["cores"]
    one = captured(point["program"], folder)
    copies = []
    for core in range(point["cores"]):
        copy = one.copy()
        copy["address"] += np.uint64(core << COPY_BITS)
        copies.append(copy)
    return copies


def captured(name: str, folder: Path) -> np.ndarray:
    """The operations of one of PROGRAMS or COMMANDS; captured at first use. Raises InputError."""
    kept = folder / f"{name}.npy"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        ours = name in PROGRAMS
        skip, lines = (SKIP, _LINES) if ours else (SKIP_COMMAND, _LINES_OF_COMMAND)
        words = ["capture", "--out", str(folder), "--name", name, "--skip", str(skip)]
        words += ["--instructions", str(INSTRUCTIONS), "--events", str(lines), "--json", "--"]
        call = [sys.executable, "-c", "from anemone.cli import main; main()", *words]
        plain = {**os.environ, "LC_ALL": "C"}  # sort compares bytes
        done = subprocess.run(
            [*call, *_words(name, folder)], capture_output=True, text=True, check=False, env=plain
        )
        if done.returncode:
            reason = (done.stderr.splitlines() or [f"status {done.returncode}"])[-1]
            raise InputError("study", "capturing", name, Bare(reason), "a capture that ends well")
        temporary = kept.with_suffix(".part.npy")
        np.save(temporary, operations_of(folder / "instructions" / f"{name}.parquet"))
        temporary.replace(kept)
    return np.load(kept)


def _words(name: str, folder: Path) -> list[str]:
    """The command to capture; its input files are made in `folder`."""
    if name in PROGRAMS:
        before, again = PROGRAMS[name]
        return [sys.executable, "-c", f"{before}\nwhile True:\n {again}\n"]
    made = {TEXT: (folder / "text.txt", _text), SOURCE: (folder / "source.c", _source)}
    words = []
    for word in COMMANDS[name]:
        if word in made:
            path, content = made[word]
            if not path.exists():
                temporary = path.with_suffix(".part")
                temporary.write_text(content(), encoding="ascii")
                temporary.replace(path)
            word = str(path)
        words.append(word)
    found = _compiler() if words[0] == "cc1" else shutil.which(words[0])
    if not found:
        allowed = "in the path (apt-get install xz-utils mawk perl sqlite3 gcc)"
        raise InputError("study", "programs to capture", words[0], MISSING, allowed)
    return [found, *words[1:]]


def _compiler() -> str | None:
    """The path of cc1, the compiler proper, which gcc starts as a separate process."""
    gcc = shutil.which("gcc")
    words = [gcc, "-print-prog-name=cc1"] if gcc else None
    return (
        words and subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    )


def _text() -> str:
    """Lines of five words, with a vocabulary that is too large for the caches."""
    rng = np.random.default_rng(1)
    letters = rng.integers(ord("a"), ord("z") + 1, (_WORDS_OF_TEXT, 8), np.uint8)
    words = letters.view("S8")[:, 0].astype(str)
    lines = words[rng.integers(0, _WORDS_OF_TEXT, (_LINES_OF_TEXT, 5))]
    return "".join(" ".join(line) + "\n" for line in lines.tolist())


def _source() -> str:
    """C functions, each with a loop, branches and a call of an earlier function."""
    rng = np.random.default_rng(1)
    parts = ["int f0(int a, int b) { return a ^ b; }\n"]
    for n in range(1, _FUNCTIONS):
        i, j, k = rng.integers(1, 1000, 3).tolist()
        of = int(rng.integers(max(0, n - 50), n))
        parts.append(
            f"int f{n}(int a, int b) {{ int s = {i}, t[{j % 16 + 2}] = {{0}};\n"
            f"  for (int x = 0; x < b; x++) {{ s += a * x ^ {j}; t[x % {j % 16 + 2}] += s;\n"
            f"    if (s % {k} == 1) s -= f{of}(x, t[0]); else s ^= t[{j % 16}] << {i % 7}; }}\n"
            f"  return s + t[1]; }}\n"
        )
    return "".join(parts)


# Kernels with little work per line, to be bandwidth-bound on the ten cores of a Skylake server.
_LARGE, _LITTLE = ("log", 1 << 26, 1 << 29), ("log", 1, 8)
STREAMS: dict[str, dict[str, Any]] = {
    "stream": {"bytes": _LARGE, "work": _LITTLE, "chains": ("whole", 1, 3), "step": [32, 64],
               "stores": ("real", 0.0, 1.0)},
    "stride": {"bytes": _LARGE, "work": _LITTLE, "step": [64, 128, 256, 512]},
    "stencil": {"bytes": _LARGE, "work": ("whole", 1, 2), "step": [32, 64]},
    "gather": {"bytes": _LARGE, "work": _LITTLE, "stores": _STORES},
    "memset": {"bytes": _LARGE, "work": _LITTLE, "step": [32, 64]},
    "mixed": {"bytes": _LARGE, "work": _LITTLE, "stores": _STORES},
}  # fmt: skip
_OF_EACH, _SKX_CORES = 6, 10


def bandwidth_bound(seed: int) -> list[dict[str, Any]]:
    """The workloads as points; the kernels alternate."""
    rng = np.random.default_rng(seed)
    points = []
    for _ in range(_OF_EACH):
        for kernel, ranges in STREAMS.items():
            settings = drawn_settings(rng, ranges)
            points.append({"kernel": kernel, "settings": settings, "cores": _SKX_CORES})
    return points
