# SPDX-License-Identifier: Apache-2.0
"""Golden models: what the hardware must equal, bit for bit.

`nemo` and `flat` are plain and read like the papers; `fast` and `flat_fast` are the same meaning
for arrays, at 10 M events/s and more. The fast ones are what programs use: `Telemetry` and
`FlatMemory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anemone.golden.fast import Telemetry
    from anemone.golden.flat_fast import FlatMemory

__all__ = ["FlatMemory", "Telemetry"]


def __getattr__(name: str) -> Any:
    """Import the fast models on first use: the plain ones, which the benches use, need no
    compiler."""
    if name == "Telemetry":
        from anemone.golden import fast

        return fast.Telemetry
    if name == "FlatMemory":
        from anemone.golden import flat_fast

        return flat_fast.FlatMemory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
