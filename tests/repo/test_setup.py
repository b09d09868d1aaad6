# SPDX-License-Identifier: Apache-2.0
"""mk/setup.sh on machines that lack tools. It installs nothing: PATH has no apt and no sudo."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Commands that the script calls, which every Debian has.
BASE = "cat cut dirname env flock grep id mkdir pwd sed sh sha256sum tr uname".split()


@pytest.fixture
def bare(tmp_path: Path) -> tuple[Path, Path]:
    """A checkout without .venv, and a folder with only the commands of BASE."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    shutil.copytree(ROOT / "mk", checkout / "mk")
    for name in ("requirements.lock", "pyproject.toml", ".mill-version", "mill"):
        shutil.copy(ROOT / name, checkout / name)
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in BASE:
        found = shutil.which(name)
        assert found, name
        (commands / name).symlink_to(found)
    return checkout, commands


def setup(checkout: Path, path: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(checkout / "mk/setup.sh"), *args],
        env={"PATH": str(path), "HOME": str(checkout.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_apt_says_exactly_what_is_missing(bare: tuple[Path, Path]) -> None:
    checkout, commands = bare
    result = setup(checkout, commands)
    assert result.returncode == 2
    assert "no apt" in result.stderr
    named = set(re.findall(r"^    (\S[^:]*):", result.stderr, re.MULTILINE))
    assert {"default-jdk-headless", "maven", "g++", "perl", "z3"} <= named
    assert not (checkout / ".venv").exists()


def test_what_is_there_is_not_named(bare: tuple[Path, Path]) -> None:
    checkout, commands = bare
    for name in ("perl", "z3"):
        (commands / name).symlink_to("/bin/true")
    result = setup(checkout, commands, "check")
    assert result.returncode == 2
    assert "maven" in result.stdout
    assert not re.search(r"^    (perl|z3):", result.stdout, re.MULTILINE)


def test_a_path_with_blanks_is_refused(bare: tuple[Path, Path]) -> None:
    checkout, commands = bare
    blank = checkout.rename(checkout.with_name("check out"))
    result = setup(blank, commands)
    assert result.returncode == 2
    assert "check out" in result.stderr


def test_a_linked_environment_is_left_alone(bare: tuple[Path, Path], tmp_path: Path) -> None:
    """It belongs to another checkout, which still needs it."""
    checkout, commands = bare
    other = tmp_path / "other"
    other.mkdir()
    (other / ".stamp").write_text("its own")
    (checkout / ".venv").symlink_to(other)
    result = setup(checkout, commands)
    assert result.returncode == 2
    assert f".venv is a link to {other}" in result.stderr
    assert (other / ".stamp").read_text() == "its own" and (checkout / ".venv").is_symlink()


def test_makefile_lists_its_targets() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in "setup sim test verilog traces bench soak lint format clean".split():
        assert re.search(rf"^  make {target} +\S", shown.stdout, re.MULTILINE), target
