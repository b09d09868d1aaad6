# SPDX-License-Identifier: Apache-2.0
"""Checks the final contents of near and far memory."""

from __future__ import annotations

from anemone.golden.flat import FlatMemory
from tests.bench.difference import Difference
from tests.flat.bench.memories import Far, Near


def check_contents(golden: FlatMemory, near: Near, far: Far, poison: dict[int, int]) -> None:
    """Check that each physical line is in exactly one slot, with the data last written. poison: by
    line.
    """
    config = golden.config
    lines: dict[int, tuple[int, int]] = {}
    for set_index in range(config.near_lines):
        tags = near.tags(set_index)
        if sorted(tags) != list(range(config.ratio + 1)):
            raise Difference(f"set {set_index}: tags {tags}")
        for slot, tag in enumerate(tags):
            p = tag * config.near_lines + set_index
            if p in config.dedicated_lines:  # that line is elsewhere
                continue
            if golden.where(p) != slot:
                raise Difference(f"line {p} is in slot {slot}, not {golden.where(p)}")
            far_line = (slot - 1) * config.near_lines + set_index
            lines[p] = far.store.read(far_line) if slot else near.store.read(set_index)
    for k, p in enumerate(config.dedicated_lines):
        lines[p] = near.store.read(config.near_lines + k)
    for p, (data, poisoned) in lines.items():
        expected, seen = golden.contents(p), data.to_bytes(64, "little")
        if (seen, poisoned) != (expected, poison.get(p, 0)):
            raise Difference(f"line {p}: {seen.hex()} {poisoned}, not {expected.hex()}")
