# SPDX-License-Identifier: Apache-2.0
"""Runs the Verilated controller of flat memory mode and converts its output to a FlatResult."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from anemone.backends.rtl.builder import SIMULATORS, build
from anemone.backends.rtl.drive import run_program
from anemone.backends.rtl.job import write_trace
from anemone.backends.rtl.simulators import flat_memory
from anemone.flat.config import POLICIES, FlatConfig
from anemone.flat.result import Counts, FlatResult
from anemone.hardware.geometry import Geometry
from anemone.trace import Trace

Progress = Callable[[int, int], None]

MAGIC = int.from_bytes(b"ANEMFLT1", "little")
_SET = np.dtype([("set", "<u8"), ("tag", "<u8")])  # a record of the harness (sim/flat/run.h)


@dataclass(frozen=True)
class Memories:
    """The memories below the controller, in cycles; sim/flat/memory.h defines their behaviour.

    latency: of a read in idle memory. interval: between two accesses. The defaults are 114 ns and
    380 ns at 400 MHz, and a bandwidth ratio of 7 to 1 (NEMO §4). jitter: most cycles of a random
    delay of responses, by `seed`; above 0 responses are reordered. ids: number of AXI ids that the
    host cycles through, up to 4096.
    """

    near_latency: int = 46
    near_interval: int = 1
    far_latency: int = 152
    far_interval: int = 7
    jitter: int = 0
    seed: int = 1
    ids: int = 256


@dataclass(frozen=True)
class FlatRun:
    """A FlatResult and values that only the RTL has.

    ports: accesses at the ports; together with result.forwarded they equal the accesses in counts.
    user_seconds: CPU time of the run.
    """

    result: FlatResult
    ports: dict[str, int]
    user_seconds: float


def run(
    config: FlatConfig, trace: Trace, geometry: Geometry, progress: Progress | None = None
) -> FlatResult:
    """Run a trace on the controller, which is built if necessary. Raises BackendError.

    progress: called with (accesses answered so far, all accesses).
    """
    return run_memories(config, trace, geometry, Memories(), progress).result


def run_memories(
    config: FlatConfig,
    trace: Trace,
    geometry: Geometry,
    memories: Memories,
    progress: Progress | None = None,
) -> FlatRun:
    """`run` with other memories."""
    program = build(flat_memory(config.ratio, geometry.address_bits))
    with tempfile.TemporaryDirectory(prefix="run-", dir=SIMULATORS) as name:
        folder = Path(name)
        write_job(folder / "job", config, geometry, memories)
        write_trace(folder / "trace", trace)
        report = run_program([program, "run", folder / "job", folder / "trace", folder], progress)
        outcomes = np.fromfile(folder / "outcomes", np.uint8)
        moved = np.fromfile(folder / "sets", _SET)
    counts = Counts(**{f.name: report[f.name] for f in fields(Counts)})
    result = FlatResult(
        counts, moved["set"].astype(np.uint64), moved["tag"].astype(np.uint8), outcomes,
        report["mismatches"], report["seconds"], report["cycles"], report["forwarded"],
    )  # fmt: skip
    names = ("near_reads", "near_writes", "far_reads", "far_writes")
    ports = {name: report[f"port_{name}"] for name in names}
    return FlatRun(result, ports, report["user_seconds"])


def write_job(path: Path, config: FlatConfig, geometry: Geometry, memories: Memories) -> None:
    """Write the words that sim/flat/job.cpp reads."""
    dedicated = config.dedicated_lines
    words = [MAGIC, config.ratio, geometry.address_bits]
    words += [config.near_lines, dedicated.start, dedicated.stop]
    words += [POLICIES.index(config.policy), config.n, *asdict(memories).values()]
    np.array(words, "<u8").tofile(path)
