# SPDX-License-Identifier: Apache-2.0
"""SWEEP.toml: runs a study's points with other values in their fields."""

from __future__ import annotations

import os
from itertools import product
from typing import Any

from anemone.io.tables import Table, parse_toml, read_text, toml_place
from anemone.studies.study import Point

FILE = "sweep.json"


def swept(path: str | os.PathLike, points: list[Point]) -> list[Point]:
    """Each point with each combination of the file's values, without duplicates.

    Raises InputError for a field that no point has, or a value of another type.
    """
    text = read_text(path)
    content = parse_toml(text, path)
    top = Table(path, "", content, lambda field: toml_place(text, field))
    top.only(optional=tuple(dict.fromkeys(key for point in points for key in point)))
    for key, values in content.items():
        kinds = {type(point[key]) for point in points if key in point}
        wanted = " or ".join(sorted(kind.__name__ for kind in kinds))
        good = isinstance(values, list) and values and all(type(v) in kinds for v in values)
        if not good:
            raise top.wrong(key, f"a list of values ({wanted}), at least one")
    found: dict[str, Point] = {}
    for values in product(*content.values()):
        change: dict[str, Any] = dict(zip(content, values, strict=True))
        for point in points:
            one = {key: change.get(key, value) for key, value in point.items()}
            found.setdefault(repr(sorted(one.items())), one)
    return list(found.values())
