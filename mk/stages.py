# SPDX-License-Identifier: Apache-2.0
"""The stages of `make test` and `make check`."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test"
# The tops that `make verilog` emits, by folder.
TOPS = {
    "build/rtl": "MemoryExpander",
    "build/rtl-flat": "FlatMemory",
    "build/rtl-tiered": "MemoryExpander",
}
# The exit status of a stage for which the system lacks something. Debian has everything, so there
# no stage and no test may be skipped (tests/conftest.py). Ubuntu has Chromium only as a snap, and
# other kernels.
LACKING = 77
COMPLETE = platform.freedesktop_os_release().get("ID") == "debian"
C_SOURCES = (".c", ".cpp", ".h", ".hpp")
HARDWARE_LINT = ("build.sc", ".scalafmt.conf", "mk/hw.mk", "mk/slang.py", "mk/verilator.vlt")


@dataclass(frozen=True)
class Stage:
    """One command.

    junit: the report that it writes. limit: seconds until it is killed. parallel: later stages do
    not wait for it, and its output goes only to its log. keeps: it does not repeat unchanged tests
    that passed; its report stays.
    """

    name: str
    command: list[str]
    lint: bool = False
    junit: Path | None = None
    limit: int = 1200
    parallel: bool = False
    keeps: bool = False


def listed(*command: str) -> list[str]:
    """The existing files that a git command lists."""
    done = subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def tracked() -> list[str]:
    """The files that git tracks or would add."""
    return listed("ls-files", "-co", "--exclude-standard")


def changed() -> list[str]:
    """The files that differ from the merge base with the upstream or with main."""
    base = "HEAD"
    for upstream in ("@{upstream}", "main"):
        command = ["git", "merge-base", "HEAD", upstream]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            base = found.stdout.strip()
            break
    added = listed("ls-files", "-o", "--exclude-standard")
    return sorted({*listed("diff", "--name-only", base), *added})


def ending(names: list[str], *suffixes: str) -> list[str]:
    return [name for name in names if name.endswith(suffixes)]


def for_tops(command: str) -> str:
    """A shell command that runs for each top of the hardware in turn."""
    return " && ".join(command.format(top=top, folder=folder) for folder, top in TOPS.items())


def python_linters(names: list[str]) -> list[Stage]:
    return [
        Stage("ruff", ["ruff", "check", *names], lint=True),
        Stage("ruff-format", ["ruff", "format", "--check", *names], lint=True),
    ]


def c_linters(names: list[str]) -> list[Stage]:
    return [Stage("clang-format", ["clang-format", "--dry-run", "-Werror", *names], lint=True)]


def scala_linters() -> list[Stage]:
    return [
        # Starting Mill takes most of its time, on one processor.
        Stage(
            "scalafmt",
            ["./mill", "hw.checkFormat", "+", "hw.test.checkFormat"],
            lint=True,
            parallel=True,
        ),
        # Compiled before chiseltest, which holds Mill while other stages elaborate.
        Stage("scalac", ["sh", "-c", "mk/scala.sh hw && mk/scala.sh hw.test"], lint=True),
    ]


def hardware_linters() -> list[Stage]:
    verilator = "verilator --lint-only -Wall --top-module {top} mk/verilator.vlt {folder}/*.sv"
    slang = f"{sys.executable} mk/slang.py {{top}} {{folder}}/*.sv"
    return [
        Stage("emit-rtl", ["make", "--no-print-directory", "verilog"], lint=True),
        Stage("verilator-lint", ["sh", "-c", for_tops(verilator)], lint=True),
        Stage("slang", ["sh", "-c", for_tops(slang)], lint=True),
    ]


def pytest(limit: int, *options: str) -> Stage:
    junit = LOGS / "pytest.xml"
    command = [sys.executable, "-m", "pytest", "-n", "2", f"--junitxml={junit}", *options]
    return Stage("pytest", command, junit=junit, limit=limit)


def all_stages() -> list[Stage]:
    """The stages of `make test`. Stages that leave a processor free run in parallel with others."""
    chiseltest = Stage(
        "chiseltest",
        ["./mill", "hw.test.testCached"],
        junit=ROOT / "out/hw/test/testCached.dest/test-report.xml",
        limit=2400,
        parallel=True,
        keeps=True,
    )
    return [
        # In parallel with linters, which use one processor: its first run builds user-mode Linux.
        Stage("kunit", ["mk/kunit.sh"], junit=LOGS / "kunit.xml", limit=1800, parallel=True),
        *python_linters(["."]),
        *c_linters(ending(tracked(), *C_SOURCES)),
        *scala_linters(),
        chiseltest,
        *hardware_linters(),
        # loadgroup: tests that share a simulation go to one worker.
        pytest(5400, "--dist", "loadgroup"),
    ]


def quick_stages() -> list[Stage]:
    """The stages of `make check`."""
    names = changed()
    found: list[Stage] = []
    if "pyproject.toml" in names:
        found += python_linters(["."])
    elif python := ending(names, ".py"):
        found += python_linters(python)
    if c := ending(tracked() if ".clang-format" in names else names, *C_SOURCES):
        found += c_linters(c)
    if any(name.startswith("hw/") or name in HARDWARE_LINT for name in names):
        found += [*scala_linters(), *hardware_linters()]
    return [*found, pytest(900, "--dist", "worksteal")]
