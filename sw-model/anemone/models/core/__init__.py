# SPDX-License-Identifier: Apache-2.0
"""A model of server cores and their memory: it runs programs and returns Intel's counters and
times.

machines.toml has the sizes and their sources. build.py compiles sim/core, model.py runs it, and
instructions.py converts captured instructions to operations. docs/core-model.md describes the
model and its limits.
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
