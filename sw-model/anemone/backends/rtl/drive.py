# SPDX-License-Identifier: Apache-2.0
"""Runs the Verilated RTL and converts its output to a Result."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anemone.backends.rtl.builder import SIMULATORS, BackendError, build
from anemone.backends.rtl.job import write_job, write_trace
from anemone.backends.rtl.simulators import expander
from anemone.hardware.geometry import WORDS_PER_LINE, Geometry
from anemone.replay.result import Counters, Reads, Result, States
from anemone.telemetry.rules import Rule
from anemone.trace import Trace

Progress = Callable[[int, int], None]

# A record of the harness: a non-zero counter (sim/replay/readout.h).
_RECORD = np.dtype([("event", "<u8"), ("value", "<u8"), ("index", "<u4"), ("channel", "<u4")])
_LINE = np.dtype([("row", "<u8"), ("words", "<u8", WORDS_PER_LINE)])


@dataclass(frozen=True)
class Run:
    """A Result and values that only the RTL has.

    slots: slots of all channels that were taken, by events, lines, and words of a serial RMW, in
    result.cycles cycles. user_seconds: CPU time of the replay. lines: answers to the reads that
    were rows, by row: words uint64[n, 8].
    """

    result: Result
    slots: int
    user_seconds: float
    lines: np.ndarray


def run(
    rules: Sequence[Rule], trace: Trace, geometry: Geometry, progress: Progress | None = None
) -> Result:
    """Replay a trace on the RTL, which is built if necessary. Raises BackendError.

    progress: called with (slots used so far, all slots).
    """
    return _execute(rules, geometry, lambda path: write_trace(path, trace), progress).result


def run_rows(
    rules: Sequence[Rule], rows: np.ndarray, geometry: Geometry, progress: Progress | None = None
) -> Run:
    """`run` for rows (anemone.backends.rtl.job) with events and reads in any order."""
    return _execute(rules, geometry, rows.astype("<u8", copy=False).tofile, progress)


def latency(geometry: Geometry) -> dict[str, int]:
    """Latencies in cycles, measured at ports and state arrays (sim/replay/latency.cpp)."""
    return run_program([build(expander(geometry)), "latency"], None)


def _execute(
    rules: Sequence[Rule],
    geometry: Geometry,
    write: Callable[[Path], None],
    progress: Progress | None,
) -> Run:
    program = build(expander(geometry))
    with tempfile.TemporaryDirectory(prefix="run-", dir=SIMULATORS) as name:
        folder = Path(name)
        write_job(folder / "job", rules, geometry)
        write(folder / "trace")
        report = run_program(
            [program, "replay", folder / "job", folder / "trace", folder], progress
        )
        reads = _records(folder, "reads", len(rules))
        states = _records(folder, "states", len(rules))
        lines = np.fromfile(folder / "lines", _LINE)
    lines = lines[np.argsort(lines["row"], kind="stable")]
    counters = [
        Counters(rule.name, **counts) for rule, counts in zip(rules, report["rules"], strict=True)
    ]
    result = Result(
        States(states["rule"], states["index"], states["channel"], states["value"]),
        Reads(reads["rule"], reads["event"], reads["index"], reads["channel"], reads["value"]),
        counters, report["events"], report["cycles"], report["seconds"],
    )  # fmt: skip
    return Run(result, report["slots"], report["user_seconds"], lines["words"])


def _records(folder: Path, kind: str, rules: int) -> dict[str, np.ndarray]:
    """The columns of one kind of record over all rules, converted to small types to save memory."""
    parts = [np.fromfile(folder / f"{kind}.{r}", _RECORD) for r in range(rules)]
    columns = {
        "rule": np.repeat(np.arange(rules, dtype=np.uint16), [len(part) for part in parts]),
    }
    for name, type_ in (("event", "u8"), ("value", "u8"), ("index", "u8"), ("channel", "u1")):
        columns[name] = np.concatenate(
            [np.empty(0, type_), *(p[name].astype(type_) for p in parts)]
        )
    return columns


def run_program(command: Sequence[object], progress: Progress | None) -> dict:
    """Run a simulator's program and return the result that it prints.

    Raises BackendError with the program's error message.
    """
    words = [str(word) for word in command]
    report = None
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                what, _, rest = line.partition(" ")
                if what == "progress" and progress:
                    done, total = rest.split()
                    progress(int(done), int(total))
                elif what == "result":
                    report = json.loads(rest)
            status = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        errors.seek(0)
        complaint = errors.read().decode(errors="replace").strip()
    if status != 0 or report is None:
        raise BackendError(f"the RTL failed (exit status {status}): {complaint or 'no word'}")
    return report
