# SPDX-License-Identifier: Apache-2.0
"""Puts Anemone into a copy of Intel's R-Tile CXL Type-3 example design: `make overlay`.

The example is the folder that Quartus generated, with hardware_test_design in it. It is not
changed. All needed files are checked before the copy, and a place to edit must be found exactly
once; otherwise `Example.wrong` lists all differences, one line each.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
DESIGN = Path("hardware_test_design")
AFU, CSR = "common/afu/afu_top.sv", "common/ex_default_csr/ex_default_csr_top.sv"
WRAPPER = "ed_top_wrapper_typ3.sv"
PACKAGES = {"mc_axi_if_pkg": "cxlip_top_pkg", "ed_mc_axi_if_pkg": "ed_cxlip_top_pkg"}
TAP = ("cxlip2iafu_to_mc_axi4", "iafu2mc_to_mc_axi4", "mc2iafu_from_mc_axi4")
TAP = (*TAP, "iafu2cxlip_from_mc_axi4")
BUS = "clk rstn waitrequest readdata readdatavalid writedata poison address write read byteenable"
# Defines SYNTHESIS only around our files, so that Quartus skips their simulation checks and Intel's
# files see no change.
GUARD = """\
`ifndef SYNTHESIS
  `define SYNTHESIS
  `define ANEMONE_SYNTHESIS
`endif
{}
`ifdef ANEMONE_SYNTHESIS
  `undef SYNTHESIS
  `undef ANEMONE_SYNTHESIS
`endif
"""
MACRO = "OOORSP_MC_AXI2AVMM"


def code(path: Path) -> str:
    """A source with blanks in the place of comments, so that positions stay the same."""
    text = path.read_text(errors="replace")
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])  # noqa: E731
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.DOTALL)


def fields(text: str, name: str) -> list[tuple[str, str]]:
    """The fields of a packed struct in order: name and type as written."""
    found = re.search(rf"typedef\s+struct\s+packed\s*{{([^}}]*)}}\s*{name}\s*;", text)
    declared = [" ".join(part.split()) for part in found[1].split(";")] if found else []
    return [(part.split()[-1], part.rsplit(" ", 1)[0]) for part in declared if part]


def bits(kind: str, text: str) -> int | None:
    """The width of a field's type; None for a type of another package."""
    found = re.fullmatch(r"logic ?(?:\[([^:]+?) ?: ?0\])?", kind)
    if not found:
        return None
    high = (found[1] or "0").replace(" ", "")
    name, _, less = high.partition("-")
    if name.isdigit():
        return int(name) - int(less or 0) + 1
    value = re.search(rf"(?:localparam|parameter)\s+(?:int\s+)?{name}\s*=\s*(\d+)\s*;", text)
    return int(value[1]) - int(less or 0) + 1 if value else None


def instance(text: str, module: str) -> list[re.Match[str]]:
    """The instances of a module; the second group of each match is its connections."""
    return list(re.finditer(rf"\b{module}\s+(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*;", text))


