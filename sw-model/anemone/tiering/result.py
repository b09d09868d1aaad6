# SPDX-License-Identifier: Apache-2.0
"""The result of a simulator run, and its output files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anemone.io.outputs import ROW_GROUP, parquet_writer, write_files, write_json

FILES = ("timeline.parquet", "report.json")
PERCENTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99, "p999": 0.999}
# Columns of the timeline and their types; columns of requests follow them.
COLUMNS = {
    "time_ns": np.float64,
    "throughput": np.float64,
    "fast_accesses": np.int64,
    "slow_accesses": np.int64,
    "fast_pages": np.int64,
    "slow_pages": np.int64,
    "promoted": np.int64,
    "demoted": np.int64,
    "migrated_bytes": np.int64,
}

# Columns of the timeline of a run on samples.
SAMPLED = {
    "time_ns": np.float64,
    "hit_ratio": np.float64,
    "weight": np.float64,
    "samples": np.int64,
    "promoted": np.int64,
    "demoted": np.int64,
}


@dataclass(frozen=True)
class TierResult:
    """The result of a run. Times are simulated ns, except `seconds`, which is wall-clock time.

    accesses: (fast, slow). timeline: columns by name, one row per interval. latency: percentiles of
    all requests, None without the column `op`. extra: further counts of policy, source and
    migration.
    """

    time_ns: float
    accesses: tuple[int, int]
    promoted: int
    demoted: int
    migrated_bytes: int
    telemetry_cpu_ns: float
    policy_cpu_ns: float
    seconds: float
    timeline: dict[str, np.ndarray]
    latency: dict[str, float] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def report(self) -> dict[str, Any]:
        """The content of report.json."""
        fast, slow = self.accesses
        rate = (fast + slow) / self.seconds if self.seconds > 0 else 0.0
        report: dict[str, Any] = {
            "time_ns": self.time_ns,
            "accesses": {"fast": fast, "slow": slow},
            "promoted": self.promoted,
            "demoted": self.demoted,
            "migrated_bytes": self.migrated_bytes,
            "telemetry_cpu_ns": self.telemetry_cpu_ns,
            "policy_cpu_ns": self.policy_cpu_ns,
            "accesses_per_second": round(rate, 1),
        }
        if self.latency is not None:
            report["latency_ns"] = self.latency
        return {**report, **self.extra}


def percentiles(latency: np.ndarray) -> dict[str, float]:
    """Percentiles of latencies float64[n], n > 0: the least value that a share does not exceed."""
    found = np.quantile(latency, list(PERCENTILES.values()), method="inverted_cdf")
    return dict(zip(PERCENTILES, found.tolist(), strict=True))


def request_columns(interval_of: np.ndarray, latency: np.ndarray, rows: int) -> dict[str, Any]:
    """The timeline's columns of requests: their number, and their percentiles, NaN without
    requests.

    interval_of: int64[n], the row of each request.
    """
    columns = {"requests": np.bincount(interval_of, minlength=rows)}
    columns |= {f"{name}_ns": np.full(rows, np.nan) for name in PERCENTILES}
    order = np.argsort(interval_of, kind="stable")
    ends = np.cumsum(columns["requests"])
    for row in np.flatnonzero(columns["requests"]).tolist():
        some = order[ends[row] - columns["requests"][row] : ends[row]]
        for name, value in percentiles(latency[some]).items():
            columns[f"{name}_ns"][row] = value
    return columns


def write(result: TierResult, out: str | os.PathLike) -> None:
    """Write report.json and timeline.parquet to the folder `out`, both or none
    (anemone.io.outputs).

    Raises InputError if `out` cannot be written.
    """
    write_both(result.report, result.timeline, out)


def write_both(
    report: dict[str, Any], timeline: dict[str, np.ndarray], out: str | os.PathLike
) -> None:
    """`write` for a report and a timeline."""
    write_files(
        out,
        {
            "timeline.parquet": lambda path: _write_timeline(path, timeline),
            "report.json": lambda path: write_json(path, report),
        },
    )


def _write_timeline(path: Path, timeline: dict[str, np.ndarray]) -> None:
    import pyarrow as pa

    table = pa.table(
        {name: pa.array(values, from_pandas=True) for name, values in timeline.items()}
    )
    with parquet_writer(path, table.schema) as writer:
        writer.write_table(table, row_group_size=ROW_GROUP)
