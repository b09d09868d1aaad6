# SPDX-License-Identifier: Apache-2.0
"""Memstrata by what the Verilated expander counts of each machine, in flat memory mode."""

from __future__ import annotations

from anemone.cosim import Tools
from tests.memstrata.test_tenants import decisions


def test_the_same_decisions(tools: Tools) -> None:
    """The same counts and exchanges as by the golden model's."""
    assert decisions("rtl") == decisions("model")
