# SPDX-License-Identifier: Apache-2.0
"""Replay's results equal the reference model's, and equal results are written as equal bytes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anemone.golden import fast, nemo
from anemone.hardware.geometry import Geometry
from anemone.io import outputs
from anemone.io.errors import InputError
from anemone.replay import replay
from anemone.replay import result as results
from anemone.replay.result import Counters, Reads, Result, States, differences, no_reads, write
from anemone.telemetry.rules import Rule
from anemone.trace import Trace
from tests.model.strategies import events, geometries, rules

STATES = [(0, 5, 0, 7), (0, 5, 1, 8), (0, 9, 0, 1), (1, 0, 1, (1 << 64) - 1)]
READS = [(0, 10, 5, 0, 1), (0, 10, 5, 1, 1), (0, 20, 5, 0, 2), (1, 10, 3, 1, 4)]
COUNTERS = (Counters("a", 1, 2, 3, 4), Counters("b", 5, 6, 7, 8))


def result(states: list = STATES, reads: list = READS, **more: object) -> Result:
    fields = {"counters": COUNTERS, "events": 30, "cycles": 0, "seconds": 2.0, **more}
    return Result(
        States(*np.array(states, np.uint64).reshape(-1, 4).T),
        Reads(*np.array(reads, np.uint64).reshape(-1, 5).T),
        **fields,  # type: ignore[arg-type]
    )


@settings(max_examples=100)
@given(st.data())
def test_replay_equals_the_plain_model(data: st.DataObject) -> None:
    """Results of several rules on one trace are in the canonical order."""
    geometry = data.draw(geometries)
    names = "abc"[: data.draw(st.integers(1, 3))]
    chosen = [data.draw(rules(geometry, name)) for name in names]
    addr, flags = data.draw(events())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast, "_CHUNK", 7)
        done = replay(chosen, Trace(addr, flags), geometry, "model")
    states, reads, counters = [], [], []
    for i, rule in enumerate(chosen):
        t = nemo.Telemetry(rule, geometry)
        reads += [(i, *r) for r in nemo.replay(t, zip(addr.tolist(), flags.tolist(), strict=True))]
        states += [(i, *s) for s in t.nonzero()]
        counters.append(Counters(rule.name, t.matched, t.unmapped, t.out_of_range, t.notifications))
    plain = Result(
        States(*np.array(states, np.uint64).reshape(-1, 4).T),
        Reads(*np.array(reads, np.uint64).reshape(-1, 5).T),
        counters, len(addr), 0, 1.0,
    )  # fmt: skip
    assert differences(done, plain) == []
    assert done.report["rules"] == plain.report["rules"]


def test_no_such_engine() -> None:
    with pytest.raises(ValueError, match="no backend"):
        replay([], Trace(np.zeros(1, np.uint64), np.zeros(1, bool)), Geometry(), "fpga")


def test_progress_reaches_its_end() -> None:
    trace = Trace(np.zeros(10, np.uint64), np.zeros(10, bool))
    seen: list[tuple[int, int]] = []
    replay([Rule(name="a", end=1), Rule(name="b", end=1)], trace, Geometry(), "model",
           lambda *step: seen.append(step))  # fmt: skip
    assert seen[-1] == (20, 20)


def test_files(tmp_path: Path) -> None:
    write(result(), tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert sorted(p.name for p in folder.iterdir()) == sorted(results.FILES)
    states, reads = (pq.read_table(folder / f"{n}.parquet") for n in ("states", "reads"))
    assert [(f.name, str(f.type)) for f in states.schema] == [
        ("rule", "string"), ("index", "uint64"), ("channel", "uint8"), ("value", "uint64"),
    ]  # fmt: skip
    assert [(f.name, str(f.type)) for f in reads.schema] == [
        ("rule", "string"), ("event", "uint64"), ("index", "uint64"), ("channel", "uint8"),
        ("value", "uint64"),
    ]  # fmt: skip
    rows = zip(*states.to_pydict().values(), strict=True)
    assert list(rows) == [("ab"[r], *rest) for r, *rest in STATES]
    rows = zip(*reads.to_pydict().values(), strict=True)
    assert list(rows) == [("ab"[r], *rest) for r, *rest in READS]
    assert json.loads((folder / "report.json").read_text()) == {
        "events": 30,
        "rules": [
            {"name": "a", "matched": 1, "unmapped": 2, "out_of_range": 3, "notifications": 4},
            {"name": "b", "matched": 5, "unmapped": 6, "out_of_range": 7, "notifications": 8},
        ],
        "cycles": 0,
        "events_per_second": 15.0,
    }


@settings(max_examples=20)
@given(st.permutations(STATES), st.permutations(READS))
def test_equal_results_are_equal_bytes(
    tmp_path_factory: pytest.TempPathFactory, states: list, reads: list
) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    write(result(), folder / "a")
    write(result(states, reads, cycles=99, seconds=3.0), folder / "b")
    for name in ("states.parquet", "reads.parquet"):
        assert (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes()


def test_many_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "ROW_GROUP", 100)
    n = 1234
    rows = [(i % 2, i, 0, i + 1) for i in range(n)]
    write(result(rows), tmp_path)
    file = pq.ParquetFile(tmp_path / "states.parquet")
    assert file.num_row_groups == 13
    table = file.read().to_pydict()
    expected = sorted(rows)
    assert table["index"] == [r[1] for r in expected]
    assert table["rule"] == ["ab"[r[0]] for r in expected]


def test_no_rows(tmp_path: Path) -> None:
    nothing = Result(States(*[np.empty(0)] * 4), no_reads(), COUNTERS, 1, 0, 0.0)
    write(nothing, tmp_path)
    assert pq.read_table(tmp_path / "states.parquet").num_rows == 0
    assert pq.read_table(tmp_path / "reads.parquet").column_names[1] == "event"
    assert nothing.report["events_per_second"] == 0.0


def test_differences() -> None:
    assert differences(result(), result(cycles=5, seconds=1.0)) == []
    other = result([*STATES[:3], (1, 0, 1, 3)], READS[:3], counters=(COUNTERS[0], Counters("b")))
    text = "\n".join(differences(result(), other))
    assert "states: row 4:" in text and "'value': 3" in text
    assert "reads: 4 and 3 non-zero values" in text and "no row" in text
    assert "Counters(name='b', matched=5" in text
    assert differences(result(events=1), result()) == ["events: 1 and 30"]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        States(np.zeros(2), np.zeros(2), np.zeros(1), np.zeros(2))


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(result(), tmp_path / "old")
    before = {p.name: p.read_bytes() for p in (tmp_path / "old").iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs.json, "dumps", full)
    for name in ("old", "new/deep"):
        with pytest.raises(InputError, match="No space left on device"):
            write(result(STATES[:1]), tmp_path / name)
    assert {p.name: p.read_bytes() for p in (tmp_path / "old").iterdir()} == before
    assert not (tmp_path / "new").exists()


def test_an_output_name_that_is_not_text(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/z\xff"))
    write(result(), folder)
    assert sorted(p.name for p in folder.iterdir()) == sorted(results.FILES)


@pytest.mark.parametrize("name", results.FILES)
@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling link"])
def test_a_result_that_cannot_be_replaced(tmp_path: Path, name: str, kind: str) -> None:
    """It is refused before the work, and the other results are unchanged."""
    make = {"folder": Path.mkdir, "pipe": os.mkfifo, "dangling link": lambda p: p.symlink_to("no")}
    make[kind](tmp_path / name)
    with pytest.raises(InputError, match=re.escape(f"{name}: output file")):
        outputs.check_out(tmp_path, results.FILES)
    with pytest.raises(InputError):
        write(result(), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """No parent folder is left behind."""
    (tmp_path / "link").symlink_to(tmp_path / "no")
    long = "x" * 300
    for out in (tmp_path / "q" / "r" / long, tmp_path / long, tmp_path / "link", ""):
        with pytest.raises(InputError, match="output folder: --out is"):
            outputs.check_out(out)
        with pytest.raises(InputError):
            write(result(), out)
    with pytest.raises(OSError), outputs._folder(tmp_path / "q" / "r" / long):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["link"]
    assert not list(Path().glob("*.parquet"))


def test_an_output_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="output folder: --out is"):
            outputs.check_out(out)
        with pytest.raises(InputError):
            write(result(), out)
    assert (tmp_path / "file").read_text() == "mine"
    outputs.check_out(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
