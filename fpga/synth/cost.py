# SPDX-License-Identifier: Apache-2.0
"""Measures everything for the page, or a small configuration for the check."""

from __future__ import annotations

import json
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from anemone.io.build_cache import digest
from fpga.synth import agilex, ecp5, place
from fpga.synth.netlist import Netlist
from fpga.synth.rtl import Design, emit
from fpga.synth.tools import HERE, WORK, SynthesisError

BASELINE = HERE / "baseline.json"
MAPPED = HERE / "mapped.json"  # the mapped small configuration, with a digest of its sources
LIMITS = HERE / "limits.toml"
RENEW = ".venv/bin/python -m fpga.synth renew"

ENGINE = Design("engine", "engine", place.SIZES)
# The features of NEMO's prototype: one op, 64-bit counters, an immediate operand, reset by a read.
FEATURES = {
    "ops": "add",
    "widths": 64,
    "notify": "false",
    "effects": "none,reset",
    "operands": "immediate",
    "acknowledge": "false",
}
LEAN = Design("lean", "engine", {**ENGINE.options, **FEATURES})
LOOK = Design("look", "engine", ENGINE.options)
PLAIN = Design("plain", "engine", {**ENGINE.options, "acknowledge": "false"})
EXPANDER = place.EXPANDER
# All units at full width, but few instances and small memories.
SMALL = Design("small", "expander", {"pipelines": 1, "channels": 1, "states": 512, "table": 512})

GROWTH = 0.03
NOISE = 32  # cells by which an unchanged unit may grow


@contextmanager
def step(what: str, aside: bool = False):
    """Prints a step and the time it took."""
    to = sys.stderr if aside else sys.stdout
    print(f"synth: {what} ...", end=" ", flush=True, file=to)
    started = time.monotonic()
    yield
    print(f"{time.monotonic() - started:.0f} s", flush=True, file=to)


def _units(design: Design, files: list[Path], found: agilex.ByUnit, work: Path = WORK) -> dict:
    """Cells, instances and levels of every unit, and the levels of a pipeline's joined units."""
    units = {}
    for unit, (instances, cells) in found.netlist.units().items():
        units[unit] = {"instances": instances, **cells.as_dict(), **asdict(found.levels[unit])}
    pipeline = place.needed(files, "TelemetryPipeline")
    joined = agilex.levels(design, pipeline, "TelemetryPipeline", work, by_unit=True)
    units["whole pipeline"] = asdict(joined)
    return units


def _fed(found: agilex.ByUnit, units: list[str]) -> dict:
    """The registers and ports that most cells of some units feed."""
    return {unit: dict(found.netlist.fed(unit).most_common(8)) for unit in units}


def small_inputs(work: Path = WORK) -> list[Path]:
    """The files that determine the result of `small`."""
    ours = ["cost.py", "place.py", "memory.sv.template"]
    return [*emit(SMALL, work), *agilex.TOOLS, *(HERE / name for name in ours)]


def mapped(inputs: list[Path]) -> dict | None:
    """The result that `renew` stored, if the inputs are unchanged. It lacks the whole channel."""
    kept = json.loads(MAPPED.read_text())
    return kept["measured"] if kept["of"] == digest(inputs) else None


def small(work: Path = WORK, channel: bool = True) -> dict:
    """Measures the small configuration: total and units.

    channel: also the longest path of a whole channel, for which it is mapped once more.
    """
    files = emit(SMALL, work)
    found = agilex.by_unit(SMALL, files, work)
    units = _units(SMALL, files, found, work)
    if channel:
        needed = place.needed(files, "MemoryChannel")
        units["whole channel"] = asdict(agilex.levels(SMALL, needed, "MemoryChannel", work))
    return {"options": SMALL.options, "total": found.netlist.total().as_dict(), "units": units}


def _shut(files: list[Path]) -> list[Path]:
    """The files with a channel whose acknowledge window is disabled."""
    by_name = {file.stem: file for file in files}
    channel = by_name["MemoryChannel"]
    pin, text = "(io_windows_acknowledge_enable)", channel.read_text()
    if pin not in text:
        raise SynthesisError(f"{channel.name}: nothing has {pin}")
    by_name["MemoryChannel"] = channel.with_name("shut") / channel.name
    by_name["MemoryChannel"].parent.mkdir(exist_ok=True)
    by_name["MemoryChannel"].write_text(text.replace(pin, "(1'h0)"))
    return list(by_name.values())


def _channel(files: list[Path]) -> Netlist:
    """Maps a channel as one."""
    return agilex.whole(EXPANDER, place.needed(files, "MemoryChannel"), "MemoryChannel")


