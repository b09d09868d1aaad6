# SPDX-License-Identifier: Apache-2.0
"""Random calls of the driver, from several threads, while accesses are made (guest/fuzz.c)."""

from __future__ import annotations

import re

from anemone.cosim import Tools
from tests.cosim.fuzz import REQUESTS, fuzz

CALLS, CALLS_WATCHED = 2_000, 20_000
SECONDS = 240  # a run ends then, however many calls were made


def test_random_calls(tools: Tools) -> None:
    said = fuzz(seed=1, calls=CALLS_WATCHED if tools.watchful else CALLS, seconds=SECONDS)
    counts = {name: (int(done), int(refused)) for name, done, refused in
              re.findall(r"^(\w+) done (\d+) refused (\d+)$", said, re.MULTILINE)}  # fmt: skip
    assert set(counts) == REQUESTS
    # Neither all right nor all wrong.
    assert all(min(count) for count in counts.values()), counts
