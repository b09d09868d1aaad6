# SPDX-License-Identifier: Apache-2.0
"""SAMPLES.json, COUNTERS.json and the model's folder; what is wrong is one line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anemone.io.errors import MISSING, InputError
from anemone.io.json_file import read_json
from anemone.io.tables import Table
from anemone.memstrata.outliers import METRICS, Line, Sample
from anemone.memstrata.perf import Measured

MODEL, FOREST = "model.json", "model.onnx"
_MORE = ("instructions", "misses", "is_outlier")
_SAMPLE = ("program", *METRICS, "miss_ratio", "slowdown")


def read_samples(path: str | os.PathLike) -> list[Sample]:
    """Of two programs at least. Raises InputError."""
    found = []
    rows = _list(path, read_json(path), "file", "samples", _SAMPLE, more=("captured",))
    for _, each in rows:
        captured = each.content.get("captured", False)
        if not isinstance(captured, bool):
            raise each.wrong("captured", "true or false")
        found.append(
            Sample(
                _text(each, "program"), _metrics(each),
                each.real("miss_ratio", minimum=0, maximum=1),
                each.real("slowdown", minimum=-1), captured,
            )
        )  # fmt: skip
    if len({s.program for s in found}) < 2:
        allowed = "samples of two programs at least: half train, half validate"
        raise InputError(
            path, "samples", "program", found[0].program if found else MISSING, allowed
        )
    return found


def read_counters(
    path: str | os.PathLike, whole: bool = False, judged: bool = False
) -> dict[str, list[Measured]]:
    """By machine its intervals, one at least. Raises InputError.

    whole: each has to have `instructions`; judged: and to say who is an outlier.
    """
    machines: dict[str, list[Measured]] = {}
    for place, each in _list(path, read_json(path), "file", "vms", ("name", "intervals")):
        name = _text(each, "name")
        if name in machines:
            raise InputError(path, place, "name", name, "a name that no other VM has")
        rows = list(_list(path, each.content, place, "intervals", METRICS, whole=False, more=_MORE))
        if not rows:
            raise each.wrong("intervals", "one interval at least")
        machines[name] = [_measured(row, whole, judged) for _, row in rows]
    return machines


def _measured(table: Table, whole: bool, judged: bool) -> Measured:
    outlier = table.content.get("is_outlier")
    if not isinstance(outlier, bool) and (judged or outlier is not None):
        allowed = "true or false" + (", or a --model to judge by" if judged else "")
        raise table.wrong("is_outlier", allowed)
    counts = {
        name: table.real(name, minimum=0)
        for name in _MORE[:2]
        if name in table.content or (whole and name == "instructions")
    }
    return Measured(_metrics(table), counts.get("instructions", 0.0), counts.get("misses"), outlier)


def counters(intervals: Sequence[Mapping[str, Measured]]) -> dict[str, Any]:
    """Intervals by machine as COUNTERS.json."""
    return {
        "vms": [
            {"name": name, "intervals": [_row(each[name]) for each in intervals]}
            for name in (intervals[0] if intervals else ())
        ]
    }


def _row(each: Measured) -> dict[str, Any]:
    more = {"instructions": each.instructions, "misses": each.misses, "is_outlier": each.is_outlier}
    return {**each.metrics, **{name: value for name, value in more.items() if value is not None}}


def read_model(folder: Path) -> Line | None:
    """The line of a model that `train` wrote, and that the forest is there; None: it was trained on
    counted misses. Raises InputError."""
    path = folder / MODEL
    table = Table(path, "file", read_json(path))
    line = table.table("line")
    if line is None:
        raise table.wrong("line", "a model as `anemone memstrata train` writes it")
    line.only("slope", "intercept")
    if not (folder / FOREST).is_file():
        allowed = f"{MODEL} and {FOREST} as `anemone memstrata train` writes them"
        raise InputError(folder, "folder", FOREST, MISSING, allowed)
    found = Line(line.real("slope"), line.real("intercept"))
    return None if table.content.get("counted") is True else found


def _list(
    path: object, content: dict[str, Any], place: str, key: str, keys: tuple[str, ...],
    whole: bool = True, more: tuple[str, ...] = (),
):  # fmt: skip
    """The objects of a list, each with these keys; whole: the content has nothing else; more: keys
    that may be there."""
    table = Table(path, place, content)
    if whole:
        table.only(key)
    listed = content[key]
    if not isinstance(listed, list):
        raise table.wrong(key, "a list of { " + ", ".join(keys) + " }")
    for i, each in enumerate(listed):
        at = f"{key}[{i}]" if whole else f"{place}.{key}[{i}]"
        if not isinstance(each, dict):
            raise InputError(path, at, key, each, "{ " + ", ".join(keys) + " }")
        row = Table(path, at, each)
        row.only(*keys, optional=more)
        yield at, row


def _text(table: Table, key: str) -> str:
    value = table.content[key]
    if not isinstance(value, str) or not value:
        raise table.wrong(key, "a text that is not empty")
    return value


def _metrics(table: Table) -> dict[str, float]:
    return {name: table.real(name, minimum=0) for name in METRICS}
