# SPDX-License-Identifier: Apache-2.0
"""The tiered-memory simulator: runs a trace on a fast and a slow tier; a policy moves pages.

docs/tiering.md defines its behaviour and shows how to write a policy and a telemetry source.
kernel.py is the event loop, and run.py calls it for each interval. golden.tier is the reference
model of its timing without a policy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anemone.tiering.config import Migration, Tier, TierConfig, Tlb, load_config, parse_config
    from anemone.tiering.interfaces import Answer, Heat, Policy, Source, Statistics
    from anemone.tiering.machine import Machine, Units
    from anemone.tiering.result import TierResult, write
    from anemone.tiering.run import simulate

__all__ = [
    "Answer", "Heat", "Machine", "Migration", "Policy", "Source", "Statistics", "Tier",
    "TierConfig", "TierResult", "Tlb", "Units", "load_config", "parse_config", "simulate", "write",
]  # fmt: skip

_PLACES = {
    "config": ("Migration", "Tier", "TierConfig", "Tlb", "load_config", "parse_config"),
    "interfaces": ("Answer", "Heat", "Policy", "Source", "Statistics"),
    "machine": ("Machine", "Units"),
    "result": ("TierResult", "write"),
    "run": ("simulate",),
}


def __getattr__(name: str) -> Any:
    """Import the simulator on first use, so that configurations work without a compiler."""
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"anemone.tiering.{place}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
