# SPDX-License-Identifier: Apache-2.0
"""Golden models, which the hardware must equal bit for bit.

`nemo` and `flat` are simple and follow the papers. `fast` and `flat_fast` do the same for arrays,
at 10 M events/s and more; programs use these: `Telemetry` and `FlatMemory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anemone.golden.fast import Telemetry
    from anemone.golden.flat_fast import FlatMemory

__all__ = ["FlatMemory", "Telemetry"]


def __getattr__(name: str) -> Any:
    """Import the fast models on first use, because the simple ones, which benches use, need no
    compiler."""
    if name == "Telemetry":
        from anemone.golden import fast

        return fast.Telemetry
    if name == "FlatMemory":
        from anemone.golden import flat_fast

        return flat_fast.FlatMemory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
