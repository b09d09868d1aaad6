# SPDX-License-Identifier: Apache-2.0
"""libcaption.so binds a program's new memory on kernels without weights. The test runs on any
machine: pieces for an absent node keep the kernel's policy, and so differ from the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NONE = 1000  # a node that does not exist

GROWS = Path(__file__).with_name("grows.py")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, built like `make libcaption`."""
    out = tmp_path_factory.mktemp("caption") / "libcaption.so"
    flags = "-std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -shared -fPIC -pthread".split()
    subprocess.run(["cc", *flags, "-o", out, ROOT / "sim/caption/libcaption.c"], check=True)
    return out


def policies(
    library: Path, ratio: Path, sizes: str, share: float, patience: float = 60
) -> Counter[str]:
    """MiB by policy, of memory that was mapped in pieces of these sizes."""
    words = [sys.executable, str(GROWS), sizes, str(patience), str(share)]
    env = os.environ | {"LD_PRELOAD": str(library), "CAPTION_RATIO": str(ratio)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Counter(done.stdout.split())


def test_new_memory_is_bound_in_turns(library: Path, tmp_path: Path) -> None:
    """3:1 of 64 MiB gives node 0 48 MiB, up to a piece that other memory of the program took."""
    (tmp_path / "ratio").write_text(f"0 {NONE} 3 1\n")
    found = policies(library, tmp_path / "ratio", "64", 44 / 64)
    assert found.total() == 64 and 44 <= found["prefer:0"] <= 52, found


def test_memory_that_grows(library: Path, tmp_path: Path) -> None:
    """Memory that extends a known range is bound, too, also within a piece."""
    (tmp_path / "ratio").write_text(f"0 {NONE} 1 0\n")
    assert policies(library, tmp_path / "ratio", "5,1,4,1", 1) == {"prefer:0": 11}


def test_without_a_ratio_nothing_is_bound(library: Path, tmp_path: Path) -> None:
    assert policies(library, tmp_path / "none", "8", 1, 0.5) == {"default": 8}
    (tmp_path / "bad").write_text(f"0 {NONE} 0 0\n")
    assert policies(library, tmp_path / "bad", "8", 1, 0.5) == {"default": 8}
