# SPDX-License-Identifier: Apache-2.0
"""The configuration of flat memory mode (Memstrata §3.1) and its file format; see docs/flat.md."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.io.errors import InputError
from anemone.io.tables import Table, parse_toml, read_text, toml_place

# A name's position is its code in the hardware.
POLICIES = ("every", "nth", "one_in", "never")
MAX_RATIO = 4
# The largest n: a set's count has 8 bits in the sideband, a channel's count has 32 bits.
_MAX_N = {"nth": 255, "one_in": (1 << 32) - 1}
_CHECKED = 1 << 16  # addresses checked at a time; fits the processor's cache


@dataclass(frozen=True)
class FlatConfig:
    """Sizes in lines of 64 B. Physical line p is in set p mod near_lines, with tag p div
    near_lines.

    near_lines: number of sets, each with one near line. ratio: far lines per set, 1 to 4.
    dedicated: byte addresses [start, end) of near memory without sets, after the sets' lines; (0,
    0) for none. policy, n: which misses swap. Values are not checked here.
    """

    near_lines: int
    ratio: int = 1
    dedicated: tuple[int, int] = (0, 0)
    policy: str = "every"
    n: int = 1

    @property
    def lines(self) -> int:
        """Number of physical lines in all sets."""
        return (self.ratio + 1) * self.near_lines

    @property
    def dedicated_lines(self) -> range:
        """Physical lines of dedicated near memory."""
        return range(self.dedicated[0] // LINE_BYTES, self.dedicated[1] // LINE_BYTES)

    def has_line(self, p: int) -> bool:
        """Whether this physical line exists."""
        return 0 <= p < self.lines or p in self.dedicated_lines

    def check(self, addr: np.ndarray, name: object, before: int = 0) -> None:
        """Raise InputError for the first address outside memory. addr: uint64[n].

        name: the trace's name in the error. before: number of earlier rows.
        """
        start, end = self.dedicated
        size = self.lines * LINE_BYTES
        for at in range(0, len(addr), _CHECKED):
            some = addr[at : at + _CHECKED]
            outside = some >= size
            if start != end:
                outside &= (some < start) | (some >= end)
            if outside.any():
                row = int(np.argmax(outside))
                there = f"below {size:#x} ({self.ratio + 1} x {self.near_lines} lines)"
                if start != end:
                    there += f", or {start:#x} to {end - 1:#x} (dedicated)"
                place = f"row {before + at + row + 1}"
                raise InputError(name, place, "addr", int(some[row]), there)


def check_policy(policy: str, n: int) -> None:
    """Raise ValueError for an unknown policy or an invalid n."""
    maximum = _MAX_N.get(policy, n)
    if policy not in POLICIES or not 1 <= n <= maximum:
        raise ValueError(f"policy {policy!r}, n = {n}: one of {POLICIES}, n from 1 to {_MAX_N}")


def load_config(path: str | os.PathLike, geometry: Geometry) -> FlatConfig:
    """Read a FLAT.toml. Raises InputError for any unusable file."""
    return parse_config(read_text(path), path, geometry)


def parse_config(text: str, file: object, geometry: Geometry) -> FlatConfig:
    """The configuration in a TOML text. `file`: its name in errors. Raises InputError."""
    content = parse_toml(text, file)
    table = Table(file, "", content, lambda field: toml_place(text, field))
    table.only("near_lines", optional=("ratio", "dedicated", "policy", "n"))
    policy = table.choice("policy", POLICIES) if "policy" in content else "every"
    return FlatConfig(
        near_lines=table.number("near_lines", geometry.device_bytes // LINE_BYTES, minimum=1),
        ratio=table.number("ratio", MAX_RATIO, minimum=1) if "ratio" in content else 1,
        dedicated=(
            table.byte_range("dedicated", geometry, LINE_BYTES)
            if "dedicated" in content
            else (0, 0)
        ),
        policy=policy,
        n=_n(table, content, policy),
    )


def _n(table: Table, content: dict[str, Any], policy: str) -> int:
    """The n of a counting policy; other policies must not have one."""
    if policy in _MAX_N:
        return table.number("n", _MAX_N[policy], minimum=1)
    if "n" in content:
        raise table.wrong("n", f'no n with policy "{policy}"; nth and one_in have one')
    return 1
