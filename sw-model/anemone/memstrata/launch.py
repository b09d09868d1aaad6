# SPDX-License-Identifier: Apache-2.0
"""A machine is launched: it gets the system's share of dedicated pages (Memstrata §4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from anemone.memstrata.plan import Migration, Vm


def balance(vms: Sequence[Vm], new: Vm, share: float) -> list[Migration]:
    """What moves so that `share` of the new machine's pages are dedicated, in the order of `vms`.

    Each of the others gives, or takes, the same number, and less where it has no more; what is then
    left is shared among those that have. All must know their `dedicated`.
    """
    assert new.dedicated is not None
    need = floor(share * new.pages) - new.dedicated
    able = [vm.dedicated if need > 0 else vm.pages - vm.dedicated for vm in vms]
    parts = _equal(abs(need), able)
    names = [(vm.name, new.name) if need > 0 else (new.name, vm.name) for vm in vms]
    return [
        Migration(donor, borrower, pages)
        for (donor, borrower), pages in zip(names, parts, strict=True)
        if pages
    ]


def _equal(need: int, able: Sequence[int]) -> list[int]:
    """Shares of `need`, equal but for the rest, which the first get, and where one is not able."""
    parts = [0] * len(able)
    while need and (open_ := [i for i, most in enumerate(able) if parts[i] < most]):
        each = max(1, need // len(open_))
        for i in open_:
            part = min(each, able[i] - parts[i], need)
            parts[i] += part
            need -= part
    return parts
