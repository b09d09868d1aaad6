# SPDX-License-Identifier: Apache-2.0
"""The FuseSoC core: its Verilator targets run; its Quartus project is checked without Quartus."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fpga.emit import emit
from tests.bench.build import ROOT, tools_path

WORK = ROOT / "build" / "fpga" / "test"
CORE = "anemone:expander:board"
RECORD = Path(__file__).with_name("record.tcl")


def fusesoc(name: str, *words: str) -> Path:
    """Runs a target in a new build root, which is returned."""
    root = WORK / name
    shutil.rmtree(root, ignore_errors=True)
    environment = {**os.environ, "PATH": tools_path()}
    command = ["fusesoc", "run", "--build-root", str(root), *words]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    (root / "output.log").write_text(done.stdout + done.stderr)
    return root


CONFIGURATIONS = ["rtl", "rtl_flat", "rtl_flat_id8", "rtl_flat_sim", "rtl_id8", "rtl_small"]


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_configuration_is_emitted(name: str) -> None:
    """Every configuration of the core elaborates, because no target checks that."""
    configurations = yaml.safe_load((ROOT / "fpga" / "anemone.core").read_text())["generate"]
    assert sorted(configurations) == CONFIGURATIONS
    folder = emit(configurations[name]["parameters"])
    modules = {Path(name).stem for name in (folder / "filelist.f").read_text().split()}
    assert "BoardExpander" in modules


FLAT = ("--flag", "flat")


@pytest.mark.parametrize("flags", [(), ("--flag", "id8"), FLAT, ("--flag", "id8", *FLAT)])
def test_the_wrapper_lints(flags: tuple[str, ...]) -> None:
    """Verilator elaborates wrapper and RTL, with -Wall, for both generations of the tap, with and
    without flat memory mode.
    """
    fusesoc(f"lint{''.join(flags)}", *flags, "--target", "lint", CORE)


@pytest.mark.parametrize("flags", [(), FLAT])
def test_registers_and_lines_through_the_wrapper(flags: tuple[str, ...]) -> None:
    """The bench in fpga/sim is plain SystemVerilog, independent of the cocotb benches."""
    root = fusesoc(f"sim{''.join(flags)}", *flags, "--target", "sim", CORE)
    assert re.search(r"^PASS$", (root / "output.log").read_text(), re.MULTILINE)


def recorded(script: Path) -> list[list[str]]:
    """The commands that a Quartus Tcl script calls."""
    done = subprocess.run(
        ["tclsh", str(RECORD), str(script)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def project(name: str, *words: str) -> Path:
    """The Tcl script that makes the Quartus project."""
    root = fusesoc(name, "--target", "agilex", "--setup", CORE, *words)
    (script,) = root.glob("**/agilex-quartus/*.tcl")
    return script


def assignments(script: Path) -> dict[str, list[str]]:
    """The project's global assignments by name."""
    found: dict[str, list[str]] = {}
    for command in recorded(script):
        if command[0] == "set_global_assignment":
            assert command[1] == "-name"
            found.setdefault(command[2], []).append(command[3])
    return found


def test_the_project_of_quartus() -> None:
    """It names top, device, sources and constraints, and the sources are a complete design."""
    script = project("agilex")
    found = assignments(script)
    assert found["FAMILY"] == ["Agilex 7"]
    assert found["DEVICE"] == ["AGIB027R29A1E2VR3"]
    assert found["TOP_LEVEL_ENTITY"] == ["anemone_afu"]
    sources = [script.parent / name for name in found["SYSTEMVERILOG_FILE"]]
    constraints = [script.parent / name for name in found["SDC_FILE"]]
    assert all(path.is_file() for path in [*sources, *constraints])
    assert [path.name for path in constraints] == ["alone.sdc", "anemone_board.sdc"]
    pins = [c for c in recorded(script) if c[0] == "set_instance_assignment"]
    assert ["set_instance_assignment", "-name", "VIRTUAL_PIN", "ON", "-to", "*"] in pins
    slang = [sys.executable, "mk/slang.py", "anemone_afu", *map(str, sources)]
    done = subprocess.run(slang, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def test_another_device_and_ids_by_parameter() -> None:
    script = project("agilex-vb", "--device", "AGIB027R29A1E2VB")
    assert assignments(script)["DEVICE"] == ["AGIB027R29A1E2VB"]
    root = fusesoc("agilex-id8", "--flag", "id8", "--target", "agilex", "--setup", CORE)
    (script,) = root.glob("**/agilex-quartus/*.tcl")
    assert assignments(script)["VERILOG_MACRO"] == ["SYNTHESIS=1", "ANEMONE_ID_BITS=8"]


def exists(pattern: str, rtl: Path) -> bool:
    """Whether registers `<module>|instance|...|prefix*` are in the emitted SystemVerilog."""
    start, *path, last = pattern.removeprefix("registers:").split("|")
    module = start.strip("<>")
    for instance in path:
        text = (rtl / f"{module}.sv").read_text()
        found = re.search(rf"^  (\w+) {instance} \(", text, re.MULTILINE)
        assert found, f"{module} has no {instance}"
        module = found[1]
    kinds = r"(reg|logic)\s+(\[[\d:]+\]\s+)?"
    text = (rtl / f"{module}.sv").read_text()
    return re.search(rf"{kinds}{last.replace('*', chr(92) + 'w+')}( = \w+)?;", text) is not None


def test_the_constraints_name_what_crosses() -> None:
    """They set 400 MHz, and have the RTL's names of all synchronisers and both crossing words."""
    script = project("agilex-sdc")
    folder = next(script.parent.glob("src/*/agilex"))
    rtl = next(script.parent.glob("src/*-rtl_*/rtl"))
    clocks = recorded(folder / "alone.sdc")
    assert ["create_clock", "-name", "afu_clk", "-period", "2.5", "ports:afu_clk"] in clocks
    commands = recorded(folder / "anemone_board.sdc")
    named = {word for command in commands for word in command if word.startswith("registers:")}
    assert all(exists(pattern, rtl) for pattern in named), named
    false = [c for c in commands if c[0] == "set_false_path"]
    assert ["set_false_path", "-to", "registers:<Synchronizer>|meta"] in false
    words = [(c[2], c[4]) for c in false if c[1] == "-from"]
    for kind in ("set_max_skew", "set_net_delay"):
        assert [(c[2], c[4]) for c in commands if c[0] == kind] == words
    # All signals from one clock domain to the other go through one of these.
    links = set(re.findall(r"\.io_link_(\w+)", (rtl / "AvalonCrossing.sv").read_text()))
    levels = {name for name in links if not name.startswith(("command_", "answer_"))}
    halves = [(rtl / f"Crossing{half}.sv").read_text() for half in ("Host", "Device")]
    for half in halves:
        for level in re.findall(r"^  Synchronizer #\([^;]*?\) (\w+)_flops \(", half, re.MULTILINE):
            levels.remove(level)
    assert not levels, "levels that pass no Synchronizer"
