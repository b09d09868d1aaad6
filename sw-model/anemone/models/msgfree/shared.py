# SPDX-License-Identifier: Apache-2.0
"""The latency of a receive's loads on two hosts' expander under load, from the hardware itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anemone.backends.rtl.share import CLOCK_MHZ, Setting, Shared, share
from anemone.tiering.drams import drams

DRAM = "ddr5-4800"  # how often the memory is refreshed, and for how long (tiering/drams.toml)
_NS = 1000 / CLOCK_MHZ  # of a cycle
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
    dram = drams()[DRAM]
    setting = Setting(
        messages=messages, in_flight=in_flight, load=load, seed=seed,
        refresh_every=round(dram.refi / _NS), refresh_for=round(dram.rfc / _NS),
    )  # fmt: skip
    return _under_load(load, share(setting, progress))


def _under_load(load: float, found: Shared) -> UnderLoad:
    loads = found.loads
    cycles = (loads.mean, loads.quantile(0.5), loads.quantile(0.99))
    return UnderLoad(load, found.requests, *(each * _NS for each in cycles))


def added(under: Sequence[UnderLoad]) -> dict[float, float]:
    """By load: what it adds to the mean of the least load, ns."""
    lightest = min(under, key=lambda one: one.load)
    return {one.load: one.mean - lightest.mean for one in under}
