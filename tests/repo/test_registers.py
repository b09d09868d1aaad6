# SPDX-License-Identifier: Apache-2.0
"""The committed files are generated from hw/regs/anemone.rdl; an unsupported RDL is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mk.regs import RDL, ROOT, generated
from mk.regs.__main__ import main
from mk.regs.model import MapError


@pytest.mark.parametrize("name", generated())
def test_committed_is_generated(name: str) -> None:
    assert (ROOT / name).read_text() == generated()[name], f"{name} is stale: make regs"


@pytest.fixture
def changed(tmp_path: Path):
    """A copy of the RDL with a text replaced."""

    def change(pattern: str, by: str) -> Path:
        text, places = re.subn(pattern, by, RDL.read_text(), count=1)
        assert places, f"nothing to change: {pattern}"
        path = tmp_path / "changed.rdl"
        path.write_text(text)
        return path

    return change


def test_a_change_of_the_map_is_noticed_in_every_file(changed) -> None:
    texts = generated(changed(r"rule_shifts @0x128", "rule_shift_amounts @0x158"))
    same = [name for name, text in texts.items() if text == (ROOT / name).read_text()]
    assert not same


def test_check_names_what_is_stale(monkeypatch, capsys) -> None:
    stale = {"docs/registers.md": "an older page\n", "hw/src/expander/Absent.scala": ""}
    monkeypatch.setattr("mk.regs.__main__.generated", lambda: stale)
    before = (ROOT / "docs/registers.md").read_text()
    assert main(check=True) == 1
    out = capsys.readouterr().out
    assert all(name in out for name in stale)
    assert (ROOT / "docs/registers.md").read_text() == before
    assert not (ROOT / "hw/src/expander/Absent.scala").exists()


REFUSED = {
    "a field of no known kind": (r"setting memory_read", "field { sw = rw; hw = rw; } x"),
    "a behaviour that would be lost": (
        r"setting memory_read",
        "field { sw = r; hw = w; counter; } x",
    ),
    "a reset that is not zero": (r"setting enable\[0:0\];", "setting enable[0:0] = 1;"),
    "kinds mixed in a register": (r"setting dropped_write", "status dropped_write"),
    "a command that is not external": (r"external reg", "reg"),
    "an array without a bound": (r'pipeline->bound = "pipelines";\n\n    external', "external"),
}  # fmt: skip


@pytest.mark.parametrize("change", REFUSED)
def test_what_would_be_lost_is_refused(change: str, changed) -> None:
    with pytest.raises(MapError, match=r"^anemone\.|is none of"):
        generated(changed(*REFUSED[change]))


def test_header_compiles(tmp_path: Path) -> None:
    header = ROOT / "driver/include/anemone_regs.h"
    source = tmp_path / "use.cpp"
    source.write_text(f"""\
#include "{header}"
#include "{header}"
static_assert(ANEMONE_PIPELINE(3) + ANEMONE_PIPELINE_STATUS == 0x1338, "");
static_assert(ANEMONE_TABLE(2) == 0x200010 && ANEMONE_TABLE_MAPPED_MASK == 1ULL << 63, "");
static_assert(ANEMONE_RULE_CONTROL_OP_MASK == 0xFULL << ANEMONE_RULE_CONTROL_OP_SHIFT, "");
static_assert(ANEMONE_UPDATE_OP_ADDSAT == 7 && ANEMONE_VERSION_MAJOR_VALUE == 1, "");
""")
    command = ["g++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", str(source)]
    subprocess.run(command, check=True)


def test_make_regs_has_nothing_to_do() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mk.regs", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")
