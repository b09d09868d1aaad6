# SPDX-License-Identifier: Apache-2.0
"""Pairs of memories that papers measured, by name (devices.toml)."""

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
    """(latency_ns, gb_per_s, dram, channels) of both tiers, and the source of the numbers."""

    fast: tuple[float, float, str, int]
    slow: tuple[float, float, str, int]
    source: str


@cache
def devices() -> dict[str, Device]:
    """All devices by name."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: Device(tuple(d["fast"].values()), tuple(d["slow"].values()), d["source"])
        for name, d in content.items()
    }


def device(name: str) -> Device:
    """The device of this name. Raises InputError, which names the option."""
    if name not in devices():
        raise InputError("command line", "options", "--device", name, ", ".join(devices()))
    return devices()[name]


def with_device(config: TierConfig, name: str) -> TierConfig:
    """The configuration with another device's latencies and bandwidths, at its own capacities and
    scale.

    Raises InputError.
    """
    one = device(name)

    def tier(pages: int, figures: tuple[float, float, str, int]) -> Tier:
        latency_ns, gb_per_s, *dram = figures
        return Tier(pages, latency_ns * config.scale, gb_per_s / config.scale, *dram)

    fast, slow = tier(config.fast.pages, one.fast), tier(config.slow.pages, one.slow)
    return replace(config, fast=fast, slow=slow)


def with_timing(config: TierConfig, name: str | None) -> TierConfig:
    """The configuration with another timing, or unchanged for None. Raises InputError."""
    if name is None:
        return config
    if name not in TIMINGS:
        raise InputError("command line", "options", "--timing", name, ", ".join(TIMINGS))
    for which, tier in (("fast", config.fast), ("slow", config.slow)):
        if name == "dram" and (
            tier.dram is None or tier.latency_ns / config.scale < drams()[tier.dram].idle
        ):
            allowed = (
                f"a machine whose {which} tier says its dram and is no quicker (--device does)"
            )
            raise InputError("command line", "options", "--timing", name, allowed)
    return replace(config, timing=name)
