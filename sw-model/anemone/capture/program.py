# SPDX-License-Identifier: Apache-2.0
"""Runs an x86-64 program in QEMU's user mode with our plugin, and reads the lines that left its
cache.

The layouts of the plugin's files are those of sim/capture/qemu/output.hpp. The kinds of core.hpp
are in the order of anemone.trace.
"""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from anemone.capture.run import Capture
from anemone.capture.settings import Settings
from anemone.capture.tools import Tools
from anemone.io.errors import MISSING, Bare, InputError
from anemone.trace.columns import KINDS

_TOTALS = (
    "phase", "rows", "instructions", "recorded_instructions", "threads", "loads", "stores",
    "prefetches_used", "prefetches_unused", "streamed_partial", "pages", "instruction_rows",
    "operation_rows", "children", "replaced", "hold",
)  # fmt: skip
_ERROR_BYTES = 240
_FIRST_ROW = 4096
_ROW = np.dtype(
    [
        ("addr", "<u8"), ("time_ns", "<u8"), ("gap_ns", "<f8"), ("op", "<u8"), ("thread", "<u2"),
        ("kind", "u1"), ("dep", "u1"), ("", "<u4"),
    ]
)  # fmt: skip
_INSTRUCTION = np.dtype(
    [
        ("pc", "<u8"), ("address_registers", "<u8"), ("reads", "<u8"), ("writes", "<u8"),
        ("first", "<u8"), ("n", "<u4"), ("thread", "<u2"), ("bytes", "u1"), ("branch", "u1"),
    ]
)  # fmt: skip
_OPERATION = np.dtype([("address", "<u8"), ("bytes", "<u4"), ("store", "<u4")])
_DONE = 3  # the phase after the recording
_STDERR = 2  # a program's output goes here
_PATIENCE = 10  # seconds between SIGTERM and SIGKILL
_LOOK = 0.05  # seconds between two polls
# Progress callback: (lines recorded, instructions executed).
Step = Callable[[int, int], None]


@dataclass(frozen=True)
class RunSettings:
    """Settings of programs in QEMU. Raises InputError, which names the option.

    instruction_ps: picoseconds per instruction of a thread that does not wait for memory; the
    default is two instructions per cycle at 2 GHz. skip, warm: instructions of all threads before
    the recording; skipped ones only touch pages, the next ones fill the cache. instructions: how
    many to record individually.
    """

    instruction_ps: int = 250
    skip: int = 0
    warm: int = 0
    instructions: int = 0

    def __post_init__(self) -> None:
        maximum = {"instruction_ps": (1, 1_000_000), "instructions": (0, 10**8)}
        for field in fields(self):
            low, high = maximum.get(field.name, (0, 10**15))
            value = getattr(self, field.name)
            if not low <= value <= high:
                option = "--" + field.name.replace("_", "-")
                raise InputError("command line", "capture", option, value, f"{low} to {high}")

    def text(self) -> str:
        return " ".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))


@dataclass(frozen=True)
class Outcome:
    """capture: lines that left the cache. totals: the plugin's counts. seconds: wall-clock time
    until the last line. status: the program's exit status (negative for a signal), None if it was
    stopped because enough was recorded or the user interrupted it. instructions: arrays of
    _INSTRUCTION and _OPERATION, if requested.
    """

    capture: Capture
    totals: dict[str, int]
    seconds: float
    status: int | None
    instructions: tuple[np.ndarray, np.ndarray] | None


class Guest:
    """The running program, for a function that drives it."""

    def __init__(self, process: subprocess.Popen[bytes], totals: mmap.mmap) -> None:
        self._process, self._totals = process, totals

    def count(self, name: str) -> int:
        at = 8 * _TOTALS.index(name)
        return int.from_bytes(self._totals[at : at + 8], "little")

    def error(self) -> str:
        at = 8 * len(_TOTALS)
        return self._totals[at : at + _ERROR_BYTES].split(b"\0")[0].decode(errors="replace")

    def record(self) -> None:
        """End the hold: skip, warm and record from now on."""
        at = 8 * _TOTALS.index("hold")
        self._totals[at : at + 8] = bytes(8)

    def over(self) -> bool:
        """Whether the program has ended or enough is recorded."""
        return self._process.poll() is not None or self.count("phase") == _DONE


def find_program(words: Sequence[str], field: str = "PROGRAM") -> Path:
    """The executable of the command's first word. Raises InputError if QEMU cannot run it."""
    if not words:
        raise InputError("command line", "capture", field, MISSING, "-- PROGRAM ARGS")
    found = shutil.which(words[0])
    if found is None:
        allowed = "an executable, by its path or on PATH"
        raise InputError("command line", "capture", field, words[0], allowed)
    try:
        with Path(found).open("rb") as file:
            head = file.read(20)
    except OSError as e:
        why = Bare(e.strerror or "unreadable")
        raise InputError("command line", "capture", words[0], why, "a readable file") from e
    if head[:5] != b"\x7fELF\x02" or head[18:20] != b"\x3e\x00":
        what = "a script" if head[:2] == b"#!" else "not an x86-64 program"
        allowed = "an x86-64 ELF executable; of a script, its interpreter with the script"
        raise InputError("command line", "capture", words[0], Bare(what), allowed)
    return Path(found)


