# SPDX-License-Identifier: Apache-2.0
"""From a checkout to the board: the overlay on a stand-in of the example design, and the commands
with a stand-in of Quartus or without Quartus.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fpga import board
from fpga.agilex import overlay
from tests.bench.build import ROOT, tools_path
from tests.fpga import example

PROJECT = "cxltyp3_memexp_ddr4_top"


def command(*words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path or os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, "-m", "fpga.board", *words],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("id_bits", "poison", "flat"), [(8, True, False), (12, False, False), (12, True, True)]
)
def test_the_overlaid_design_elaborates(
    tmp_path: Path, id_bits: int, poison: bool, flat: bool
) -> None:
    """Structs of both generations connect, also with enums; the original design is unchanged."""
    root = example.write(tmp_path / "example", id_bits, poison)
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    found = overlay.Example(root)
    assert not found.wrong
    out = tmp_path / "out"
    parameters = {"id_bits": id_bits, **(board.FLAT if flat else {})}
    overlay.write(found, board.emit(parameters), out, flat)
    assert before == {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    design = out / overlay.DESIGN
    project = (design / f"{PROJECT}.qsf").read_text()
    listed = [line.split()[-1] for line in project.splitlines() if "SYSTEMVERILOG_FILE" in line]
    assert "SDC_FILE ./anemone/anemone_board.sdc" in project
    macros = re.findall(r'VERILOG_MACRO "(\w+=\w+)"', project)
    assert ("ANEMONE_FLAT=1" in macros) == flat
    packages = sorted(out.glob("intel_rtile/synth/*.sv"))
    wrapper = (design / overlay.WRAPPER).read_text()
    assert "ex_default_csr_top_inst(\n" not in wrapper, "its place is Anemone's"
    ours = [name for name in listed if "anemone" in name]
    others = [name for name in listed if "anemone" not in name]
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wno-fatal", "--top-module", "ed_top_wrapper_typ3",
         *(f"-D{macro}" for macro in macros if "ANEMONE" in macro), *map(str, packages),
         *ours, *others],
        cwd=design, env={**os.environ, "PATH": tools_path()}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WIDTH" not in done.stderr and "PINMISSING" not in done.stderr, done.stderr[-3000:]


WRAPPER, AFU = overlay.WRAPPER, overlay.AFU
CHANGES = {
    "no afu_top": (AFU, None, None, "missing"),
    "another device": (f"{PROJECT}.qsf", "AGIB027R29A1E2VR3", "AGFB014R24A2E2V", "DEVICE is AGFB"),
    "twice": (WRAPPER, "endmodule", "afu_top again( .a( b ) );\nendmodule", "2 times, not once"),
    "an AFU of somebody's": (AFU, "= mc2iafu", "= delayed_mc2iafu", "would be lost"),
    "no AXI": (AFU, "mc2iafu_from_mc_axi4", "mc2iafu_readdata", "no port mc2iafu_from_mc_axi4"),
    "another bus": (WRAPPER, ".csr_avmm_read (", ".csr_avmm_chipselect (", "other ports"),
    "macro": (AFU, "module afu_top", f"`ifdef {overlay.MACRO}\n`endif\nmodule afu_top", "nowhere"),
    "overlaid before": (f"{PROJECT}.qsf", "FAMILY", "anemone FAMILY", "has Anemone already"),
    "another order": (
        "../intel_rtile/synth/ed_mc_axi_if_pkg.sv", "bready;", "bready_; logic x;",
        "field 0 is bready_, not bready",
    ),
    "another width": (
        "../intel_rtile/synth/ed_mc_axi_if_pkg.sv", "[52-1:0]", "[46-1:0]",
        "t_to_mc_axi4.awaddr has 46 bits, not 52",
    ),
    "ids of ten bits": (
        "../intel_rtile/synth/ed_mc_axi_if_pkg.sv", "BW = 8", "BW = 10", "is 10, not 8 or 12",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_differs_is_said_and_nothing_written(tmp_path: Path, change: str) -> None:
    name, old, new, message = CHANGES[change]
    root = example.write(tmp_path / "example")
    path = root / overlay.DESIGN / name
    if old is None:
        path.unlink()
    else:
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, str(new)))
    before = board.OUT.stat().st_mtime_ns if board.OUT.exists() else None
    done = command("overlay", str(root))
    assert done.returncode == 2
    assert message in done.stderr
    assert str(root) in done.stderr
    assert before == (board.OUT.stat().st_mtime_ns if board.OUT.exists() else None)


@pytest.mark.parametrize("name", ["bitstream", "flash", "check"])
def test_without_quartus(name: str, tmp_path: Path) -> None:
    done = command(name, "", path=str(tmp_path))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "not on PATH" in done.stderr and "Quartus Prime Pro 23.3" in done.stderr


@pytest.fixture
def quartus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins of Quartus's tools that record their calls, and a build folder."""
    tools = tmp_path / "bin"
    tools.mkdir()
    log = tmp_path / "calls"
    version = "Version 24.1.0 Build 115 03/21/2024 SC Pro Edition"
    bodies = {
        "quartus_sh": f"""case $1 in --version) echo "{version}"; exit;; esac
            mkdir output_files
            echo sof >output_files/top.sof
            cp {tmp_path}/summary output_files/top.sta.summary""",
        "quartus_pgm": "",
        "jtagconfig": 'echo "1) a kit [1-4]"; echo "  0341B0DD AGIB027R29A(.|R2|R3)"',
    }
    for name, body in bodies.items():
        script = tools / name
        script.write_text(f'#!/bin/sh\necho "{name} $*" >>{log}\n{body}\n')
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(board, "OUT", tmp_path / "board")
    monkeypatch.setattr(board, "DESIGN", tmp_path / "board" / overlay.DESIGN)
    return tmp_path


