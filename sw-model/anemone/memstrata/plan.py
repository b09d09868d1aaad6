# SPDX-License-Identifier: Apache-2.0
"""One round of Memstrata's page allocator: Listing 1 (Memstrata §4.3)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

from anemone.io.errors import InputError
from anemone.io.json_file import read_json
from anemone.io.tables import Table

STEP_RATIO = 0.1  # §4.3: of a VM's pages, at most, in a round
_KEYS = ("name", "pages", "is_outlier", "avg_miss_count")


@dataclass(frozen=True)
class Vm:
    """A virtual machine.

    is_outlier: it is predicted to lose more than 5 %. avg_miss_count: misses of near memory a page
    that is not dedicated. dedicated: pages that are; None: not known, and so no limit.
    """

    name: str
    pages: int
    is_outlier: bool
    avg_miss_count: float
    dedicated: int | None = None

    def donates(self, step_ratio: float) -> int:
        """Pages, at most."""
        step = self._step(step_ratio)
        return step if self.dedicated is None else min(step, self.dedicated)

    def borrows(self, step_ratio: float) -> int:
        """Pages, at most."""
        step = self._step(step_ratio)
        return step if self.dedicated is None else min(step, self.pages - self.dedicated)

    def _step(self, ratio: float) -> int:
        """The product may be rounded up to more than all pages."""
        return min(self.pages, floor(self.pages * ratio))


@dataclass(frozen=True)
class Migration:
    """Dedicated pages of `donor` are exchanged for as many pages of `borrower` that are not."""

    donor: str
    borrower: str
    pages: int


def plan(vms: Sequence[Vm], step_ratio: float = STEP_RATIO) -> list[Migration]:
    """The migrations of a round, in order: from the lowest rank to the highest outlier.

    Outliers rank above the others, among equals who misses more; equal VMs keep their order.
    """
    ranked = sorted(vms, key=lambda vm: (vm.is_outlier, vm.avg_miss_count))
    left = [vm.donates(step_ratio) for vm in ranked]
    migrations = []
    donor = 0
    for borrower in range(len(ranked) - 1, 0, -1):
        if not ranked[borrower].is_outlier:
            break
        wanted = ranked[borrower].borrows(step_ratio)
        while donor < borrower and wanted > 0:
            pages = min(wanted, left[donor])
            if pages:
                migrations.append(Migration(ranked[donor].name, ranked[borrower].name, pages))
            wanted -= pages
            left[donor] -= pages
            if not left[donor]:
                donor += 1
    return migrations


def read_vms(path: str | os.PathLike) -> tuple[list[Vm], float]:
    """The machines in a file, and the step's ratio. Raises InputError."""
    table = Table(path, "file", read_json(path))
    table.only("vms", optional=("step_ratio",))
    ratio = (
        table.real("step_ratio", minimum=0, maximum=1) if "step_ratio" in table.content else None
    )
    listed = table.content["vms"]
    if not isinstance(listed, list):
        raise table.wrong("vms", "a list of { " + ", ".join(_KEYS) + " }")
    known = any(isinstance(each, dict) and "dedicated" in each for each in listed)
    vms: dict[str, Vm] = {}
    for i, each in enumerate(listed):
        vm = _vm(path, f"vms[{i}]", each, known)
        if vm.name in vms:
            raise InputError(path, f"vms[{i}]", "name", vm.name, "a name that no other VM has")
        vms[vm.name] = vm
    return list(vms.values()), STEP_RATIO if ratio is None else ratio


def _vm(path: object, place: str, content: Any, dedicated: bool) -> Vm:
    """A machine; `dedicated`: others say how much of them is, so it has to."""
    if not isinstance(content, dict):
        raise InputError(path, place, "VM", content, "{ " + ", ".join(_KEYS) + " }")
    table = Table(path, place, content)
    table.only(*_KEYS, *(("dedicated",) if dedicated else ()))
    name, outlier = content["name"], content["is_outlier"]
    if not isinstance(name, str) or not name:
        raise table.wrong("name", "a text that is not empty")
    if not isinstance(outlier, bool):
        raise table.wrong("is_outlier", "true or false")
    pages = table.number("pages")
    return Vm(
        name,
        pages,
        outlier,
        table.real("avg_miss_count", minimum=0),
        table.number("dedicated", maximum=pages) if dedicated else None,
    )
