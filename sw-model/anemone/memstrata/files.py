# SPDX-License-Identifier: Apache-2.0
"""SAMPLES.json, COUNTERS.json and the model's folder, read; what is wrong is one line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from anemone.io.errors import MISSING, InputError
from anemone.io.json_file import read_json
from anemone.io.tables import Table
from anemone.memstrata.outliers import METRICS, Line, Sample

MODEL, FOREST = "model.json", "model.onnx"
_SAMPLE = ("program", *METRICS, "miss_ratio", "slowdown")


def read_samples(path: str | os.PathLike) -> list[Sample]:
    """Of two programs at least. Raises InputError."""
    found = []
    for _, each in _list(path, read_json(path), "file", "samples", _SAMPLE):
        found.append(
            Sample(
                _text(each, "program"), _metrics(each), each.real("miss_ratio", least=0, most=1),
                each.real("slowdown", least=-1),
            )
        )  # fmt: skip
    if len({s.program for s in found}) < 2:
        allowed = "samples of two programs at least: half train, half validate"
        raise InputError(
            path, "samples", "program", found[0].program if found else MISSING, allowed
        )
    return found


def read_counters(path: str | os.PathLike) -> dict[str, list[dict[str, float]]]:
    """By machine its intervals, one at least. Raises InputError."""
    machines: dict[str, list[dict[str, float]]] = {}
    for place, each in _list(path, read_json(path), "file", "vms", ("name", "intervals")):
        name = _text(each, "name")
        if name in machines:
            raise InputError(path, place, "name", name, "a name that no other VM has")
        rows = list(_list(path, each.content, place, "intervals", METRICS, whole=False))
        if not rows:
            raise each.wrong("intervals", "one interval at least")
        machines[name] = [_metrics(row) for _, row in rows]
    return machines


def read_model(folder: Path) -> Line:
    """The line of a model that `train` wrote, and that the forest is there. Raises InputError."""
    path = folder / MODEL
    table = Table(path, "file", read_json(path))
    line = table.table("line")
    if line is None:
        raise table.wrong("line", "a model as `anemone memstrata train` writes it")
    line.only("slope", "intercept")
    if not (folder / FOREST).is_file():
        allowed = f"{MODEL} and {FOREST} as `anemone memstrata train` writes them"
        raise InputError(folder, "folder", FOREST, MISSING, allowed)
    return Line(line.real("slope"), line.real("intercept"))


def _list(
    path: object, content: dict[str, Any], place: str, key: str, keys: tuple[str, ...],
    whole: bool = True,
):  # fmt: skip
    """The objects of a list, each with these keys; whole: the content has nothing else."""
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
        row.only(*keys)
        yield at, row


def _text(table: Table, key: str) -> str:
    value = table.content[key]
    if not isinstance(value, str) or not value:
        raise table.wrong(key, "a text that is not empty")
    return value


def _metrics(table: Table) -> dict[str, float]:
    return {name: table.real(name, least=0) for name in METRICS}
