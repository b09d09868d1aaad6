# SPDX-License-Identifier: Apache-2.0
"""Random calls of the driver, from several threads, while accesses are made (guest/fuzz.c)."""

from __future__ import annotations

import re

from anemone.cosim import Tools
from tests.cosim.fuzz import REQUESTS, fuzz

# Calls and a time limit, for kernels without and with checkers.
STOCK, WATCHED = (2_000, 30), (20_000, 240)
ALL_KINDS = 1_500  # with so many calls, each kind succeeds and is refused at least once


def test_random_calls(tools: Tools) -> None:
    calls, seconds = WATCHED if tools.checked else STOCK
    output = fuzz(seed=1, calls=calls, seconds=seconds)
    counts = {name: (int(done), int(refused)) for name, done, refused in
              re.findall(r"^(\w+) done (\d+) refused (\d+)$", output, re.MULTILINE)}  # fmt: skip
    assert set(counts) == REQUESTS
    if sum(map(sum, counts.values())) >= ALL_KINDS:
        assert all(min(count) for count in counts.values()), counts
