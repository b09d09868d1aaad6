# SPDX-License-Identifier: Apache-2.0
"""Generates the names of registers for C and Python, and the reference page."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from mk.regs.chisel import pascal
from mk.regs.model import ADDRESS_BITS, WORD_BITS, Map
from mk.regs.render import render

TOOLS = Path(sys.executable).parent


def outputs(regs: Map) -> dict[str, str]:
    """Text by path from the root of the repository."""
    python = render("registers.py", regs=regs, pascal=pascal)
    header = render("anemone_regs.h", regs=regs, comment=comment)
    page = render(
        "registers.md", regs=regs, cell=cell, word_bits=WORD_BITS, address_bits=ADDRESS_BITS
    )
    return {
        "sw-model/anemone/hardware/registers.py": formatted(
            python, "ruff", "format", "--stdin-filename=registers.py", "-"
        ),
        "driver/include/anemone_regs.h": formatted(
            header, "clang-format", "--assume-filename=driver/include/anemone_regs.h"
        ),
        "docs/registers.md": re.sub("\n{3,}", "\n\n", page),
    }


def formatted(text: str, tool: str, *options: str) -> str:
    """The text after the checkout's formatter."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [TOOLS / tool, *options], cwd=root, input=text, capture_output=True, text=True, check=True
    )
    return done.stdout


def comment(text: str) -> str:
    """A C comment, on several lines if it is long."""
    if len(text) <= 90:
        return f"/* {text} */"
    return "/*\n" + textwrap.indent(textwrap.fill(text, 90), " * ") + "\n */"


def cell(text: str) -> str:
    """A text for a Markdown table."""
    return text.replace("|", "\\|")
