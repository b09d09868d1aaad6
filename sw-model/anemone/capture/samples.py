# SPDX-License-Identifier: Apache-2.0
"""Our four samples: programs, arguments and page placement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Part:
    """One program of a sample; the device sees it as one tenant.

    arguments: the program's arguments `name=value`, integers; the first comment of its source
    explains them.
    """

    program: str
    tenant: int
    arguments: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """A trace that `anemone capture` makes: the traces of `parts`, merged by time.

    settings: the sample's defaults that differ from Settings'.
    """

    name: str
    about: str
    parts: tuple[Part, ...]
    settings: dict[str, Any] = field(default_factory=dict)


SAMPLES = {
    sample.name: sample
    for sample in (
        Sample(
            "graph",
            "breadth-first search and PageRank on a Kronecker graph (Graph500's generator)",
            (Part("graph", 2, {"scale": 17, "edgefactor": 10}),),
            {"placement": "scattered", "events": 960_000},
        ),
        Sample(
            "sqlite",
            "SQLite in memory under a Zipf load: reads, updates, short scans by primary key",
            (Part("sqlite", 3, {"rows": 900_000, "updates": 5, "scans": 5}),),
            {"placement": "scattered", "events": 1_000_000},
        ),
        Sample(
            "kvstore",
            "hash-table store, 32 B keys, 1 KiB values, whose hot set moves half-way (NEMO §5.1)",
            (Part("kvstore", 0, {"keys": 150_000, "sets": 10, "hot": 20, "share": 90}),),
            {"events": 1_200_000},
        ),
        Sample(
            "stream",
            "a light key-value store beside bursts of non-temporal stores (NEMO §5.3)",
            (
                Part("kvstore", 0, {"keys": 60_000, "shift": 0, "think_ns": 1_000_000}),
                Part("stream", 1, {"mib": 16, "on_ms": 500, "off_ms": 500}),
            ),
            {"base_gib": 8, "events": 1_000_000},
        ),
    )
}
