# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode: its configuration, traces on either backend, and their results.

docs/flat.md is the specification; anemone.golden.flat is its reference model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anemone.flat.config import POLICIES, FlatConfig, load_config, parse_config
from anemone.flat.result import (
    DEDICATED,
    FILES,
    HIT,
    MISS,
    SWAP,
    Counts,
    FlatResult,
    differences,
    write,
)

if TYPE_CHECKING:
    from anemone.flat.replay import run

__all__ = [
    "DEDICATED", "FILES", "HIT", "MISS", "POLICIES", "SWAP", "Counts", "FlatConfig", "FlatResult",
    "differences", "load_config", "parse_config", "run", "write",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import `run` on first use, so that configurations work without a compiler."""
    if name == "run":
        from anemone.flat.replay import run

        return run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