SUMMARY = """Type  : Slow 900mV 100C Model Setup 'afu_clk'
Slack : {}
TNS   : 0.000

Type  : Slow 900mV 100C Model Hold 'afu_clk'
Slack : 0.011
TNS   : 0.000
"""


@pytest.mark.parametrize(("slack", "code"), [("0.042", 0), ("-0.310", 1)])
def test_with_quartus(
    quartus: Path, capsys: pytest.CaptureFixture[str], slack: str, code: int
) -> None:
    """It is overlaid, compiled, judged by its timing, and programmed."""
    (quartus / "summary").write_text(SUMMARY.format(slack))
    root = example.write(quartus / "example")
    assert board.main(["bitstream", str(root), "flat"]) == code
    output = capsys.readouterr().out
    assert f"Setup: worst slack {float(slack):+.3f} ns" in output
    assert board.main(["check"]) == 0
    assert board.main(["flash"]) == 0
    calls = (quartus / "calls").read_text().splitlines()
    assert f"quartus_sh --flow compile {PROJECT}" in calls
    design = quartus / "board" / overlay.DESIGN
    assert "ANEMONE_FLAT=1" in (design / f"{PROJECT}.qsf").read_text()
    sof = design / "output_files" / "top.sof"
    assert calls[-1] == f"quartus_pgm -m jtag -o p;{sof}@1"


def test_what_is_missing_with_quartus(quartus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert board.main(["bitstream", ""]) == 2
    assert "EXAMPLE is not given" in capsys.readouterr().err
    assert board.main(["flash"]) == 2
    assert "output_files/*.sof: one file is expected, not none" in capsys.readouterr().err
    old = quartus / "bin" / "quartus_sh"
    old.write_text(
        old.read_text().replace("24.1.0", "18.1.0").replace("Pro Edition", "Lite Edition")
    )
    assert board.main(["bitstream", ""]) == 2
    assert "quartus_sh is 18.1 Lite, not Quartus Prime Pro 23.3" in capsys.readouterr().err
