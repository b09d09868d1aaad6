# SPDX-License-Identifier: Apache-2.0
"""Describes a top as an IP-XACT component (IEEE 1685-2014): AXI buses, pins, registers, files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from peakrdl_ipxact import IPXACTExporter, Standard
from systemrdl import MemNode, RDLCompiler
from systemrdl.messages import MessagePrinter, Severity
from systemrdl.source_ref import SourceRefBase

from fpga.ip.tops import ROOT, Port

SPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
REGISTERS = ROOT / "hw" / "regs" / "anemone.rdl"
VENDOR, LIBRARY, VERSION = "anemone", "expander", "0.1.0"
# The suffixes of AXI pins.
AXI_PIN = re.compile(r"(aw|w|b|ar|r)(id|addr|len|size|burst|data|strb|last|user|resp|valid|ready)")
FILE_TYPES = {".sv": "systemVerilogSource", ".sdc": "SDC"}


class Quiet(MessagePrinter):
    """Prints only errors: the exporter warns about each memory, which `memory_maps` adds."""

    def print_message(self, severity: Severity, text: str, src_ref: SourceRefBase | None) -> None:
        if severity >= Severity.ERROR:
            super().print_message(severity, text, src_ref)


def tag(name: str) -> str:
    return f"{{{SPACE}}}{name}"


def add(parent: Element, element: str, text: object = None, **attributes: str) -> Element:
    """Adds a child element, with a text if there is one."""
    child = SubElement(parent, tag(element), attributes)
    child.text = None if text is None else str(text)
    return child


def buses(ports: Sequence[Port]) -> dict[str, dict[str, Port]]:
    """The AXI buses of a module: by prefix of their pins' names, the pin of each signal."""
    pins = {port.name: port for port in ports}
    starts = [name.removesuffix("awvalid") for name in pins if name.endswith("_awvalid")]
    return {
        start: {
            name.removeprefix(start): pin
            for name, pin in pins.items()
            if name.startswith(start) and AXI_PIN.fullmatch(name.removeprefix(start))
        }
        for start in starts
    }


def memory_maps() -> Element:
    """The registers of the control port."""
    compiler = RDLCompiler(message_printer=Quiet())
    compiler.compile_file(str(REGISTERS))
    top = compiler.elaborate().top
    exporter = IPXACTExporter(standard=Standard.IEEE_1685_2014)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registers.xml"
        exporter.export(top, str(path))
        found = ElementTree.parse(path).getroot().find(tag("memoryMaps"))
    assert found is not None and len(found) == 1
    registers = found[0].find(tag("addressBlock"))
    assert registers is not None
    memories = [node for node in top.children() if isinstance(node, MemNode)]
    # The exporter's block reaches to the map's end, but the memories lie behind its registers.
    size = registers.find(tag("range"))
    assert size is not None
    size.text = f"'h{min(memory.address_offset for memory in memories):x}"
    for number, memory in enumerate(memories):
        block = Element(tag("addressBlock"))
        add(block, "name", memory.inst_name)
        add(block, "baseAddress", f"'h{memory.address_offset:x}")
        add(block, "range", f"'h{memory.size:x}")
        add(block, "width", memory.get_property("memwidth"))
        add(block, "usage", "memory")
        found[0].insert(list(found[0]).index(registers) + 1 + number, block)
    return found


def add_bus(parent: Element, start: str, signals: dict[str, Port], registers: str) -> None:
    """Adds an AXI bus: its standard, its pins, and whether it is a master or a slave."""
    kind = "AXI4" if "awlen" in signals else "AXI4-Lite"
    bus = add(parent, "busInterface")
    add(bus, "name", start.rstrip("_"))
    standard = {"vendor": "amba.com", "library": "AMBA4", "version": "r0p0_0"}
    add(bus, "busType", name=kind, **standard)
    types = add(add(bus, "abstractionTypes"), "abstractionType")
    add(types, "abstractionRef", name=f"{kind}_rtl", **standard)
    maps = add(types, "portMaps")
    for signal, pin in signals.items():
        pair = add(maps, "portMap")
        add(add(pair, "logicalPort"), "name", signal.upper())
        add(add(pair, "physicalPort"), "name", pin.name)
    if signals["awvalid"].direction == "out":
        add(bus, "master")
    else:
        slave = add(bus, "slave")
        if kind == "AXI4-Lite":
            add(slave, "memoryMapRef", memoryMapRef=registers)


def add_model(
    parent: Element, module: str, ports: Sequence[Port], clocks: dict[str, float]
) -> None:
    """Adds the module that implements the component, and its pins."""
    model = add(parent, "model")
    view = add(add(model, "views"), "view")
    add(view, "name", "rtl")
    add(view, "envIdentifier", ":*Synthesis:")
    add(view, "componentInstantiationRef", "systemverilog")
    instantiation = add(add(model, "instantiations"), "componentInstantiation")
    add(instantiation, "name", "systemverilog")
    add(instantiation, "language", "SystemVerilog")
    add(instantiation, "moduleName", module)
    add(add(instantiation, "fileSetRef"), "localName", "rtl")
    add(add(instantiation, "fileSetRef"), "localName", "constraints")
    pins = add(model, "ports")
    for port in ports:
        pin = add(pins, "port")
        add(pin, "name", port.name)
        wire = add(pin, "wire")
        add(wire, "direction", port.direction)
        if port.bits > 1:
            vector = add(add(wire, "vectors"), "vector")
            add(vector, "left", port.bits - 1)
            add(vector, "right", 0)
        if port.name in clocks:
            drive = add(add(add(wire, "drivers"), "driver"), "clockDriver")
            period = clocks[port.name]
            add(drive, "clockPeriod", period)
            add(drive, "clockPulseOffset", 0)
            add(drive, "clockPulseValue", 1)
            add(drive, "clockPulseDuration", period / 2)


def component(
    name: str,
    module: str,
    what: str,
    ports: Sequence[Port],
    clocks: dict[str, float],
    files: dict[str, Sequence[str]],
) -> str:
    """The XML of a top. clocks: periods in ns by pin. files: names by set, `rtl`, `constraints`."""
    ElementTree.register_namespace("ipxact", SPACE)
    root = Element(tag("component"))
    for field, text in zip(
        ("vendor", "library", "name", "version"), (VENDOR, LIBRARY, name, VERSION), strict=True
    ):
        add(root, field, text)
    found = buses(ports)
    control = any("awlen" not in signals for signals in found.values())
    maps = memory_maps()
    if found:
        interfaces = add(root, "busInterfaces")
        for start, signals in found.items():
            add_bus(interfaces, start, signals, maps[0].findtext(tag("name"), ""))
    if control:
        root.append(maps)
    add_model(root, module, ports, clocks)
    sets = add(root, "fileSets")
    for group, names in files.items():
        file_set = add(sets, "fileSet")
        add(file_set, "name", group)
        for path in names:
            file = add(file_set, "file")
            add(file, "name", path)
            add(file, "fileType", FILE_TYPES[Path(path).suffix])
    add(root, "description", what)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