@dataclass
class Example:
    """An example design, and the reasons why it cannot be used."""

    root: Path
    wrong: list[str] = field(default_factory=list)
    id_bits: int = 0

    def __post_init__(self) -> None:
        self.design = self.root / DESIGN
        needed = {name: self.design / name for name in (AFU, CSR, WRAPPER)}
        for name, path in needed.items():
            if not path.is_file():
                self.wrong.append(
                    f"{path}: missing; {DESIGN}/{name} comes with the Type-3 example design of "
                    "Quartus Prime Pro 23.3 to 24.1, generated for DDR4 hardware"
                )
        projects = sorted(self.design.glob("*.qsf"))
        if len(projects) != 1:
            names = ", ".join(path.name for path in projects) or "none"
            self.wrong.append(f"{self.design}/*.qsf: one project is expected, not {names}")
        if not self.wrong:
            self.project = projects[0]
            self._project()
            self._package()
            self._afu(code(needed[AFU]))
            self._wrapper(needed[WRAPPER])

    def _project(self) -> None:
        text = self.project.read_text(errors="replace")
        device = re.findall(r"-name\s+DEVICE\s+(\S+)", text)
        if len(device) != 1 or not device[0].startswith("AGIB027R29A"):
            self.wrong.append(
                f"{self.project}: DEVICE is {' '.join(device) or 'missing'}, not AGIB027R29A...; "
                "generate the example design for the Agilex 7 I-Series kit"
            )
        if AFU not in text:
            self.wrong.append(
                f"{self.project}: {AFU} is not among its sources; nothing would change"
            )
        if "anemone" in text:
            self.wrong.append(f"{self.project}: has Anemone already; start from Quartus's own")

    def _package(self) -> None:
        found = []
        for path in sorted([*self.root.rglob("*.sv"), *self.root.rglob("*.svh*")]):
            for name in PACKAGES:
                if re.search(rf"^\s*package\s+{name}\s*;", code(path), re.MULTILINE):
                    found.append((name, path))
        # The IP has a copy for synthesis and one for simulation.
        kept = {name: path for name, path in found if "sim" not in path.parts}
        if len(kept) != 1:
            what = ", ".join(f"{name} in {path}" for name, path in found) or "none"
            wanted = " or ".join(PACKAGES)
            self.wrong.append(
                f"{self.root}: one package {wanted} is expected, found: {what}; "
                "generate the HDL of the IP"
            )
            return
        ((self.package, path),) = kept.items()
        ours, theirs = code(HERE / "anemone_tap_pkg.sv"), code(path)
        widths = re.search(r"\bMC_AXI_RRC_ID_BW\s*=\s*(\d+)", theirs)
        self.id_bits = int(widths[1]) if widths else 0
        if self.id_bits not in (8, 12):
            self.wrong.append(f"{path}: MC_AXI_RRC_ID_BW is {self.id_bits}, not 8 or 12")
        ours = re.sub(r"ID_BITS\s*=\s*`ANEMONE_ID_BITS", f"ID_BITS = {self.id_bits}", ours)
        ours = ours.replace("DATA_BITS/8", "64")
        for mine, their in (("to_mc_t", "t_to_mc_axi4"), ("from_mc_t", "t_from_mc_axi4")):
            self._struct(path, their, fields(ours, mine), fields(theirs, their), ours, theirs)

    def _struct(
        self,
        path: Path,
        name: str,
        ours: list[tuple[str, str]],
        theirs: list[tuple[str, str]],
        our_text: str,
        their_text: str,
    ) -> None:
        mine, their = [n for n, _ in ours], [n for n, _ in theirs]
        if mine != their:
            first = next(
                (i for i, p in enumerate(zip(mine, their, strict=False)) if p[0] != p[1]), None
            )
            at = min(len(mine), len(their)) if first is None else first
            saw, want = ((names[at : at + 1] or ["nothing"])[0] for names in (their, mine))
            self.wrong.append(
                f"{path}: {name}: field {at} is {saw}, not {want}; "
                "anemone_tap_pkg.sv has to follow it"
            )
            return
        for (field_name, kind), (_, our_kind) in zip(theirs, ours, strict=True):
            saw, want = bits(kind, their_text), bits(our_kind, our_text)
            if saw is not None and saw != want:
                self.wrong.append(f"{path}: {name}.{field_name} has {saw} bits, not {want}")

    def _afu(self, text: str) -> None:
        path = self.design / AFU
        if missing := [port for port in TAP if not re.search(rf"\b{port}\b", text)]:
            self.wrong.append(
                f"{path}: no port {', '.join(missing)}; "
                "generate the IP with AXI4 to the memory controller"
            )
        for to, by in ((TAP[1], TAP[0]), (TAP[3], TAP[2])):
            if not re.search(rf"assign\s+{to}\s*=\s*{by}\s*;", text):
                self.wrong.append(
                    f"{path}: {to} is not simply {by}; what is in between would be lost, "
                    "move it below or above Anemone by hand"
                )
        if f"`ifdef {MACRO}" in text:
            places = [self.project, *self.root.rglob("*.iv"), *self.root.rglob("*.vh")]
            if not any(
                re.search(rf"`define\s+{MACRO}\b|VERILOG_MACRO\s+\"?{MACRO}", code(p))
                for p in places
            ):
                self.wrong.append(
                    f"{self.root}: {MACRO} is defined nowhere; the tap would not be AXI4"
                )

    def _wrapper(self, path: Path) -> None:
        text = code(path)
        afu, csr = instance(text, "afu_top"), instance(text, "ex_default_csr_top")
        for name, places in (("afu_top", afu), ("ex_default_csr_top", csr)):
            if len(places) != 1:
                self.wrong.append(f"{path}: {name} is instantiated {len(places)} times, not once")
        if len(afu) != 1 or len(csr) != 1:
            return
        bus = dict(re.findall(r"\.csr_avmm_(\w+)\s*\(\s*([\w']+)\s*\)", csr[0][2]))
        bus.setdefault("poison", "1'b0")  # before 24.1 there was none
        names = BUS.split()
        if set(bus) != set(names):
            odd = ", ".join(sorted(set(bus) ^ set(names)))
            self.wrong.append(f"{path}: ex_default_csr_top has other ports than expected: {odd}")
        if missing := [port for port in TAP if f".{port}" not in afu[0][2]]:
            self.wrong.append(f"{path}: afu_top is not connected to {', '.join(missing)}")
        raw = path.read_text(errors="replace")
        lines = "".join(f",\n    .csr_avmm_{name} ({bus.get(name)})" for name in names)
        edits = sorted([(afu[0].end(2), afu[0].end(2), lines + "\n"), (*csr[0].span(), "")])
        if len(raw) != len(text):
            self.wrong.append(f"{path}: comments that this script cannot read")
        for start, end, new in reversed(edits):
            raw = raw[:start] + new + raw[end:]
        self.wrapper = raw


def write(example: Example, rtl: Path, out: Path, flat: bool = False) -> None:
    """Writes a copy of the example design with Anemone in it. flat: in flat memory mode."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(example.root, out, symlinks=True)
    design = out / DESIGN
    (design / "anemone").mkdir()
    names = [Path(name).name for name in (rtl / "filelist.f").read_text().split()]
    sources = [HERE / "anemone_tap_pkg.sv", HERE / "anemone_afu.sv", *(rtl / n for n in names)]
    shutil.copy(HERE / "anemone_board.sdc", design / "anemone")
    for source in sources:
        (design / "anemone" / source.name).write_text(GUARD.format(source.read_text()))
    template = (HERE / "afu_top.sv.template").read_text().replace("@PACKAGE@", example.package)
    (design / AFU).write_text(template.replace("@TOP@", PACKAGES[example.package]))
    (design / WRAPPER).write_text(example.wrapper)
    lines = [f'VERILOG_MACRO "ANEMONE_ID_BITS={example.id_bits}"']
    lines += ['VERILOG_MACRO "ANEMONE_FLAT=1"'] if flat else []
    lines += [f"SYSTEMVERILOG_FILE ./anemone/{source.name}" for source in sources]
    lines += ["SDC_FILE ./anemone/anemone_board.sdc"]
    with (design / example.project.name).open("a") as project:
        project.write("\n# Anemone\n")
        project.writelines(f"set_global_assignment -name {line}\n" for line in lines)
