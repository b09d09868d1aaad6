# SPDX-License-Identifier: Apache-2.0
"""Scales a machine down by k, so that a small simulation behaves like the whole machine.

Pages, bandwidths, migration limits and telemetry parameters that are proportional to memory are
divided by k. Latencies, the costs of samples, faults, copies and shootdowns and all CPU times are
multiplied by k; the trace's gaps must be, too. Then 1/k of the accesses go to 1/k of the pages in
the same time, so that intervals, sampling rates, accesses per page, reads in flight and the share
of tracked pages are unchanged. The last-level cache of a captured program has to scale with its
footprint. A copy of a page takes k times as long, so k times as many writes occur meanwhile: with
writes, on_write = "wait" scales but "restart" does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from anemone.tiering.config import Tier, TierConfig
from anemone.tiering.parameters import NONE, POLICIES, SOURCES, load
from anemone.trace import Trace


def scaled(config: TierConfig, k: int) -> TierConfig:
    """The machine scaled down by k. Raises ValueError if a part of it cannot be so small."""
    if k < 1:
        raise ValueError(f"scale {k}: at least 1")
    if config.flat and config.flat.dedicated != (0, 0):
        raise ValueError(f"scale {k}: dedicated memory has addresses, which do not scale")
    tlb = config.tlb
    if tlb:
        sets = tlb.entries // tlb.ways // k
        if not sets:
            raise ValueError(f"scale {k}: a TLB of {tlb.entries} entries is too small for it")
        tlb = replace(tlb, entries=sets * tlb.ways, walk_ns=tlb.walk_ns * k)
    migration = config.migration
    return replace(
        config,
        scale=config.scale * k,
        fast=_tier(config.fast, k),
        slow=_tier(config.slow, k),
        migration=replace(
            migration,
            gb_per_s=migration.gb_per_s / k,
            unmap_ns=migration.unmap_ns * k,
            shootdown_ns=migration.shootdown_ns * k,
        ),
        tlb=tlb,
        policy_with=_divided(config.policy, POLICIES, config.policy_with, k),
        telemetry_with=_divided(config.telemetry, SOURCES, config.telemetry_with, k),
    )


def stretched(batches: Iterable[Trace], k: int) -> Iterator[Trace]:
    """A trace for a machine scaled down by k: its gaps are k times as long."""
    for batch in batches:
        if k == 1 or batch.gap_ns is None:
            yield batch
        else:
            yield replace(batch, gap_ns=batch.gap_ns * k)


def _tier(tier: Tier, k: int) -> Tier:
    if tier.pages // k == 0 and tier.pages:
        raise ValueError(f"scale {k}: a tier of {tier.pages} pages is too small for it")
    return replace(
        tier, pages=tier.pages // k, latency_ns=tier.latency_ns * k, gb_per_s=tier.gb_per_s / k
    )


def _divided(name: str, registry: dict[str, str], given: dict[str, Any], k: int) -> dict[str, Any]:
    """The parameters, with those divided by k that are proportional to memory or accesses."""
    if name == NONE:
        return given
    parameters = dict(given)
    for one in fields(load(name, registry)):
        if not one.metadata.get("divide"):
            continue
        value = parameters.get(one.name, one.default)
        small = value / k if isinstance(value, float) else max(1, value // k)
        choices = one.metadata["choices"]
        if choices and small not in choices:
            raise ValueError(f"scale {k}: {one.name} would be {small}, which there is not")
        parameters[one.name] = small
    return parameters
