# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode: what it is set to, a trace through it on either backend, and what that gives.

docs/flat.md is the contract; anemone.golden.flat is the model that says it in Python.
"""

from anemone.flat.config import POLICIES, FlatConfig, load_config, parse_config
from anemone.flat.replay import run
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

__all__ = [
    "DEDICATED", "FILES", "HIT", "MISS", "POLICIES", "SWAP", "Counts", "FlatConfig", "FlatResult",
    "differences", "load_config", "parse_config", "run", "write",
]  # fmt: skip
