# SPDX-License-Identifier: Apache-2.0
"""Runs every policy on one trace, for `anemone tier compare`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.tiering.config import Tier, TierConfig, made
from anemone.tiering.devices import device
from anemone.tiering.parameters import NONE
from anemone.tiering.run import Progress, simulate
from anemone.trace import Trace

OPTIMUM = "optimum"  # the best static placement, without a policy
# The default comparison: each policy with its published telemetry, or the telemetry that NEMO's
# paper gives it.
PAIRS = (
    (NONE, NONE), (OPTIMUM, NONE), ("hottest", "oracle"), ("hemem", "pebs"), ("hemem", "nemo"),
    ("memtis", "pebs"), ("memtis", "nemo"), ("tpp", "hint-faults"),
    ("numa-balancing", "hint-faults"), ("damos", "scan"), ("colloid", "pebs"),
)  # fmt: skip
# A policy's published parameters of a source, if they are not the source's defaults.
PUBLISHED = {("memtis", "pebs"): {"period": 199, "quota": 0.03}}  # htmm_sample_period, and 3 %
FILE = "compare.json"
_OUTSTANDING, _POSTED = 10, 48


@dataclass(frozen=True)
class Compared:
    """A run: policy, telemetry, and its report or the reason why it could not run (`refused`)."""

    policy: str
    telemetry: str
    report: dict[str, Any] | None
    refused: str = ""


def sized(
    trace: Callable[[], Iterable[Trace]], page_bytes: int, share: float, name: str
) -> TierConfig:
    """A machine for a trace: its fast tier holds a share of the touched pages, at least one.

    name: the device in devices.toml.
    """
    touched = np.zeros(0, np.uint64)
    for batch in trace():
        pages = np.unique(batch.addr // np.uint64(page_bytes))
        touched = np.union1d(touched, pages)
    fast = max(1, int(len(touched) * share))
    one = device(name)
    return TierConfig(
        page_bytes, _OUTSTANDING, Tier(fast, *one.fast), Tier(len(touched) + 1, *one.slow), _POSTED
    )


def compare(
    base: TierConfig,
    trace: Callable[[], Iterable[Trace]],
    pairs: Iterable[tuple[str, str]],
    geometry: Geometry,
    progress: Progress | None = None,
    name: object = "trace",
) -> Iterator[Compared]:
    """Run the pairs one after the other.

    base: the machine. Its parameters apply to its own policy and source; others have their
    published parameters. If a source needs a column that the trace does not have, the run is
    refused.
    """
    columns = set(next(iter(trace())).columns)
    for policy, telemetry in pairs:
        config = replace(
            base,
            policy=NONE if policy == OPTIMUM else policy,
            start=OPTIMUM if policy == OPTIMUM else base.start,
            telemetry=telemetry,
            policy_with=base.policy_with if policy == base.policy else {},
            telemetry_with=(
                base.telemetry_with
                if telemetry == base.telemetry
                else PUBLISHED.get((policy, telemetry), {})
            ),
        )
        decides, source = made(config)
        missing = [c for c in (source.needs if source else ()) if c not in columns]
        if missing:
            yield Compared(policy, telemetry, None, f"the trace has no column {missing[0]}")
            continue
        result = simulate(config, trace, decides, source, geometry, progress, name)
        yield Compared(policy, telemetry, result.report)
