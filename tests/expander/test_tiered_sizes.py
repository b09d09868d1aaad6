# SPDX-License-Identifier: Apache-2.0
"""Emits and checks expanders in flat memory mode of sizes and hosts that no bench simulates."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from anemone.backends.rtl import builder

SMALLEST = ("--pipelines", "1", "--states", "64", "--table", "32", "--address-bits", "20")
SIZES = [(1, 1, 1), (4, 3, 4), (1, 4, 2)]  # channels, ratio, hosts


@pytest.mark.parametrize(("channels", "ratio", "hosts"), SIZES)
def test_tiered_sizes(channels: int, ratio: int, hosts: int, tmp_path: Path) -> None:
    """Verilator's lint accepts the SystemVerilog, and params.json has the sizes."""
    sizes = ("--channels", str(channels), "--ratio", str(ratio), "--hosts", str(hosts))
    command = builder.run_with(("--top", "expander", "--flat", *sizes, *SMALLEST))
    verilog = builder.emit(tmp_path / "rtl", command)
    built = json.loads((verilog / "params.json").read_text())
    assert (built["channels"], built["flat"]["ratio"], built["hosts"]) == (channels, ratio, hosts)
    lint = ["verilator", "--lint-only", "-Wall", "--top-module", "MemoryExpander"]
    subprocess.run([*lint, "mk/verilator.vlt", *verilog.glob("*.sv")], cwd=builder.ROOT, check=True)
