# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md in the guest: the reader's program, and which of its pages are hot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anemone.cosim import Tools, cxl
from tests.tutorial import do, folder_of

assert cxl.server  # guest.py imports it: if it changes, this runs again


def test_section_7(tools: Tools, tmp_path: Path) -> None:
    if tools.release.startswith("6.1."):
        pytest.skip("Linux 6.1 does not bring up volatile CXL memory: dax_cxl came with 6.3")
    mine = folder_of(tmp_path)
    do(2, mine)
    output = do(7, mine)
    counts = [int(n) for n in re.findall(r"^ +\d+ +0 +(\d+)  0x1[01]\w+-0x1[01]\w+$", output, re.M)]
    # Four of the table's eight huge pages are hot in one half of the look-ups or the other.
    assert len(counts) >= 8, output
    hot, others = sorted(counts)[-4:], sorted(counts)[:-4]
    assert min(hot) > 3 * max(others), output
    assert sum(hot) > 0.8 * sum(counts), output
