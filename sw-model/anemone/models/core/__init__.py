# SPDX-License-Identifier: Apache-2.0
"""A model of server cores and their memory: programs in, Intel's counters and run times out.

machines.toml sizes, with sources; build.py compiles sim/core; model.py runs it; instructions.py
turns captured instructions into operations. docs/core-model.md says what it does and does not do.
"""

from anemone.models.core.instructions import operations_of
from anemone.models.core.model import (
    OPERATION,
    Kernel,
    Machine,
    Memory,
    Owned,
    Placed,
    Run,
    Tier,
    machine,
    parts_of,
    simulate,
    tier,
)

__all__ = [
    "OPERATION",
    "Kernel",
    "Machine",
    "Memory",
    "Owned",
    "Placed",
    "Run",
    "Tier",
    "machine",
    "operations_of",
    "parts_of",
    "simulate",
    "tier",
]
