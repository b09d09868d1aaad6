# SPDX-License-Identifier: Apache-2.0
"""A machine is launched, or ended: who has how many dedicated pages then (Memstrata §4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

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


def spread(vms: Sequence[Vm], free_dedicated: int, free: int, share: float) -> dict[str, int]:
    """What each machine gets of dedicated pages that ended machines left.

    The paper leaves them to the next launch. Here those stay free that are `share` of all `free`
    pages, as that launch will want; of the others each machine gets the same number.
    """
    surplus = max(0, free_dedicated - ceil(share * free))
    able = [vm.pages - (vm.dedicated or 0) for vm in vms]
    parts = _equal(surplus, able)
    return {vm.name: part for vm, part in zip(vms, parts, strict=True) if part}


def _equal(need: int, able: Sequence[int]) -> list[int]:
    """Shares of `need`, equal but for the rest, which the first get, and where one is not able."""
    parts = [0] * len(able)
    while need and (open_ := [i for i, maximum in enumerate(able) if parts[i] < maximum]):
        each = max(1, need // len(open_))
        for i in open_:
            part = min(each, able[i] - parts[i], need)
            parts[i] += part
            need -= part
    return parts