def everything() -> dict:
    """Measures everything that the page shows."""
    result: dict = {"options": ENGINE.options, "total": {}}
    with step("emitting the engines and the expander"):
        engine, lean, plain = emit(ENGINE), emit(LEAN), emit(PLAIN)
        expander = emit(EXPANDER)
    totals: list[tuple[str, Callable]] = [
        ("lane", lambda: agilex.whole(ENGINE, engine, "TelemetryLane")),
        ("pipeline", lambda: agilex.whole(ENGINE, engine, "TelemetryPipeline")),
        (
            "engine",
            lambda: agilex.whole(ENGINE, engine, "TelemetryEngine", kept="TelemetryPipeline"),
        ),
        (
            "lean engine",
            lambda: agilex.whole(LEAN, lean, "TelemetryEngine", kept="TelemetryPipeline"),
        ),
        (
            "engine without acknowledgements",
            lambda: agilex.whole(PLAIN, plain, "TelemetryEngine", kept="TelemetryPipeline"),
        ),
        ("channel", lambda: _channel(expander)),
        ("channel without acknowledgements", lambda: _channel(_shut(expander))),
    ]
    for name, measure in totals:
        with step(f"{name}, as one"):
            result["total"][name] = measure().total().as_dict()
    with step("expander, unit by unit (minutes)"):
        found = agilex.by_unit(EXPANDER, expander)
        result["units"] = _units(EXPANDER, expander, found)
    result["total"]["expander"] = found.netlist.total().as_dict()
    with step("flat memory mode, unit by unit (minutes)"):
        both = emit(place.TIERED)
        agilex.by_unit(place.TIERED, both)
    for unit in ("FlatMemory", "TieredMemory", "EventReadSequencer"):
        netlist = Netlist(WORK / place.TIERED.name / "units.json", unit)
        result["total"][unit] = netlist.total().as_dict()
    large = sorted(
        (unit for unit, cells in result["units"].items() if cells.get("alut", 0) >= 1000),
        key=lambda unit: -result["units"][unit]["alut"],
    )
    result["fed"] = _fed(found, [unit for unit in large if unit in found.netlist.modules])
    with step("clock of a lane on ECP5 (three times a minute or more)"):
        clock = ecp5.clock(ENGINE, engine, "TelemetryLane")
    result["clock"] = {"median": clock.median, **asdict(clock)}
    result["placed"] = {}
    for design, files, unit in place.shown():
        with step(f"{unit}, placed by itself"):
            result["placed"][unit] = place.place(design, files, unit).as_dict()
    return result


def look(module: str) -> Netlist:
    """Maps one module of the full-size engine as one."""
    with step(f"{module}, as one"):
        return agilex.whole(LOOK, emit(LOOK), module)


def limits() -> dict:
    return tomllib.loads(LIMITS.read_text())


def bars(result: dict) -> list[tuple[str, float, float, bool]]:
    """Rows of name, limit, measured value, and whether the limit is met."""
    asked = limits()["bars"]
    total, mhz = result["total"], result["clock"]["median"]

    def more(what: str) -> int:
        return total[what]["alut"] - total[f"{what} without acknowledgements"]["alut"]

    window = more("engine") + result["options"]["channels"] * more("channel")
    most = [
        ("ALUT of the engine", "engine_alut", total["engine"]["alut"]),
        ("ALUT of the lean engine", "lean_alut", total["lean engine"]["alut"]),
        ("M20K of the engine", "engine_m20k", total["engine"]["m20k"]),
        ("ALUT of the acknowledge window", "acknowledge_alut", window),
    ]
    found = [
        (f"{what}, at most", asked[bar], measured, measured <= asked[bar])
        for what, bar, measured in most
    ]
    alone, placed = limits()["place"], result["placed"].values()
    least = [
        ("MHz of a lane, at least", asked["lane_mhz"], mhz),
        ("MHz of the slowest unit, at least", alone["mhz"], min(u["median"] for u in placed)),
    ]
    deepest = max(u["lookups"] for u in placed)
    return [
        *found,
        *((what, bar, measured, measured >= bar) for what, bar, measured in least),
        (
            "look-ups of the deepest unit, at most",
            alone["lookups"],
            deepest,
            deepest <= alone["lookups"],
        ),
    ]


def grown(now: dict, before: dict) -> list[str]:
    """A line for every figure that has grown by more than GROWTH."""
    lines = []

    def compare(unit: str, now: dict, before: dict, noise: int) -> None:
        for figure in ("alut", "registers", "lutram", "m20k"):
            new, old = now[figure], before.get(figure, 0)
            if new > old * (1 + GROWTH) + noise:
                more = f"{new / old - 1:+.1%}" if old else "new"
                lines.append(
                    f"{unit}: {new} {figure}, baseline {old} ({more}, {GROWTH:.0%} allowed);"
                    f" if that is meant: {RENEW}"
                )

    compare("whole", now["total"], before["total"], 0)
    for unit, cells in now["units"].items():
        if "alut" in cells:
            compare(unit, cells, before["units"].get(unit, {}), NOISE)
    return lines


def too_deep(now: dict, levels: dict) -> list[str]:
    """A line for every unit with a longer path than its limit."""
    lines = []
    for unit, cells in now["units"].items():
        allowed = levels.get(unit, levels["any"])
        for figure in ("path", "lookups"):
            if cells[figure] > allowed[figure]:
                name = unit if unit in levels else "any"
                lines.append(
                    f"{unit}: {figure} of {cells[figure]} cells, limit {allowed[figure]}"
                    f" (fpga/synth/limits.toml, levels.{name})"
                )
    return lines


def keep(found: dict) -> None:
    """Stores a mapping."""
    MAPPED.write_text(json.dumps(found, separators=(",", ":")) + "\n")


def baseline() -> dict:
    return json.loads(BASELINE.read_text())


def renew() -> None:
    """Stores the mapping and the baseline. The baseline has no levels, because they have limits."""
    inputs = small_inputs()
    measured = small(channel=False)
    keep({"of": digest(inputs), "measured": measured})
    for cells in measured["units"].values():
        cells.pop("path")
        cells.pop("lookups")
    del measured["units"]["whole pipeline"]
    units = measured.pop("units")
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(units[name])}" for name in sorted(units))
    rest = json.dumps(measured, indent=1)[:-2]
    BASELINE.write_text(f'{rest},\n "units": {{\n{rows}\n }}\n}}\n')
