# SPDX-License-Identifier: Apache-2.0
"""Parameters that are defined in both hardware and Python are equal."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from anemone.backends import rtl
from anemone.backends.rtl import builder
from anemone.golden import nemo
from anemone.hardware.features import STANDARD_OPS
from anemone.hardware.geometry import WORDS_PER_LINE, Geometry
from anemone.telemetry.rules import OP_CODES, OPERANDS, OPS, WIDTHS
from tests.rtl.geometries import WIDE

ROOT = Path(__file__).resolve().parents[2]


def elaborator(folder: Path, *options: str) -> list[str]:
    return ["mk/scala.sh", *builder.run_with(options)(folder)]


@pytest.fixture(scope="module")
def defaults(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """params.json of an engine with default sizes."""
    folder = tmp_path_factory.mktemp("elaborated")
    subprocess.run(elaborator(folder), cwd=ROOT, check=True, stdin=subprocess.DEVNULL)
    return json.loads((folder / "params.json").read_text())


def test_default_sizes(defaults: dict) -> None:
    geometry = Geometry()
    for name in ("pipelines", "channels", "states", "table", "address_bits"):
        assert defaults[name] == getattr(geometry, name), name
    assert defaults["line_words"] == WORDS_PER_LINE


def test_default_features(defaults: dict) -> None:
    """By default all features are built in, but for some ops and the hash stage."""
    assert tuple(defaults["ops"]) == STANDARD_OPS and tuple(defaults["widths"]) == WIDTHS
    assert defaults["notify"] is True
    assert defaults["effects"] == ["none", "reset", "op"]
    assert defaults["operands"] == ["immediate", *OPERANDS[1:]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--top nothing", "top: engine, expander, board or flat, not nothing"),
        ("--pipelines 65", "pipelines: 1 to 64, not 65"),
        ("--ops add,sum", f"op: {','.join(OPS)}, not sum"),
        ("--top flat --ratio 5", "ratio: 1 to 4, not 5"),
        ("--top board --flat", "channels: on a board in flat memory mode 1, as near and far are"),
        (
            "--top board --flat --channels 1 --hosts 2 --near-bits 60",
            "nearBits: 12 to the ports' 52, not 60",
        ),
        (
            "--top board --flat --channels 1 --hosts 2 --id-bits 5",
            "hostPort.idBits: an id for each of 64 sets in flight, not 5",
        ),
        ("--wide 3", 'Unknown arguments: "--wide" "3"'),
    ],
)
def test_no_such_configuration(options: str, says: str, tmp_path: Path) -> None:
    """It prints one line with the reason, exits with status 2 and writes nothing."""
    command = elaborator(tmp_path / "out", *options.split())
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert any(line.startswith(says) for line in done.stderr.splitlines()), done.stderr
    assert not list(tmp_path.iterdir())


def test_op_codes() -> None:
    """Hardware, rules and both models have the same names and codes."""
    params = json.loads((rtl.elaborate(rtl.expander(WIDE)) / "params.json").read_text())
    assert params["ops"] == OP_CODES
    assert set(nemo.OPS) == set(OP_CODES)
