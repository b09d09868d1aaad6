# SPDX-License-Identifier: Apache-2.0
"""Units of a build, as emitted, under a top of their own: a bench reaches all their ports."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anemone.io.build_cache import built


@dataclass(frozen=True)
class Alone:
    """A bench of such units.

    emit: writes the folder with their SystemVerilog. top: their top there; visible: Verilator's
    control file. run: runs the bench with a simulator in a folder, with more plusargs, and raises
    AssertionError if a test fails.
    """

    emit: Callable[[], Path]
    top: str
    visible: str
    run: Callable[[Path, Path, Sequence[str]], None]


def modules(rtl: Path) -> list[str]:
    """The modules in a folder of emitted SystemVerilog."""
    return [name.removesuffix(".sv") for name in (rtl / "filelist.f").read_text().split()]


def inside(rtl: Path, units: Sequence[str]) -> list[str]:
    """These modules and all that are in them, in the order of `filelist.f`."""
    names, found, todo = modules(rtl), set[str](), [*units]
    while todo:
        text = (rtl / f"{todo[-1]}.sv").read_text()
        found.add(todo.pop())
        todo += set(re.findall(r"^  (\w+) \w+ \(", text, re.MULTILINE)) & {*names} - found
    return [name for name in names if name in found]


def emitted(
    rtl: Path, folder: Path, units: Sequence[str], top: str, text: str, params: str
) -> Path:
    """Write the folder with these modules of `rtl`, a top with this text, and params.json."""
    files = [f"{name}.sv" for name in inside(rtl, units)]

    def make(fresh: Path) -> None:
        fresh.mkdir(parents=True)
        for name in files:
            shutil.copy(rtl / name, fresh)
        (fresh / f"{top}.sv").write_text(text)
        (fresh / "params.json").write_text(params)
        (fresh / "filelist.f").write_text("".join(f"{name}\n" for name in (*files, f"{top}.sv")))

    return built(folder, [*(rtl / name for name in files), text, params], make)
