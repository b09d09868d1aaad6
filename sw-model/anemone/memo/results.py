# SPDX-License-Identifier: Apache-2.0
"""Reads memo's JSON: rows by test, with the fields of each test."""

from __future__ import annotations

import os
from typing import Any

from anemone.io.errors import InputError
from anemone.io.json_file import read_json
from anemone.io.tables import Table

# Fields of a row in addition to test and node: numbers of at least 0, and texts.
NUMBERS = {
    "latency": ("ns", "batch_ns", "p10_ns", "p90_ns", "batches"),
    "chase": ("bytes", "ns", "best_ns"),
    "cache": ("cache_bytes", "half_ns", "past_ns"),
    "bandwidth": ("reads", "writes", "threads", "gb_per_s", "on_cpu"),
    "copy": ("block_bytes", "gb_per_s", "best_gb_per_s"),
}
TEXTS = {
    "latency": ("access", "pages"),
    "chase": ("pages",),
    "cache": ("serves", "pages"),
    "bandwidth": ("order", "hint", "pages"),
    "copy": ("by", "pages"),
}
_HOST = ("isa", "tsc_ghz", "timer_ns", "cycles_per_tick", "cpus", "cache_bytes", "checks")

Rows = dict[str, list[dict[str, Any]]]


def read(path: str | os.PathLike) -> Rows:
    """The rows of a file by test, at least one. Raises InputError."""
    content = read_json(path)
    table = Table(path, "file", content)
    table.only("rows", *_HOST, "warnings")
    table.choice("checks", ("passed",))
    if not isinstance(content["rows"], list) or not content["rows"]:
        raise table.wrong("rows", "a list of at least one row, as memo --json prints it")
    found: Rows = {}
    for number, each in enumerate(content["rows"], 1):
        if not isinstance(each, dict):
            raise InputError(path, f"row {number}", "row", each, "an object")
        row = Table(path, f"row {number}", each)
        if "test" not in each:
            raise row.wrong("test", ", ".join(NUMBERS))
        test = row.choice("test", tuple(NUMBERS))
        row.only("test", "node", *NUMBERS[test], *TEXTS[test])
        row.number("node", maximum=1 << 20)
        for name in NUMBERS[test]:
            row.real(name, minimum=0)
        for name in TEXTS[test]:
            if not isinstance(each[name], str):
                raise row.wrong(name, "text")
        found.setdefault(test, []).append(each)
    return found
