# SPDX-License-Identifier: Apache-2.0
"""Sets the share of new pages on CXL memory in Linux."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from anemone.io.errors import MISSING, Bare, InputError
from anemone.models.camp.interleave import MAX_WEIGHT, weights

_FOLDER = "sys/kernel/mm/mempolicy/weighted_interleave"
_RATIO = re.compile(rb"(\d+ \d+ \d+ \d+\n)?")  # the content of a ratio file


def weights_of(ratio: float) -> tuple[int, int]:
    """Weights of DRAM and CXL for a ratio in percent. Linux does not allow a weight of 0, so at the
    ends one page in 256 still goes to the other node.
    """
    found = weights(1 - ratio / 100)
    return found or ((MAX_WEIGHT, 1) if ratio < 50 else (1, MAX_WEIGHT))


class WeightedInterleave:
    """Linux 6.9 and newer: weights of the nodes, for tasks with the weighted interleave policy.

    root: root of the file system; tests use another than /.
    """

    def __init__(self, dram: int, cxl: int, root: Path) -> None:
        self.files = [root / _FOLDER / f"node{node}" for node in (dram, cxl)]
        for node, file in zip((dram, cxl), self.files, strict=True):
            if not file.parent.is_dir():
                allowed = "Linux 6.9 or newer; for older ones --ratio-file (docs/caption.md)"
                raise InputError(file.parent, "kernel", "weighted_interleave", MISSING, allowed)
            if not file.exists():
                allowed = "a node of this machine"
                raise InputError(file.parent, "nodes", f"node{node}", MISSING, allowed)

    def check(self) -> None:
        """Raise InputError if the weights cannot be written."""
        for file in self.files:
            if not os.access(file, os.W_OK):
                raise InputError(file, "file", "weight", Bare("not writable"), "root, or --dry-run")

    def set(self, ratio: float) -> str:
        """Write the weights that changed. Returns a description."""
        wanted = weights_of(ratio)
        for file, weight in zip(self.files, wanted, strict=True):
            if file.read_text().strip() != str(weight):
                file.write_text(f"{weight}\n")
        return self.command(ratio)

    def command(self, ratio: float) -> str:
        return "weights {}:{}".format(*weights_of(ratio))

    def saved(self) -> Callable[[], None]:
        """A function that restores the present weights."""
        before = [file.read_text() for file in self.files]

        def restore() -> None:
            for file, text in zip(self.files, before, strict=True):
                file.write_text(text)

        return restore


class RatioFile:
    """Older kernels: programs with libcaption.so read the weights from a file and mbind new
    ranges.
    """

    def __init__(self, dram: int, cxl: int, path: Path) -> None:
        self.path, self._nodes = path, (dram, cxl)

    def check(self) -> None:
        """Raise InputError if the file cannot be replaced or is no ratio file."""
        if not os.access(self.path.parent, os.W_OK):
            allowed = "a file in a folder that can be written"
            raise InputError(self.path, "file", "--ratio-file", Bare("not writable"), allowed)
        if self.path.exists() and not self._is_ratio():
            allowed = "a new file, or one that an earlier run wrote: it is removed at the end"
            raise InputError(self.path, "file", "--ratio-file", Bare("something else"), allowed)

    def _is_ratio(self) -> bool:
        return self.path.is_file() and bool(_RATIO.fullmatch(self.path.read_bytes()))

    def set(self, ratio: float) -> str:
        """Replace the file (nodes, then weights) atomically."""
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        temporary.write_text("{} {} {} {}\n".format(*self._nodes, *weights_of(ratio)))
        temporary.replace(self.path)
        return self.command(ratio)

    def command(self, ratio: float) -> str:
        return "weights {}:{}".format(*weights_of(ratio))

    def saved(self) -> Callable[[], None]:
        """A function that removes the file, so that programs return to the kernel's policy."""
        return lambda: self.path.unlink(missing_ok=True)
