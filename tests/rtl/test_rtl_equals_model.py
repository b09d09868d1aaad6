# SPDX-License-Identifier: Apache-2.0
"""The RTL equals the golden model: random rules, tables, traces and reads on small engines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anemone.backends import rtl
from anemone.backends.rtl.expect import expected
from anemone.backends.rtl.job import LineReads, event_rows, read_rows
from anemone.hardware.geometry import Geometry
from anemone.replay import replay
from anemone.replay.result import differences
from anemone.telemetry.rules import EFFECTS, OPERANDS, WIDTHS, Rule, identity_map
from anemone.trace import Trace
from tests.model.strategies import events, rules
from tests.rtl.geometries import ALL, TYPICAL, WIDE

SEED = 20261121
SPACE = 1 << 16  # size of the events' address range, bytes

engines = pytest.mark.parametrize("geometry", ALL, ids=lambda g: g.key)
# Each example starts the engine, which takes 20 ms.
examples = settings(max_examples=60, suppress_health_check=list(HealthCheck), print_blob=True)


def assert_equal(rules: list[Rule], trace: Trace, geometry: Geometry) -> None:
    result = rtl.run(rules, trace, geometry)
    assert differences(result, replay(rules, trace, geometry, "model")) == []


@engines
@examples
@given(data=st.data())
def test_replay(geometry: Geometry, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, geometry.pipelines))
    drawn = [data.draw(rules(geometry, f"rule {i}")) for i in range(count)]
    assert_equal(drawn, Trace(*data.draw(events(150))), geometry)


def random_trace(rng: np.random.Generator, n: int, geometry: Geometry) -> Trace:
    """Bursts on few addresses mixed with random ones, on all channels."""
    few = rng.integers(0, SPACE, 4, np.uint64)
    addr = np.where(rng.random(n) < 0.6, rng.choice(few, n), rng.integers(0, SPACE, n, np.uint64))
    return Trace(addr, rng.random(n) < 0.5)


def spread_rule(name: str, width: int, geometry: Geometry) -> Rule:
    """A rule that spreads SPACE over the whole table."""
    return Rule(
        name=name,
        end=SPACE,
        primary_shift=17 - geometry.table.bit_length(),
        width=width,
        map=identity_map(geometry, width),
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("geometry", "effect"),
    [(g, effect) for g in (TYPICAL, WIDE) for effect in g.features.of_effects(EFFECTS)],
    ids=lambda x: x if isinstance(x, str) else x.key,
)
def test_every_effect_with_every_op(geometry: Geometry, effect: str, width: int) -> None:
    """Each effect and width with two ops, read every few events, with the standard and all ops."""
    rng = np.random.default_rng([SEED, width, EFFECTS.index(effect)])
    trace = random_trace(rng, 200, geometry)
    ops = geometry.features.ops
    some = rng.permutation(len(ops))[:2]
    pair = [
        replace(
            spread_rule(f"rule {i}", width, geometry),
            op=ops[op],
            operand=int(rng.integers(1, 1 << 62)) if i else int(rng.integers(1, 8)),
            operand_kind=OPERANDS[rng.integers(len(OPERANDS))],
            effect_op=effect,
            effect_operand=int(rng.integers(1, 1 << width, dtype=np.uint64)) if i else 3,
            notify_op="ge",
            notify_operand=int(rng.integers(1, 1 << 8)),
            read_every=(7, 40)[i],
        )
        for i, op in enumerate(some)
    ]
    assert_equal(pair, trace, geometry)


@engines
def test_reads_between_any_events(geometry: Geometry) -> None:
    """Line reads at any place between events, with snapshots and all effects."""
    rng = np.random.default_rng([SEED, geometry.channels])
    n, ops = 2000, geometry.features.ops
    for effect in ("reset", "none", "xor", "max"):
        chosen = [
            replace(
                spread_rule(f"rule {p}", WIDTHS[p % 4], geometry),
                op=ops[rng.integers(len(ops))],
                operand=int(rng.integers(1, 100)),
                effect_op=effect,
                effect_operand=int(rng.integers(1 << 8)),
            )
            for p in range(geometry.pipelines)
        ]
        reads = LineReads(
            channel=rng.integers(0, geometry.channels, n),
            pipeline=rng.integers(0, geometry.pipelines, n),
            line=rng.integers(0, geometry.lines, n) * (rng.random(n) < 0.5),
            effect=rng.random(n) < 0.6,
        )
        rows = np.where(
            rng.random(n) < 0.5, event_rows(random_trace(rng, n, geometry)), read_rows(reads)
        )
        run = rtl.run_rows(chosen, rows, geometry)
        result, lines = expected(chosen, rows, geometry)
        assert differences(run.result, result) == []
        assert np.array_equal(run.lines, lines)


def test_all_events_on_one_channel_and_periodic_reads_of_the_others() -> None:
    """Channels without events reach their reads early and wait."""
    addr = np.full(500, 0x40, np.uint64)
    rule = replace(spread_rule("one", 16, TYPICAL), effect_op="add", read_every=3)
    assert_equal([rule], Trace(addr, np.ones(500, bool)), TYPICAL)


def test_full_rate() -> None:
    """Every channel gets an event in each cycle, also with periodic reads."""
    n = 4000
    addr = np.arange(n, dtype=np.uint64) * np.uint64(64) % np.uint64(SPACE)
    trace = Trace(addr, np.zeros(n, bool))
    rule = spread_rule("one", 64, TYPICAL)
    assert rtl.run([rule], trace, TYPICAL).cycles == n // 2
    often = replace(rule, effect_op="reset", read_every=100)
    readouts = n // often.read_every
    assert rtl.run([often], trace, TYPICAL).cycles == n // 2 + readouts * TYPICAL.lines


def test_progress_reaches_its_end_in_order() -> None:
    progress: list[tuple[int, int]] = []
    trace = random_trace(np.random.default_rng(SEED), 300_000, TYPICAL)
    rule = replace(spread_rule("one", 64, TYPICAL), read_every=1000)
    rtl.run([rule], trace, TYPICAL, lambda done, total: progress.append((done, total)))
    assert progress and progress == sorted(progress) and progress[-1][0] <= progress[-1][1]
    assert len({total for _, total in progress}) == 1
