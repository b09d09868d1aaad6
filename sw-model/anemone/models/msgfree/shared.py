# SPDX-License-Identifier: Apache-2.0
"""The latency of a receive's loads on two hosts' expander under load, from the hardware itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anemone.backends.rtl.share import CLOCK_MHZ, Setting, Shared, share

# DDR5-4800 of 16 Gb is refreshed for 295 ns each 3.9 us (tiering/drams.toml), in cycles at 400 MHz.
REFRESH_EVERY, REFRESH_FOR = 1560, 118
LOADS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9)


@dataclass(frozen=True)
class UnderLoad:
    """load: other work of both hosts, of what a channel can take; requests: of all, as accepted.

    mean, p50, p99: of a message's loads, ns from the receiver's port to its line.
    """

    load: float
    requests: float
    mean: float
    p50: float
    p99: float


def latency(
    load: float,
    messages: int = 400,
    in_flight: int = 1,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> UnderLoad:
    """One load, on the Verilated RTL. Raises BackendError."""
    setting = Setting(
        messages=messages, in_flight=in_flight, load=load, seed=seed,
        refresh_every=REFRESH_EVERY, refresh_for=REFRESH_FOR,
    )  # fmt: skip
    return _told(load, share(setting, progress))


def _told(load: float, found: Shared) -> UnderLoad:
    ns = 1000 / CLOCK_MHZ
    loads = found.loads
    return UnderLoad(
        load, found.requests, loads.mean * ns, loads.quantile(0.5) * ns, loads.quantile(0.99) * ns
    )


def added(under: Sequence[UnderLoad]) -> dict[float, float]:
    """By load: what it adds to the mean of the least load, ns."""
    least = min(under, key=lambda one: one.load)
    return {one.load: one.mean - least.mean for one in under}
