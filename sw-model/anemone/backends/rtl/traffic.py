# SPDX-License-Identifier: Apache-2.0
"""Synthetic traffic for the benchmark, which uses a slot of every channel in every cycle.

Rows alternate between the channels, so that all channels have work until the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anemone.backends.rtl.job import WRITE, LineReads, event_rows, read_rows, with_ids
from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.telemetry.rules import U64, WIDTHS, Rule, identity_map
from anemone.trace import Trace

PAGE_SHIFT = 12

# Makes rows for `cycles` cycles on every channel: (generator, geometry, cycles) -> uint64[n].
Kind = Callable[[np.random.Generator, Geometry, int], np.ndarray]


def bench_rules(geometry: Geometry, count: int, serial_rmw: bool = False) -> list[Rule]:
    """Rules of all kinds that match most of the traffic: ops and widths in turn, identity maps.

    serial_rmw: every read effect is an update op; otherwise resets and none in turn.
    """
    rules = []
    ops = geometry.features.ops
    for i in range(count):
        width = WIDTHS[(3 - i) % len(WIDTHS)]
        # Mapped pages, a counter each; in every other rule the lines of a page count apart.
        effect = "add" if serial_rmw else ("reset", "none")[i % 2]
        rules.append(
            Rule(
                name=f"rule {i}",
                end=geometry.device_bytes,
                primary_mask=(geometry.table << PAGE_SHIFT) - 1,
                primary_shift=PAGE_SHIFT,
                sub_mask=(1 << PAGE_SHIFT) - 1 if i % 2 else 0,
                sub_shift=9,
                op=ops[i % len(ops)],
                operand=1 + i,
                operand_kind="line" if i == 4 else "imm",
                width=width,
                notify_op="ge" if i % 3 == 0 else "none",
                notify_operand=100 & U64,
                effect_op=effect,
                effect_operand=i,
                map=identity_map(geometry, width),
            )
        )
    return rules


def _events(rng: np.random.Generator, geometry: Geometry, line: np.ndarray) -> np.ndarray:
    """One event per cycle and channel. line: line numbers within a channel, (cycles, channels)."""
    lines = geometry.device_bytes // LINE_BYTES // geometry.channels
    channel = np.arange(geometry.channels, dtype=np.uint64)
    line = line.astype(np.uint64) % np.uint64(lines)
    addr = (line * np.uint64(geometry.channels) + channel) * np.uint64(LINE_BYTES)
    return event_rows(Trace(addr.ravel(), rng.random(addr.size) < 0.3))


def random(rng: np.random.Generator, geometry: Geometry, cycles: int) -> np.ndarray:
    """Random lines of the device."""
    shape = (cycles, geometry.channels)
    return _events(rng, geometry, rng.integers(0, 1 << 40, shape))


def same_state(rng: np.random.Generator, geometry: Geometry, cycles: int) -> np.ndarray:
    """Always the same line, so that every update depends on the one before."""
    return _events(rng, geometry, np.full((cycles, geometry.channels), 5))


def strided(rng: np.random.Generator, geometry: Geometry, cycles: int) -> np.ndarray:
    """Several strides in turn: to the next line, state word, state line and page."""
    step = rng.permutation(np.array([1, 8, 64, 512]))
    stride = np.repeat(step, -(-cycles // len(step)))[:cycles]
    line = np.cumsum(stride)[:, None] + np.zeros(geometry.channels, np.int64)
    return _events(rng, geometry, line)


def reads(rng: np.random.Generator, geometry: Geometry, cycles: int) -> np.ndarray:
    """Only reads, of random lines of all pipelines, half of them with effect."""
    return _mixed(rng, geometry, cycles, 0.0)


def mixed(rng: np.random.Generator, geometry: Geometry, cycles: int) -> np.ndarray:
    """Events and reads in random order, half of them on few lines, so that they conflict."""
    return _mixed(rng, geometry, cycles, 0.5)


def mostly_events(rng: np.random.Generator, geometry: Geometry, cycles: int) -> np.ndarray:
    """A read now and then: a serial RMW has eight slots, and events wait behind it."""
    rows = _mixed(rng, geometry, cycles, 0.97)
    # A read uses a slot only if no event waits, so final reads show that all slots were used.
    last = LineReads(*(np.zeros(geometry.channels, np.uint64) for _ in range(4)))
    last.channel[:] = np.arange(geometry.channels)
    return np.concatenate([rows, read_rows(last)])


def readout(ids: int, every: int) -> Kind:
    """Reads of random lines in both windows; every `every`-th is a memory read; `ids` AXI ids."""

    def rows(rng: np.random.Generator, geometry: Geometry, cycles: int) -> np.ndarray:
        events = _mixed(rng, geometry, cycles, 1.0)
        memory = np.repeat(np.arange(cycles) % every == 0, geometry.channels)
        mine = np.where(memory, events, reads(rng, geometry, cycles))
        return with_ids(mine, rng.integers(0, ids, len(mine)))

    return rows


def _mixed(rng: np.random.Generator, geometry: Geometry, cycles: int, events: float) -> np.ndarray:
    shape = (cycles, geometry.channels)
    near = rng.random((cycles, 1)) < 0.5  # half of the cycles stay within one page
    line = np.where(near, rng.integers(0, 64, shape), rng.integers(0, 1 << 40, shape))
    chosen = LineReads(
        channel=np.broadcast_to(np.arange(geometry.channels), shape).ravel(),
        pipeline=rng.integers(0, geometry.pipelines, shape).ravel(),
        line=np.where(near, 0, rng.integers(0, geometry.lines, shape)).ravel(),
        # As the kind below the same on all channels: a serial RMW takes as many slots on each.
        effect=np.broadcast_to(rng.random((cycles, 1)) < 0.5, shape).ravel(),
    )
    event = np.broadcast_to(rng.random((cycles, 1)) < events, shape).ravel()
    # Only reads of memory: AXI does not order reads and writes, so a write would wait for earlier
    # lines.
    loads = _events(rng, geometry, line) & ~np.uint64(1 << WRITE)
    return np.where(event, loads, read_rows(chosen))
