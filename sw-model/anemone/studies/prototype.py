# SPDX-License-Identifier: Apache-2.0
"""What the studies of NEMO's evaluation share: its machine, made k times smaller."""

from __future__ import annotations

from typing import Any

from anemone.studies.study import Point
from anemone.tiering.devices import devices
from anemone.trace import KINDS

THINK_NS = 1000.0  # of a request, beside its memory: an assumption
KIND = {name: code for code, name in enumerate(KINDS)}


def constants(point: Point, own: dict[str, Any]) -> dict[str, Any]:
    """Those of a study's page: how small the machine of its points is, its own, whose device."""
    smaller = {"k, machine and accesses are smaller by": point["k"]}
    return {**smaller, **own, "device": devices()["nemo"].source}


def think_time() -> dict[str, str]:
    """As a page says it."""
    return {"think time, an assumption": f"{THINK_NS:.0f} ns a request"}
