# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md on the host: a clone, a program, its trace, a rule, a picture, a policy."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from anemone import cli  # what the commands run, so that this runs again when it changes
from tests.tutorial import ROOT, commands, do, folder_of

assert cli.main


def test_section_1_clones_what_can_be_set_up(tmp_path: Path) -> None:
    clone, enter, setup, *_ = commands(1).splitlines()
    assert (enter, setup) == ("cd anemone", "make setup")
    script = f"{clone} && {enter} && {setup} -n"
    output = subprocess.run(
        ["sh", "-eu", "-c", script.replace('"$ANEMONE"', f"'{ROOT}'")], cwd=tmp_path,
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "setup.sh" in output


def test_sections_2_to_6(tmp_path: Path) -> None:
    mine = folder_of(tmp_path)
    for number in (2, 3):
        do(number, mine)
    reads = re.findall(r"pages (\d+) and (\d+), (\d+) accesses", do(4, mine))
    hot = [(int(a), int(b)) for a, b, n in reads][-10:]
    moved = hot[-1][0] - hot[3][0]
    # The program's hot pages: two adjacent pages, then the two that are half a table of 8 pages
    # above.
    assert hot[3] == (hot[3][0], hot[3][0] + 1) and hot[-1] == (hot[-1][0], hot[-1][0] + 1)
    assert moved == 4, reads
    assert "The golden model equals a plain count of 1 trace" in do(5, mine)
    assert (mine / "report" / "report.html").stat().st_size > 10_000
    assert "own.py" in do(6, mine)