@dataclass(frozen=True)
class Command:
    """A program to run. words: its command line. name: its name in the trace. environment: None for
    the caller's. root: searched first for its loader and libraries. drive: called while it runs;
    recording starts when it calls Guest.record.
    """

    words: Sequence[str]
    name: str
    environment: Mapping[str, str] | None = None
    root: Path | None = None
    drive: Callable[[Guest], None] | None = None


def run_program(
    command: Command,
    settings: Settings,
    run_settings: RunSettings,
    tools: Tools,
    step: Step | None = None,
) -> Outcome:
    """Run a program until it ends or enough is recorded. Raises InputError.

    Its output goes to standard error. An interrupt (Ctrl-C) has the same effect as reaching
    --events.
    """
    program = find_program(command.words)
    with tempfile.TemporaryDirectory(prefix="anemone-capture-") as folder:
        files = {n: Path(folder, n) for n in ("settings", "rows", "instructions", "operations")}
        held = int(command.drive is not None)
        files["settings"].write_text(f"{settings.text()}\n{run_settings.text()} hold={held}\n")
        # QEMU's options require commas in paths to be doubled.
        plugin = [f"{n}={path}".replace(",", ",,") for n, path in files.items()]
        plugin_path = str(tools.plugin).replace(",", ",,")
        words = [*tools.qemu, "-seed", str(settings.seed % 2**32), "-0", command.words[0]]
        words += ["-L", str(command.root)] if command.root else []
        words += ["-plugin", ",".join([plugin_path, *plugin]), str(program), *command.words[1:]]
        started = time.monotonic()
        # A new process group, so that only we get an interrupt, and can signal all its processes.
        process = subprocess.Popen(words, stdout=_STDERR, env=command.environment, process_group=0)
        try:
            guest = _attach(process, files["rows"])
            with suppress(KeyboardInterrupt):
                if command.drive is not None:
                    command.drive(guest)
                while not guest.over():
                    if step is not None:
                        step(guest.count("rows"), guest.count("instructions"))
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(_LOOK)
            seconds = time.monotonic() - started
            status = process.poll()
            if status is None:
                _end(process)
            return _outcome(guest, files, seconds, status, command.name)
        finally:
            _signal(process, signal.SIGKILL)
            process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to the process group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _attach(process: subprocess.Popen[bytes], path: Path) -> Guest:
    """Wait until the plugin has started. Raises InputError if it does not."""
    while not (path.exists() and path.stat().st_size > _FIRST_ROW):
        if process.poll() is not None:
            reason = Bare(f"ended with status {process.returncode} before the program began")
            raise InputError("capture", "starting", "QEMU", reason, "see what it said above")
        time.sleep(0.005)
    with path.open("r+b") as file:
        return Guest(process, mmap.mmap(file.fileno(), _FIRST_ROW))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Send SIGTERM and wait some seconds for the end."""
    _signal(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)


def _outcome(
    guest: Guest, files: dict[str, Path], seconds: float, status: int | None, name: str
) -> Outcome:
    if guest.error():
        allowed = "a larger --device-gib, or a program of less memory"
        raise InputError("capture", name, "memory", Bare(guest.error()), allowed)
    totals = {n: guest.count(n) for n in _TOTALS if n not in ("phase", "hold")}
    n = totals["rows"]
    if not n:
        ran = f"{totals['instructions']:,} instructions"
        allowed = "a program that runs longer than --skip and --warm say"
        raise InputError("capture", name, "its run", Bare(f"of {ran}, none recorded"), allowed)
    rows = np.fromfile(files["rows"], _ROW, n, offset=_FIRST_ROW)
    kind = rows["kind"].copy()
    more = {
        "thread": rows["thread"].copy(),
        "gap_ns": rows["gap_ns"].copy(),
        "dep": rows["dep"] != 0,
        "kind": kind,
    }
    if rows["op"].any():
        more["op"] = rows["op"].copy()
    capture = Capture(
        addr=rows["addr"].copy(),
        write=kind >= KINDS.index("writeback"),
        prefetch=kind == KINDS.index("prefetch"),
        non_temporal=kind == KINDS.index("nt"),
        time_ns=rows["time_ns"].copy(),
        tenant=np.zeros(n, np.uint16),
        programs={name: totals},
        more=more,
    )
    listed = None
    if totals["instruction_rows"]:
        listed = (
            np.fromfile(files["instructions"], _INSTRUCTION, totals["instruction_rows"]),
            np.fromfile(files["operations"], _OPERATION, totals["operation_rows"]),
        )
    return Outcome(capture, totals, seconds, status, listed)


def native_run(words: Sequence[str]) -> tuple[float, int]:
    """Run the program natively. Returns wall-clock seconds and exit status.

    Standard input is rewound afterwards. Raises InputError if it cannot be.
    """
    find_program(words)
    given = 0
    try:
        start = os.lseek(given, 0, os.SEEK_CUR)
    except OSError as e:
        if not sys.stdin.isatty():
            allowed = "an input that can be read twice: a file"
            raise InputError("command line", "capture", "--native", Bare("a pipe"), allowed) from e
        given, start = subprocess.DEVNULL, 0
    began = time.monotonic()
    done = subprocess.run(words, stdin=given, stdout=_STDERR, check=False)
    seconds = time.monotonic() - began
    if given == 0:
        os.lseek(given, start, os.SEEK_SET)
    return seconds, done.returncode
