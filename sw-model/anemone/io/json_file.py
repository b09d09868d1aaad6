# SPDX-License-Identifier: Apache-2.0
"""Reads JSON files with one object; errors are one line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from anemone.io.errors import Bare, InputError
from anemone.io.tables import read_text


def parse_json(text: str, file: object) -> dict[str, Any]:
    """The object in a JSON text. `file`: its name in errors. Raises InputError."""
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as e:
        at = isinstance(e, json.JSONDecodeError)
        place = f"line {e.lineno}, column {e.colno}" if at else "file"
        why = Bare(f"wrong: {e.msg if at else e}")
        raise InputError(file, place, "JSON", why, "valid JSON") from e
    if not isinstance(content, dict):
        raise InputError(file, "file", "JSON", content, "an object { ... }")
    return content


def read_json(path: str | os.PathLike) -> dict[str, Any]:
    """The object in a JSON file. Raises InputError for any unusable file."""
    return parse_json(read_text(Path(path), "JSON"), path)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; refuses duplicate keys, of which Python would keep the last."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key} comes twice")
        found[key] = value
    return found
