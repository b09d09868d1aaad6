# SPDX-License-Identifier: Apache-2.0
"""Pairs of memories by name, as papers measured them (devices.toml)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from anemone.io.errors import InputError
from anemone.tiering.config import TIMINGS, Tier, TierConfig
from anemone.tiering.drams import drams

FILE = Path(__file__).parent / "devices.toml"


@dataclass(frozen=True)
class Device:
    """(latency_ns, gb_per_s, dram, channels) of both tiers, and where the figures come from."""

    fast: tuple[float, float, str, int]
    slow: tuple[float, float, str, int]
    source: str


@cache
def devices() -> dict[str, Device]:
    """All that are known, by name."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: Device(tuple(d["fast"].values()), tuple(d["slow"].values()), d["source"])
        for name, d in content.items()
    }


def device(name: str) -> Device:
    """Raises InputError that names the option."""
    if name not in devices():
        raise InputError("command line", "options", "--device", name, ", ".join(devices()))
    return devices()[name]


def with_device(config: TierConfig, name: str) -> TierConfig:
    """The same with another pair of memories, whose capacities stay. Raises InputError."""
    one = device(name)
    return replace(
        config,
        fast=Tier(config.fast.pages, *one.fast),
        slow=Tier(config.slow.pages, *one.slow),
    )


def with_timing(config: TierConfig, name: str | None) -> TierConfig:
    """The same in another timing; None: in its own. Raises InputError."""
    if name is None:
        return config
    if name not in TIMINGS:
        raise InputError("command line", "options", "--timing", name, ", ".join(TIMINGS))
    for which, tier in (("fast", config.fast), ("slow", config.slow)):
        if name == "dram" and (tier.dram is None or tier.latency_ns < drams()[tier.dram].idle):
            allowed = (
                f"a machine whose {which} tier says its dram and is no quicker (--device does)"
            )
            raise InputError("command line", "options", "--timing", name, allowed)
    return replace(config, timing=name)
