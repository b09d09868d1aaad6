# SPDX-License-Identifier: Apache-2.0
"""What a checkout shares with the user's others: made once, by its inputs, and gone if unused."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from anemone.io import build_cache
from anemone.io.build_cache import UNUSED, built


class Maker:
    """Makes a file or a folder, and counts how often."""

    def __init__(self, folder: bool = False) -> None:
        self.folder, self.times = folder, 0

    def __call__(self, fresh: Path) -> None:
        self.times += 1
        if self.folder:
            fresh.mkdir()
        (fresh / "program" if self.folder else fresh).write_text(f"made {self.times}")


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of shared results."""
    monkeypatch.setattr(build_cache, "SHARED", tmp_path / "shared")
    return tmp_path / "shared"


@pytest.mark.parametrize("folder", [False, True])
def test_another_checkout_does_not_make_it_again(
    folder: bool, shared: Path, tmp_path: Path
) -> None:
    make = Maker(folder)
    found = [built(tmp_path / name / "out", ["x"], make, shared=True) for name in ("a", "b")]
    assert make.times == 1
    assert [(out / "program" if folder else out).read_text() for out in found] == ["made 1"] * 2
    built(tmp_path / "b" / "out", ["y"], make, shared=True)
    assert make.times == 2


def test_what_is_not_shared_is_made_by_each(shared: Path, tmp_path: Path) -> None:
    make = Maker()
    for name in ("a", "b"):
        built(tmp_path / name / "out", ["x"], make)
    assert make.times == 2 and not shared.exists()


def test_what_failed_is_not_shared(shared: Path, tmp_path: Path) -> None:
    def fail(fresh: Path) -> None:
        fresh.write_text("half")
        raise ValueError

    with pytest.raises(ValueError):
        built(tmp_path / "a" / "out", ["x"], fail, shared=True)
    assert not shared.exists() and not (tmp_path / "a" / "out").exists()


def test_what_no_one_uses_goes(shared: Path, tmp_path: Path) -> None:
    make = Maker(folder=True)
    for name in ("used", "unused"):
        built(tmp_path / name, [name], make, shared=True)
    long_ago = time.time() - UNUSED - 60
    for kept in shared.iterdir():
        os.utime(kept, (long_ago, long_ago))
    built(tmp_path / "again", ["used"], make, shared=True)
    built(tmp_path / "new", ["new"], make, shared=True)
    assert make.times == 3 and len(list(shared.iterdir())) == 2


def test_without_a_place_for_it_it_is_made(shared: Path, tmp_path: Path) -> None:
    shared.write_text("no folder")
    assert built(tmp_path / "out", ["x"], Maker(), shared=True).read_text() == "made 1"
