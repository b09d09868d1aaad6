# SPDX-License-Identifier: Apache-2.0
"""Expanders in flat memory mode of the sizes that no bench plays: emitted, and looked at."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from anemone.backends.rtl import builder

LEAST = ("--pipelines", "1", "--states", "64", "--table", "32", "--address-bits", "20")
SIZES = [(1, 1), (4, 3), (1, 4)]  # channels, ratio


@pytest.mark.parametrize(("channels", "ratio"), SIZES)
def test_tiered_sizes(channels: int, ratio: int, tmp_path: Path) -> None:
    """Verilator has nothing to say of the SystemVerilog, and params.json has the sizes."""
    sizes = ("--channels", str(channels), "--ratio", str(ratio))
    command = builder.run_with(("--top", "expander", "--flat", *sizes, *LEAST))
    verilog = builder.emit(tmp_path / "rtl", command)
    built = json.loads((verilog / "params.json").read_text())
    assert (built["channels"], built["flat"]["ratio"]) == (channels, ratio)
    lint = ["verilator", "--lint-only", "-Wall", "--top-module", "MemoryExpander"]
    subprocess.run([*lint, "mk/verilator.vlt", *verilog.glob("*.sv")], cwd=builder.ROOT, check=True)
