# SPDX-License-Identifier: Apache-2.0
"""docs/python.md: its example runs, and all names in it exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

from anemone.golden import FlatMemory, Telemetry
from anemone.trace import COLUMNS, KINDS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())


def test_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)


def test_the_imports() -> None:
    imports = re.findall(r"`from (anemone\S*) import ([^`]*)`", WORDS)
    assert len(imports) == 11
    for package, names in imports:
        module = importlib.import_module(package)
        for name in names.split(", "):
            assert name in module.__all__ and getattr(module, name) is not None
    with pytest.raises(AttributeError, match=r"'anemone\.golden' has no attribute 'Absent'"):
        importlib.import_module("anemone.golden").Absent  # noqa: B018


def test_the_columns() -> None:
    """docs/traces.md lists them; a kind is a word in a file, its position in KINDS in memory."""
    page = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (u?int\d+|bool|float64|string) \|", page, re.M)
    types = {name: np.dtype(column.dtype).name for name, column in COLUMNS.items()}
    assert rows == list({**types, "kind": "string"}.items()) and types["kind"] == "uint8"
    assert ", ".join(f"{code} {word}" for code, word in enumerate(KINDS)) in WORDS


@pytest.mark.parametrize(
    ("heading", "model"), [("Counters", Telemetry), ("Flat memory", FlatMemory)]
)
def test_the_methods(heading: str, model: type) -> None:
    """The page lists every public name of the models."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    for name in vars(model):
        if not name.startswith("_") and name != "warm_up":
            assert re.search(rf"`{name}\b", section), name
