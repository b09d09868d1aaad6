# SPDX-License-Identifier: Apache-2.0
"""The fast model of flat memory mode equals the reference model, and is fast."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.flat import FlatConfig
from anemone.golden import flat, flat_fast
from anemone.io.errors import InputError
from tests.flat.strategies import configs, policies, traces

SEED = 20261121


def assert_same(
    config: FlatConfig,
    parts: list[tuple[np.ndarray, np.ndarray]],
    policies: Sequence[tuple[str, int]] = (),
) -> None:
    """Compare a trace in windows: outcomes, counts, tags and contents of all touched lines.

    policies: set before each window but the first.
    """
    fast, plain = flat_fast.FlatMemory(config), flat.FlatMemory(config)
    for number, (addr, write) in enumerate(parts):
        if policies and number:
            for memory in (fast, plain):
                memory.set_policy(*policies[number - 1])
        accesses = zip(addr.tolist(), write.tolist(), strict=True)
        expected = flat.replay(plain, accesses, fast.rows)
        assert fast.accesses(addr, write).tolist() == expected
        assert fast.counts == plain.counts
        assert fast.config == plain.config
    assert fast.rows == sum(len(addr) for addr, _ in parts)
    assert fast.mismatches == plain.mismatches == 0
    sets, tags = fast.sets()
    assert (sets.dtype, tags.dtype) == (np.uint64, np.uint8)
    assert list(zip(sets.tolist(), tags.tolist(), strict=True)) == list(plain.sets().items())
    held = fast.contents()
    for addr, _ in parts:
        assert {int(a) // 64 for a in addr} <= set(held)
    for p, word in held.items():
        assert plain.contents(p) == word.to_bytes(8, "little") * 8


@settings(max_examples=500)
@given(st.data())
def test_the_fast_model_equals_the_plain_one(data: st.DataObject) -> None:
    config = data.draw(configs())
    assert_same(config, [data.draw(traces(config)) for _ in range(data.draw(st.integers(1, 3)))])


@settings(max_examples=300)
@given(st.data())
def test_policies_that_change_between_windows(data: st.DataObject) -> None:
    """Few sets, so that counts of one policy are still there for the next one."""
    config = data.draw(configs(max_lines=3))
    parts = [data.draw(traces(config, 30)) for _ in range(data.draw(st.integers(2, 6)))]
    assert_same(config, parts, [data.draw(policies) for _ in parts[1:]])


@pytest.mark.parametrize(
    ("policy", "n"),
    [("always", 1), ("nth", 0), ("nth", 256), ("one_in", 0), ("one_in", 1 << 32), ("every", 0)],
)
def test_policies_that_there_are_none(policy: str, n: int) -> None:
    memory = flat_fast.FlatMemory(FlatConfig(4))
    with pytest.raises(ValueError, match="one of"):
        memory.set_policy(policy, n)
    assert memory.config == FlatConfig(4)


@given(st.data())
@settings(max_examples=100)
def test_windows_are_as_one_trace(data: st.DataObject) -> None:
    config = data.draw(configs())
    addr, write = data.draw(traces(config, 200))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(addr)), max_size=5)))
    whole, parts = flat_fast.FlatMemory(config), flat_fast.FlatMemory(config)
    outcomes = [
        parts.accesses(addr[first:last], write[first:last])
        for first, last in zip([0, *cuts], [*cuts, len(addr)], strict=True)
    ]
    assert whole.accesses(addr, write).tolist() == np.concatenate(outcomes).tolist()
    assert whole.counts == parts.counts and whole.contents() == parts.contents()
    assert [c.tolist() for c in whole.sets()] == [c.tolist() for c in parts.sets()]


def test_a_window_that_is_refused_does_nothing() -> None:
    memory = flat_fast.FlatMemory(FlatConfig(4))
    memory.accesses(np.array([256, 0], np.uint64), np.ones(2, bool))
    counts, contents = memory.counts, memory.contents()
    with pytest.raises(InputError, match="late: row 4: addr is 512"):
        memory.accesses(np.array([0, 512], np.uint64), np.ones(2, bool), name="late")
    with pytest.raises(ValueError, match="1 addresses, 2 flags"):
        memory.accesses(np.zeros(1, np.uint64), np.ones(2, bool))
    memory.rows = flat_fast.UNWRITTEN - 2  # as after so many
    with pytest.raises(ValueError, match="4294967288 accesses: not below"):
        memory.accesses(np.zeros(2, np.uint64), np.zeros(2, bool))
    assert (memory.counts, memory.contents()) == (counts, contents)


@pytest.mark.parametrize("policy", [("every", 1), ("nth", 2), ("one_in", 5), ("never", 1)])
@pytest.mark.parametrize("ratio", [1, 2, 3, 4])
def test_many_sets(ratio: int, policy: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and index grow repeatedly; sets are distant or adjacent."""
    monkeypatch.setattr(flat_fast, "_CHUNK", 300)
    rng = np.random.default_rng([SEED, ratio])
    near_lines = (1 << 40) + 12345
    config = FlatConfig(near_lines, ratio, (1 << 30, (1 << 30) + 6400), *policy)
    some = rng.integers(0, near_lines, 60, np.uint64)
    some = np.concatenate([some, some[:20] + np.uint64(1), np.arange(60, dtype=np.uint64)])
    n = 2000
    tags = rng.integers(0, ratio + 1, n, np.uint64)
    line = rng.choice(some, n) + tags * np.uint64(near_lines)
    alone = np.uint64(1 << 24) + rng.integers(0, 100, n, np.uint64)
    line = np.where(rng.random(n) < 0.1, alone, line)
    assert_same(config, [(line * np.uint64(64), rng.random(n) < 0.4)])


def test_a_read_of_wrong_data_is_a_mismatch() -> None:
    memory = flat_fast.FlatMemory(FlatConfig(4, 1))
    twice = np.array([64, 64], np.uint64), np.array([True, False])
    memory.accesses(*twice)
    memory._rows[0, flat_fast.R_CONTENTS] ^= np.uint64(1)
    memory.accesses(twice[0], np.zeros(2, bool))
    assert memory.mismatches == 2


def test_data_of_another_window_are_a_mismatch() -> None:
    """Row numbers continue, so the first writes of two windows have different data."""
    memory = flat_fast.FlatMemory(FlatConfig(4, 1))
    line, write = np.zeros(1, np.uint64), np.ones(1, bool)
    memory.accesses(line, write)
    stale = memory._rows[0, flat_fast.R_CONTENTS]
    memory.accesses(line, write)
    memory.accesses(line, ~write)
    assert memory.mismatches == 0
    memory._rows[0, flat_fast.R_CONTENTS] = stale
    memory.accesses(line, ~write)
    assert memory.mismatches == 1


def test_progress() -> None:
    n = 2 * flat_fast._CHUNK + 5
    progress: list[tuple[int, int]] = []
    memory = flat_fast.FlatMemory(FlatConfig(16))
    memory.accesses(
        np.zeros(n, np.uint64),
        np.zeros(n, bool),
        lambda done, total: progress.append((done, total)),
    )
    assert progress == [(flat_fast._CHUNK, n), (2 * flat_fast._CHUNK, n), (n, n)]
    assert memory.counts.hits == n
