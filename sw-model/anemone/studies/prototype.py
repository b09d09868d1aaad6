# SPDX-License-Identifier: Apache-2.0
"""The machine of NEMO's evaluation, scaled down by k, for its studies."""

from __future__ import annotations

from typing import Any

from anemone.studies.study import Point
from anemone.tiering.devices import devices
from anemone.trace import KINDS

THINK_NS = 1000.0  # compute time of a request; an assumption
KIND = {name: code for code, name in enumerate(KINDS)}


def constants(point: Point, own: dict[str, Any]) -> dict[str, Any]:
    """The constants of a study's page: the scale of its machine, its own constants, the device."""
    smaller = {"k, machine and accesses are smaller by": point["k"]}
    return {**smaller, **own, "device": devices()["nemo"].source}


def think_time() -> dict[str, str]:
    """The think time for the page's constants."""
    return {"think time, an assumption": f"{THINK_NS:.0f} ns a request"}
