# SPDX-License-Identifier: Apache-2.0
"""The man page and the systemd unit match the command's options."""

from __future__ import annotations

import configparser
import re
import subprocess
from pathlib import Path

import typer.main

from anemone.caption import command

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/man/anemone-caption.1"
GUIDE = ROOT / "docs/caption.md"
UNIT = ROOT / "sw-model/anemone/caption/caption.service"


def options(name: str) -> set[str]:
    group = typer.main.get_command(command.app)
    return {word for p in group.commands[name].params for word in p.opts if word.startswith("--")}


def test_man_page() -> None:
    """groff reports no error, and the page lists exactly the command's options."""
    words = ["groff", "-man", "-t", "-ww", "-Tascii", str(PAGE)]
    made = subprocess.run(words, capture_output=True, text=True, check=True)
    assert made.stderr == ""
    named = set(re.findall(r"--[a-z][a-z-]+", PAGE.read_text().replace("\\-", "-")))
    wanted = options("run") | options("replay") | options("fit")
    assert named - {"--weighted-interleave"} == wanted


def test_service() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read_string(UNIT.read_text())
    asked = unit["Service"]["ExecStart"] + unit["Service"]["Environment"]
    assert "anemone caption run" in asked
    # The page says how to install the program.
    assert f'anemone" {unit["Service"]["ExecStart"].split()[0]}\n' in GUIDE.read_text()
    assert set(re.findall(r"--[a-z-]+", asked)) <= options("run")
