# SPDX-License-Identifier: Apache-2.0
"""Runs the stages of `make test` and prints a summary.

    check.py          every stage
    check.py lint     only the linters
    check.py fast     `make check`: the linters of changed files, and the tests that take seconds
    check.py NAME...  the stages with these names

A stage that writes JUnit XML counts by its test cases, any other stage as one check. The output of
a stage goes to the terminal and to build/test/NAME.log. Exit: 0 if nothing failed, else 1.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from mk.stages import COMPLETE, LACKING, LOGS, ROOT, Stage, all_stages, quick_stages


@dataclass
class Outcome:
    """Counts of a stage, its wall time in seconds, and the names of the cases that failed."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


NAMED = 20  # failed cases that the summary names, of a stage
RUNNING: set[subprocess.Popen[bytes]] = set()
STOPPED = threading.Event()  # also stops a command that is just being started


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kills the command and its children."""
    if process.poll() is None:
        with suppress(ProcessLookupError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)


def execute(stage: Stage) -> int | None:
    """Runs the command, shows and stores its output. Returns its status; None if it timed out."""
    with (LOGS / f"{stage.name}.log").open("wb") as log:
        process = subprocess.Popen(
            stage.command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        RUNNING.add(process)
        if STOPPED.is_set():
            kill(process)
        timer = threading.Timer(stage.limit, kill, [process])
        timer.start()
        started = time.monotonic()
        assert process.stdout is not None
        while chunk := os.read(process.stdout.fileno(), 1 << 16):
            log.write(chunk)
            if not stage.parallel:
                sys.stdout.buffer.write(chunk)
                sys.stdout.flush()
        code = process.wait()
        timer.cancel()
        RUNNING.remove(process)
    return code if time.monotonic() - started < stage.limit else None


def count(report: Path) -> Outcome:
    """Counts the test cases of a JUnit report. A missing or incomplete report has none."""
    outcome = Outcome()
    try:
        cases = list(ET.parse(report).iter("testcase"))
    except (OSError, ET.ParseError):
        return outcome
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
            outcome.failures.append(f"{case.get('classname')}.{case.get('name')}")
        elif case.find("skipped") is not None:
            outcome.skipped += 1
        else:
            outcome.passed += 1
    return outcome


def written(report: Path | None, since: float) -> bool:
    """Whether the report was written at time `since` or later."""
    return report is not None and report.is_file() and report.stat().st_mtime >= since


def run(stage: Stage) -> Outcome:
    """Runs a stage. A failure without a failed case, or a pass without any case, is one failure.

    A stage for which the system lacks something is one skipped case.
    """
    print(f"\n=== {stage.name}: {' '.join(stage.command)[:100]}", flush=True)
    if stage.junit and not stage.keeps:
        stage.junit.unlink(missing_ok=True)
    started, since = time.monotonic(), time.time()
    code = execute(stage)
    outcome = count(stage.junit) if stage.junit else Outcome(passed=int(code == 0))
    if stage.keeps and code != 0 and not written(stage.junit, since):
        outcome = Outcome()  # the report is from an earlier run
    lacking = code == LACKING and not COMPLETE
    if lacking:
        outcome = Outcome(skipped=1)
    if COMPLETE and outcome.skipped:
        print(f"{stage.name}: {outcome.skipped} skipped, but on Debian nothing may be", flush=True)
        outcome.failed, outcome.skipped = outcome.failed + outcome.skipped, 0
    outcome.seconds = time.monotonic() - started
    if outcome.failed == 0 and not lacking and (code != 0 or outcome.passed == 0):
        outcome.failed = 1
    if code is None:
        print(f"{stage.name}: killed after {stage.limit} s", flush=True)
    verdict = "FAILED" if outcome.failed else "ok" if outcome.passed else "skipped"
    print(f"=== {stage.name}: {verdict}, {outcome.seconds:.1f} s", flush=True)
    return outcome


def run_all(chosen: list[Stage]) -> list[tuple[Stage, Outcome]]:
    """Runs the stages in order. Stages after a parallel one do not wait for it."""
    pool = ThreadPoolExecutor()
    last = max((i for i, stage in enumerate(chosen) if not stage.parallel), default=-1)
    try:
        started: list[tuple[Stage, Future[Outcome]]] = []
        for i, stage in enumerate(chosen):
            stage = replace(stage, parallel=stage.parallel and i < last)
            started.append((stage, pool.submit(run, stage)))
            if not stage.parallel:
                started[-1][1].result()
        return [(stage, future.result()) for stage, future in started]
    finally:
        STOPPED.set()
        for process in RUNNING.copy():  # after an interrupt no command may keep running
            kill(process)
        pool.shutdown()


def main(names: list[str]) -> int:
    LOGS.mkdir(parents=True, exist_ok=True)
    if names == ["fast"]:
        os.environ["FAST"] = "1"
        return summary(run_all(quick_stages()))
    known = all_stages()
    chosen = [s for s in known if not names or s.name in names or (s.lint and "lint" in names)]
    if not chosen:
        print("no such stage; there are: lint", *(s.name for s in known), file=sys.stderr)
        return 2
    return summary(run_all(chosen))


def summary(outcomes: list[tuple[Stage, Outcome]]) -> int:
    """Prints a table and the totals. Returns the exit status."""
    print(f"\n{'stage':16}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    for stage, o in outcomes:
        print(f"{stage.name:16}{o.passed:8}{o.failed:8}{o.skipped:8}{o.seconds:9.1f}")
    passed, failed, skipped = (
        sum(getattr(o, kind) for _, o in outcomes) for kind in ("passed", "failed", "skipped")
    )
    for stage, o in outcomes:
        if o.failed:
            print(f"failed: {stage.name}, see build/test/{stage.name}.log")
            for name in o.failures[:NAMED]:
                print(f"  {name}")
    tail = f", {skipped} skipped" if skipped else ""
    print(f"\n{passed} passed, {failed} failed{tail}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
