# SPDX-License-Identifier: Apache-2.0
"""Captures a program in QEMU: runs it, summarises the trace, writes the files."""

from __future__ import annotations

import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from anemone.capture import build, run, store
from anemone.capture.program import (
    Command,
    Outcome,
    RunSettings,
    find_program,
    native_run,
    run_program,
)
from anemone.capture.programs import ProgramSample
from anemone.capture.settings import Settings
from anemone.capture.tools import find_tools
from anemone.io.errors import InputError, oneline
from anemone.trace.columns import KINDS

INSTRUCTIONS = "instructions"  # folder of instructions' NAME.parquet, next to the traces


def name_of(words: Sequence[str], name: str | None) -> str:
    """A trace's name: the given one or the program's. Raises InputError for an invalid file
    name.
    """
    name = find_program(words).name if name is None else name
    if not name or name.startswith(".") or not all(c.isalnum() or c in "-_+." for c in name):
        allowed = "letters, digits, - _ + . (not the first); --name gives another"
        raise InputError("command line", "capture", "--name", name, allowed)
    return name


def capture_words(
    words: Sequence[str],
    name: str,
    native: bool,
    settings: Settings,
    run_settings: RunSettings,
    out: Path,
    progress: Progress,
) -> dict[str, Any]:
    """`anemone capture -- PROGRAM ARGS`. Returns the summary of the files written to `out`."""
    alone = native_run(words) if native else None
    command = Command(words, name)
    origin = {
        "about": oneline(shlex.join(words), 200),
        "programs": {name: {"tenant": 0, "arguments": list(words[1:])}},
    }
    return _capture(command, origin, alone, settings, run_settings, (), out, progress)


def capture_sample(
    sample: ProgramSample,
    settings: Settings,
    run_settings: RunSettings,
    out: Path,
    progress: Progress,
) -> dict[str, Any]:
    """Capture a sample that is a Debian program."""
    task = progress.add_task(f"{sample.name}: fetching", total=None)
    root = find_tools(sample.package).roots[sample.package]
    progress.remove_task(task)
    origin = {
        "sample": sample.name,
        "about": sample.about,
        "programs": {sample.name: {"tenant": sample.tenant, "arguments": {}}},
    }
    with tempfile.TemporaryDirectory(prefix="anemone-capture-") as folder:
        command = sample.command(root, Path(folder), settings.seed)
        return _capture(
            command, origin, None, settings, run_settings, (sample.package,), out, progress
        )


def _capture(
    command: Command,
    origin: dict[str, Any],
    alone: tuple[float, int] | None,
    settings: Settings,
    run_settings: RunSettings,
    packages: Sequence[str],
    out: Path,
    progress: Progress,
) -> dict[str, Any]:
    started = time.monotonic()
    name = command.name
    task = progress.add_task(f"{name}: building the plugin", total=None)
    tools = find_tools(*packages)
    progress.update(task, total=settings.events)

    def step(rows: int, instructions: int) -> None:
        speed = instructions / (time.monotonic() - begun) / 1e6
        description = f"{name}: {instructions / 1e6:,.0f} M instructions, {speed:.0f} M/s"
        progress.update(task, description=description, completed=rows)

    begun = time.monotonic()
    done = run_program(command, settings, run_settings, tools, step)
    capture = done.capture
    progress.update(task, completed=len(capture))
    _warn(command, done)
    capture.tenant[:] = origin["programs"][name]["tenant"]
    summary = {**run.summary(capture), **_further(done)}
    origin |= {
        "settings": f"{settings.text()} {run_settings.text()}",
        "said": {},
        "compiler": build.compiler_version(),
        "summary": summary,
        "speed": _speeds(done, alone),
    }
    path = out / f"{name}.parquet"
    made: dict[str, Any] = {"file": str(path), "bytes": store.write(capture, path, origin)}
    if done.instructions is not None:
        listed = out / INSTRUCTIONS / path.name
        size = store.write_instructions(*done.instructions, listed, origin)
        made |= {"instructions_file": str(listed), "instructions_bytes": size}
    spent = round(time.monotonic() - started, 2)
    return {**made, "capture_seconds": spent, **summary, **origin["speed"], "status": done.status}


def _further(done: Outcome) -> dict[str, Any]:
    """Counts that only traces from QEMU have."""
    more = done.capture.more
    kinds = np.bincount(more["kind"], minlength=len(KINDS))
    return {
        "kinds": {name: int(n) for name, n in zip(KINDS, kinds, strict=True)},
        "dependent": int(more["dep"].sum()),
        "threads": len(np.unique(more["thread"])),
        "marked": int((more["op"] != 0).sum()) if "op" in more else 0,
    }


def _speeds(done: Outcome, alone: tuple[float, int] | None) -> dict[str, Any]:
    """Run times; a slowdown only if both runs ended with the same status."""
    made: dict[str, Any] = {
        "run_seconds": round(done.seconds, 2),
        "instructions_per_second": round(done.totals["instructions"] / done.seconds),
    }
    if alone is not None:
        seconds, status = alone
        made["native_seconds"] = round(seconds, 3)
        if status == done.status:
            made["slowdown"] = round(done.seconds / max(seconds, 1e-3), 1)
    return made


def _warn(command: Command, done: Outcome) -> None:
    """Warn on stderr of events that the trace does not contain, one line each."""
    program = oneline(command.words[0])
    if done.status:
        how = f"with status {done.status}"
        if done.status < 0:
            how = f"by {signal.Signals(-done.status).name}"
        print(f"anemone: warning: {program} ended {how}; its trace is kept", file=sys.stderr)
    children = done.totals["children"]
    if children:
        many = f"{children} child process" + ("es" if children > 1 else "")
        print(f"anemone: warning: {program} made {many}, not traced", file=sys.stderr)
    if done.totals["replaced"]:
        other = "executed another program in its place, not traced: name that one"
        print(f"anemone: warning: {program} {other}", file=sys.stderr)
