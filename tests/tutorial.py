# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md as a reader does it: its files, its commands, and the printed output.

Numbers in what is printed are compared by the tests where they are the program's own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def folder_of(home: Path) -> Path:
    """The reader's folder in a clone, as section 1 makes it."""
    folder = home / "anemone" / "build" / "mine"
    folder.mkdir(parents=True)
    (home / "anemone" / "examples").symlink_to(ROOT / "examples")
    return folder


def section(number: int) -> list[tuple[str, str]]:
    """The fenced blocks of a numbered section: language and text."""
    text = PAGE.read_text(encoding="utf-8")
    (found,) = re.findall(rf"^## {number}\. .*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return BLOCK.findall(found)


def write_files(number: int, folder: Path) -> None:
    """The files of a section, each named by its first line."""
    for language, text in section(number):
        if language not in ("", "sh"):
            named = re.match(r"# (\w+\.\w+): ", text)
            assert named, text
            (folder / named[1]).write_text(text, encoding="utf-8")


def commands(number: int) -> str:
    return "".join(text for language, text in section(number) if language == "sh")


def shape(text: str) -> str:
    """What is printed, whatever its numbers are: the compiler and C library decide on some."""
    lines = re.sub(r"0x[0-9a-f]+|\d[\d,.]*", "N", text).splitlines()
    return "\n".join(" ".join(line.split()) for line in lines)


def do(number: int, folder: Path) -> str:
    """Write a section's files and run its commands in this folder; what they print."""
    write_files(number, folder)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-eu", "-c", commands(number)], cwd=folder, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for language, text in section(number):
        assert language or shape(text) in shape(done.stdout), done.stdout
    print(done.stdout)
    return done.stdout
