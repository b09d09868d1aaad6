# SPDX-License-Identifier: Apache-2.0
"""Sampled loads where no processor tells them: the program runs in QEMU's user mode, and its
instructions through the core model (sim/capture/qemu/loads.hpp).
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anemone.capture.program import find_program
from anemone.capture.tools import find_loads_tools
from anemone.io.errors import Bare, InputError
from anemone.models.core import Memory, machine, tier
from anemone.models.core.model import settings
from anemone.models.msgfree.folder import Rank
from anemone.models.msgfree.loads import Loads, Samples
from anemone.models.msgfree.site import Metrics

_MACHINE_FILE = "machine.txt"  # in the folder, as the plugin reads it
_LINE = 64
_ORIGINS = ("L1", "L2", "L3", "LFB", "MEM")  # as core::Origin
_HEADER_BYTES = 4096
_HEADER = np.dtype(
    [("magic", "S8"), ("rank", "<u8"), ("period", "<u8"), ("ghz", "<f8")]
    + [(n, "<u8") for n in ("cycles", "instructions", "loads", "load_bytes", "l1_miss", "l3_miss",
                            "lines_read", "samples", "cycles_first", "cycles_last")]
)  # fmt: skip
_SAMPLE = np.dtype(
    [("received", "<u8"), ("address", "<u8"), ("latency_ns", "<f4"), ("origin", "<u4")]
)


@dataclass(frozen=True)
class Modelled:
    """on: of MACHINES. period: loads for each sample, on average."""

    on: str
    period: int
    preloads = True

    def words(self, command: Sequence[str], out: Path, preload: str) -> list[str]:
        """The launcher's words with each program in QEMU; what QEMU needs goes into `out`."""
        tools = find_loads_tools()
        dram = tier(self.on)
        text = settings(machine(self.on), Memory(dram, dram), 1)
        (out / _MACHINE_FILE).write_text(text + "\n", encoding="utf-8")
        files = {"core": out.resolve() / _MACHINE_FILE, "folder": out.resolve()}
        plugin = [str(tools.plugin), *(f"{n}={p}" for n, p in files.items())]
        # A comma in a path is written twice, as QEMU's options want it.
        plugin = [word.replace(",", ",,") for word in plugin] + [f"period={self.period}"]
        if "," in preload:
            raise InputError("command line", "record", "LD_PRELOAD", preload, "paths without ','")
        qemu = [*tools.qemu, "-E", f"LD_PRELOAD={preload}", "-plugin", ",".join(plugin)]
        words = [command[0]]
        wanted = True
        for word in command[1:]:
            if wanted and (found := _program(word)):
                words += [*qemu, "-0", word, found]
                wanted = False
            else:
                words.append(word)
                wanted |= word == ":"  # the next program of several
        if wanted:
            raise InputError("command line", "record", "program", Bare("not found"),
                             "an x86-64 program among the launcher's words")  # fmt: skip
        return words

    def loads(self, out: Path, ranks: Sequence[Rank]) -> Loads:
        """What the plugin has left in `out`. Raises InputError where a rank has no file."""
        own = [_read(out / f"{rank.stem}.loads") for rank in ranks]
        of = {
            rank.name: _timed(rank, samples) for rank, (_, samples) in zip(ranks, own, strict=True)
        }
        for path in (out / _MACHINE_FILE, *out.glob("*.loads")):
            path.unlink()
        hosts = len({bytes(rank.header["host"]) for rank in ranks})
        how = f"core model {self.on} ({machine(self.on).ghz:g} GHz), every {self.period}th load"
        headers = [header for header, _ in own]
        between = [(int(h["cycles_last"]) - int(h["cycles_first"])) / h["ghz"] for h in headers]
        compute = float(np.mean(between))
        return Loads(float(self.period), metrics_of(headers, hosts), of, how, compute)


def _program(word: str) -> str | None:
    """The file of a word that names an x86-64 program."""
    if word.startswith("-") or shutil.which(word) is None:
        return None
    return str(find_program([word]))


def _read(path: Path) -> tuple[np.void, np.ndarray]:
    try:
        content = path.read_bytes()
    except OSError as e:
        raise InputError(path, "file", "content", Bare(str(e.strerror)), "sampled loads") from e
    header = np.frombuffer(content, _HEADER, 1)[0]
    if header["magic"] != b"ANELDS1\n":
        raise InputError(path, "header", "magic", str(header["magic"]), "sampled loads")
    return header, np.frombuffer(content, _SAMPLE, int(header["samples"]), _HEADER_BYTES)


def _timed(rank: Rank, samples: np.ndarray) -> Samples:
    """A sample's time is that of the last receive before it: no load of the program is between."""
    done = rank.records["done_ns"]
    return Samples(
        done[np.minimum(samples["received"].astype(np.int64), len(done)) - 1],
        samples["address"].copy(),
        np.round(samples["latency_ns"].astype(np.float64), 2),
        np.array(_ORIGINS)[samples["origin"]],
    )


def metrics_of(headers: Sequence[np.void], hosts: int) -> Metrics:
    """Of the whole program, outside of MPI. Bandwidth of memory is of a host, the others' a
    core's."""
    total = {n: float(sum(int(h[n]) for h in headers)) for n in ("loads", "l1_miss", "l3_miss")}
    ns = np.array([int(h["cycles"]) / h["ghz"] for h in headers])
    rates = {
        name: np.array([int(h[name]) for h in headers]) * size / np.maximum(ns, 1e-9)
        for name, size in (("lines_read", _LINE), ("load_bytes", 1), ("l1_miss", _LINE))
    }
    loads = max(total["loads"], 1.0)
    return Metrics(
        mem_gb_per_s=float(rates["lines_read"].sum()) / hosts,
        l3_miss_share=min(1.0, total["l3_miss"] / loads),
        l1_gb_per_s=float(rates["load_bytes"].mean()),
        l2_gb_per_s=float(rates["l1_miss"].mean()),
        l2_load_share=min(1.0, total["l1_miss"] / loads),
    )
