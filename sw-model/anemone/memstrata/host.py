# SPDX-License-Identifier: Apache-2.0
"""HOST.toml: what a hypervisor says of its machines, read; what is wrong is one line."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from anemone.io.errors import InputError
from anemone.io.tables import Table, parse_toml, read_text, toml_place
from anemone.memstrata.colouring import Layout
from anemone.memstrata.loop import INTERVAL_S
from anemone.memstrata.outliers import EWMA
from anemone.memstrata.plan import STEP_RATIO

PAGE_BYTES = 2 << 20  # §5
_MAX_COUNT = 1 << 40  # pages, cores, regions
_NUMBERS = re.compile(r"[0-9]{1,13}(-[0-9]{1,13})?(,[0-9]{1,13}(-[0-9]{1,13})?)*")
_VM = ("name", "cores", "pages", "dedicated")


@dataclass(frozen=True)
class Machine:
    """cores: that it is pinned to. pages, dedicated: as of now. regions: of the telemetry that
    counts its misses; none: it is not counted."""

    name: str
    cores: tuple[int, ...]
    pages: int
    dedicated: int
    regions: tuple[int, ...] = ()


@dataclass(frozen=True)
class HostFile:
    """telemetry: anemonectl's name of it; none: misses are not counted here."""

    file: str
    machines: tuple[Machine, ...]
    ratio: int = 1
    page_bytes: int = PAGE_BYTES
    interval_s: float = INTERVAL_S
    step_ratio: float = STEP_RATIO
    ewma: float = EWMA
    telemetry: str | None = None

    @property
    def layout(self) -> Layout:
        """Of the machines' pages, none of which is free."""
        size = self.ratio + 1
        colours = sum(-(-(vm.pages - vm.dedicated) // size) for vm in self.machines)
        dedicated = sum(vm.dedicated for vm in self.machines)
        return Layout(colours, self.ratio, dedicated, self.page_bytes)


def read_host(path: str | os.PathLike) -> HostFile:
    """Raises InputError."""
    text = read_text(path)
    content = parse_toml(text, path)
    top = Table(path, "", content, partial(toml_place, text))
    top.only("vm", optional=("ratio", "page_bytes", "interval", "step_ratio", "ewma", "telemetry"))
    listed = content["vm"]
    if not isinstance(listed, list) or not listed:
        raise top.wrong("vm", "one [[vm]] at least, each with " + ", ".join(_VM))
    settings: dict[str, Any] = {}
    for key, name in (("interval", "interval_s"), ("step_ratio", "step_ratio"), ("ewma", "ewma")):
        if key in content:
            maximum = 86400.0 if key == "interval" else 1.0
            settings[name] = top.real(key, minimum=0, above=True, maximum=maximum)
    if "ratio" in content:
        settings["ratio"] = top.number("ratio", minimum=1, maximum=4)
    if "page_bytes" in content:
        size = top.number("page_bytes", minimum=4096, maximum=1 << 30)
        if size.bit_count() != 1:
            raise top.wrong("page_bytes", "a power of two, 4096 to 0x40000000")
        settings["page_bytes"] = size
    if "telemetry" in content:
        settings["telemetry"] = _text(top, "telemetry")
    lines = [n for n, line in enumerate(text.split("\n"), 1) if re.match(r"\s*\[\[\s*vm\b", line)]
    machines: list[Machine] = []
    for i, each in enumerate(listed):
        place = f"line {lines[i]}: vm[{i}]" if len(lines) == len(listed) else f"vm[{i}]"
        if not isinstance(each, dict):
            raise InputError(path, place, "vm", each, "a table with " + ", ".join(_VM))
        machines.append(_machine(Table(path, place, each), machines, "telemetry" in content))
    return HostFile(str(path), tuple(machines), **settings)


def _machine(table: Table, before: list[Machine], counted: bool) -> Machine:
    table.only(*_VM, *(("regions",) if counted else ()))
    name = _text(table, "name")
    if any(vm.name == name for vm in before):
        raise table.wrong("name", "a name that no other VM has")
    pages = table.number("pages", maximum=_MAX_COUNT, minimum=1)
    dedicated = table.number("dedicated", maximum=pages)
    cores = _numbers(table, "cores")
    regions = _numbers(table, "regions") if counted else ()
    for key, own in (("cores", cores), ("regions", regions)):
        if {*own} & {n for vm in before for n in getattr(vm, key)}:
            raise table.wrong(key, f"{key} that no other VM has")
    return Machine(name, cores, pages, dedicated, regions)


def _numbers(table: Table, key: str) -> tuple[int, ...]:
    """As in Linux's lists of processors: 0-3,8."""
    value = table.content[key]
    found: list[int] = []
    if isinstance(value, str) and _NUMBERS.fullmatch(value):
        for part in value.split(","):
            first, last = int(part.split("-")[0]), int(part.split("-")[-1])
            if not first <= last < first + (1 << 20) < _MAX_COUNT:
                break
            found += range(first, last + 1)
        else:
            if len({*found}) == len(found):
                return tuple(found)
    raise table.wrong(key, 'numbers as in "0-3,8", each once')


def _text(table: Table, key: str) -> str:
    value = table.content[key]
    if not isinstance(value, str) or not value:
        raise table.wrong(key, "a text that is not empty")
    return value
