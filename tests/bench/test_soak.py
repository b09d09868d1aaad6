# SPDX-License-Identifier: Apache-2.0
"""The campaigns of `make soak` and `make mutate` can start: everything they name exists."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.bench.build import ROOT


def test_flips_are_of_builds_that_there_are() -> None:
    from tests.bench.soak import UPSETS

    names = [(bench.package, name, name in bench.builds) for bench, name in UPSETS]
    assert len(names) == 5 and all(there for _, _, there in names), names


@pytest.mark.parametrize("module", ["mutate", "soak"])
def test_a_campaign_can_be_asked_for_nothing(module: str) -> None:
    """The module is imported as the command imports it, and runs nothing."""
    words = {"mutate": ["--help"], "soak": ["upsets", "1", "no such build"]}[module]
    done = subprocess.run(
        [sys.executable, "-m", f"tests.bench.{module}", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
