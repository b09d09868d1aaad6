# SPDX-License-Identifier: Apache-2.0
"""A soak in pieces: it continues where it was, starts again for another driver, and does not count
a piece that failed. Without a guest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from anemone.cosim import CosimError
from tests.cosim import churn, fuzz
from tests.cosim.conftest import PROGRAMS

SoakTo = Callable[[int], list[tuple[int, int]]]


@pytest.fixture
def soak_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SoakTo:
    """Runs to a goal; returns the pieces made."""
    monkeypatch.setattr(fuzz, "ROOT", tmp_path)
    monkeypatch.setattr(fuzz, "find_tools", lambda: SimpleNamespace(release="one"))
    monkeypatch.setattr(fuzz, "inputs", lambda name: "of a driver")

    def soak(goal: int) -> list[tuple[int, int]]:
        pieces: list[tuple[int, int]] = []

        def piece(seed: int, count: int) -> int:
            pieces.append((seed, count))
            return count

        assert fuzz.soak("a.soak", piece, [str(goal)]) == 0
        return pieces

    return soak


def test_it_goes_on(soak_to: SoakTo, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [count for _, count in soak_to(2 * fuzz.A_RUN + 7)]
    assert sorted(counts) == [7, fuzz.A_RUN, fuzz.A_RUN]
    assert soak_to(2 * fuzz.A_RUN + 7) == []
    assert [count for _, count in soak_to(3 * fuzz.A_RUN)] == [fuzz.A_RUN - 7]
    monkeypatch.setattr(fuzz, "inputs", lambda name: "of another one")
    assert [count for _, count in soak_to(5)] == [5]


def test_what_fails_is_said_and_does_not_count(
    soak_to: SoakTo, capsys: pytest.CaptureFixture[str]
) -> None:
    def piece(seed: int, count: int) -> int:
        raise CosimError(f"seed {seed} is a bad one")

    assert fuzz.soak("a.soak", piece, ["9"]) == 1
    *_, message, again = capsys.readouterr().err.splitlines()
    assert message == f"seed {again.split()[-1]} is a bad one"
    assert again.startswith("again: python -m a.soak 9 ")
    assert [count for _, count in soak_to(9)] == [9]


@pytest.mark.parametrize(("name", "header"), [("fuzz", "fuzz_calls.h"), ("churn", "user_pages.h")])
def test_inputs(name: str, header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program includes, also indirectly, but not the other programs."""
    for path in PROGRAMS.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(fuzz, "PROGRAMS", tmp_path)
    before = fuzz.inputs(name)
    (tmp_path / "spy.c").write_text("")
    assert fuzz.inputs(name) == before
    (tmp_path / header).write_text("")
    assert fuzz.inputs(name) != before


def test_modules_have_a_program() -> None:
    """Each soak module has a guest program of the same name, which its seeds count for."""
    for module in (fuzz, churn):
        assert (PROGRAMS / f"{module.__name__.split('.')[-1]}.c").exists()
