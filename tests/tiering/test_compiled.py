# SPDX-License-Identifier: Apache-2.0
"""A compiled function is recompiled when a function compiled into it has changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

INNER = (
    "from anemone.tiering.compiled import compiled\n\n@compiled()\ndef add(x):\n    return x + {}\n"
)
OUTER = """\
import sys
from anemone.tiering.compiled import compiled
from inner import add

@compiled()
def run(x):
    return add(x)

print(run(1), sum(run.stats.cache_hits.values()))
"""


def printed(folder: Path) -> list[int]:
    command = [sys.executable, "outer.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


def test_another_file_that_is_compiled_into_it(tmp_path: Path) -> None:
    """With numba's cache alone, the caller's old code would run."""
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "inner.py").write_text(INNER.format(1))
    assert printed(tmp_path) == [2, 0]
    assert printed(tmp_path) == [2, 1]
    (tmp_path / "inner.py").write_text(INNER.format(20))
    assert printed(tmp_path) == [21, 0]
