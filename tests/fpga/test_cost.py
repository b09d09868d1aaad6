# SPDX-License-Identifier: Apache-2.0
"""The hardware's cost: no unit grows unnoticed, no path gets longer than its limit."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest

from anemone.io.build_cache import digest
from fpga.synth import cost, ecp5, page, place
from fpga.synth.netlist import Netlist, unit_of
from fpga.synth.rtl import block_ram
from fpga.synth.tools import ROOT, WORK, SynthesisError, yosys
from tests.bench.result_cache import cached


def words(unit: str) -> int:
    """The words of a memory, from its name; 0 for other modules."""
    found = re.match(r"memory_(\d+)x", unit)
    return int(found[1]) if found else 0


def test_small_configuration() -> None:
    """Cells and levels, and the arrays are block RAM. One test, because the mapping takes minutes.

    Hardware that was mapped for the baseline is not mapped again. `make bench` maps a whole
    channel, which takes as long again (fpga.synth check).
    """
    inputs = cost.small_inputs(WORK / "test")
    measured = cost.mapped(inputs) or cached(
        inputs, lambda: cost.small(WORK / "test", channel=False)
    )
    levels = cost.limits()["levels"]
    wrong = cost.grown(measured, cost.baseline()) + cost.too_deep(measured, levels)
    units = measured["units"]
    elsewhere = {"any", "whole channel"}
    wrong += [f"limits.toml: no unit {name}" for name in levels.keys() - {*elsewhere, *units}]
    # Memories with fewer words than this belong in LUT RAM.
    arrays = {unit: cells for unit, cells in units.items() if words(unit) >= 64}
    wrong += [
        f"{unit}: {cells}, not block RAM alone"
        for unit, cells in arrays.items()
        if not cells["m20k"] or cells["alut"] or cells["registers"] or cells["lutram"]
    ]
    assert arrays and not wrong, "\n".join(wrong)


def test_what_was_mapped_is_of_this_hardware_only(tmp_path: Path) -> None:
    inputs = [tmp_path / "Unit.sv", tmp_path / "agilex.py"]
    for path in inputs:
        path.write_text(path.name)
    measured = {"total": {"alut": 1}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cost, "MAPPED", tmp_path / "mapped.json")
        cost.keep({"of": digest(inputs), "measured": measured})
        assert cost.mapped(inputs) == measured
        for path in inputs:
            path.write_text("another")
            assert cost.mapped(inputs) is None
            path.write_text(path.name)


def plain() -> dict:
    """A measurement equal to the baseline, with all levels within their limits."""
    now = copy.deepcopy(cost.baseline())
    for cells in now["units"].values():
        cells.update(path=0, lookups=0)
    return now


def test_growth_is_named() -> None:
    now = plain()
    before = now["units"]["UpdateAlu"]["alut"]
    now["units"]["UpdateAlu"]["alut"] = more = round(before * 1.2)
    (line,) = cost.grown(now, cost.baseline())
    for part in (
        "UpdateAlu",
        "alut",
        f"baseline {before}",
        f"+{more / before - 1:.1%}",
        cost.RENEW,
    ):
        assert part in line


def test_growth_within_the_limit_is_none() -> None:
    now = plain()
    now["total"]["alut"] = int(now["total"]["alut"] * 1.03)
    assert cost.grown(now, cost.baseline()) == []
    now["total"]["alut"] += 1
    assert len(cost.grown(now, cost.baseline())) == 1


def test_a_new_unit_counts() -> None:
    now = plain()
    now["units"]["Novelty"] = {**now["units"]["UpdateAlu"]}
    assert {line.split(":")[0] for line in cost.grown(now, cost.baseline())} == {"Novelty"}


def test_a_long_path_is_named() -> None:
    now = plain()
    now["units"]["UpdateAlu"]["path"] = 1000
    now["units"]["Novelty"] = {"path": 0, "lookups": 1000}
    first, second = cost.too_deep(now, cost.limits()["levels"])
    assert "UpdateAlu" in first and "path of 1000" in first and "levels.UpdateAlu" in first
    assert "Novelty" in second and "lookups of 1000" in second and "levels.any" in second


# Units that are deeper than they may be, until they are mended.
DEEP = {"TelemetryLineBuffer", "whole channel"}


def test_no_limit_is_above_what_is_asked() -> None:
    """Otherwise a unit's own limit could hide that it became too deep."""
    limits = cost.limits()
    above = [u for u, at in limits["levels"].items() if at["lookups"] > limits["place"]["lookups"]]
    assert set(above) <= DEEP


def test_units_are_those_with_a_file(tmp_path: Path) -> None:
    names = ("RegisterSlice", "RegisterSlice_2", "MemoryExpander", "Queue2_UInt2", "memory_4x3")
    assert place.units(tmp_path / f"{name}.sv" for name in names) == ["RegisterSlice"]


def test_a_unit_is_placed_with_what_is_in_it(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.sv" for name in ("A", "A_1", "B", "C")]
    for file, inside in zip(files, ("A_1 x();", "C y();", "A z();", ""), strict=True):
        file.write_text(f"module {file.stem}(); {inside} endmodule")
    assert [file.stem for file in place.needed(files, "A")] == ["A", "A_1", "C"]


def test_no_pin_of_a_placed_unit_is_on_a_path() -> None:
    ports = {
        "clock": {"direction": "input", "bits": [2]},
        "a": {"direction": "input", "bits": [3, 4, 5]},
        "b": {"direction": "output", "bits": [6, 7]},
        "c": {"direction": "input", "bits": [8]},
    }
    text = ecp5.bench("Unit", ports)
    assert "Unit unit(.clock(clock), .a(feed[2:0]), .b(result[1:0]), .c(feed[3:3]));" in text
    assert "reg [4-1:0] feed;" in text and "wire [2-1:0] result;" in text


def test_the_placed_are_shown_slowest_first() -> None:
    found = {
        unit: place.Placed(dict(zip("123", mhz, strict=True)), 5, "an input", "used").as_dict()
        for unit, mhz in {"Fast": (150.0, 90.0, 140.0), "Slow": (100.0, 99.0, 200.0)}.items()
    }
    slow, fast = page._placed(found).splitlines()
    assert slow == "| Slow | 100.0 | 99.0 | 200.0 | 100.0 | 5 | `an input` to `used` |"
    assert fast.startswith("| Fast | 150.0 | 90.0 | 140.0 | 140.0 |")


def test_the_acknowledge_window_is_of_the_engine_and_of_all_channels() -> None:
    alut = {"engine": 1000, "lean engine": 400, "channel": 300}
    alut |= {"engine without acknowledgements": 900, "channel without acknowledgements": 250}
    unit = place.Placed({"1": 120.0}, 5, "an input", "used").as_dict()
    result = {
        "options": {"channels": 2},
        "total": {name: {"alut": number, "m20k": 640} for name, number in alut.items()},
        "clock": {"median": 150.0},
        "placed": {"Unit": unit},
    }
    found = {what: (measured, held) for what, _, measured, held in cost.bars(result)}
    assert found["ALUT of the acknowledge window, at most"] == (100 + 2 * 50, True)
    result["total"]["channel"]["alut"] += 1000
    assert (
        "ALUT of the acknowledge window, at most",
        cost.limits()["bars"]["acknowledge_alut"],
        100 + 2 * 1050,
        False,
    ) in cost.bars(result)


def test_a_channel_whose_window_cannot_be_shut_is_an_error(tmp_path: Path) -> None:
    channel = tmp_path / "MemoryChannel.sv"
    channel.write_text("Unit unit(.enable (io_windows_acknowledge_enable));")
    (shut,) = cost._shut([channel])
    assert shut.read_text() == "Unit unit(.enable (1'h0));"
    channel.write_text("Unit unit(.enable (renamed));")
    with pytest.raises(SynthesisError, match=r"MemoryChannel\.sv: nothing has"):
        cost._shut([channel])


def netlist(folder: Path) -> Netlist:
    """Two inner modules in a top: an inverted AND before a register, and a carry bit."""

    def cell(kind: str, inputs: dict, outputs: dict) -> dict:
        return {
            "type": kind,
            "connections": {**inputs, **outputs},
            "port_directions": dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output"),
        }

    inner = {
        "and": cell("MISTRAL_ALUT2", {"A": [2], "B": [3]}, {"Q": [4]}),
        "not": cell("MISTRAL_NOT", {"A": [4]}, {"Q": [5]}),
        "ff": cell("MISTRAL_FF", {"DATAIN": [5], "ENA": [7]}, {"Q": [6]}),
        "carry": cell("MISTRAL_ALUT_ARITH", {"A": [2]}, {"SO": [7], "CO": [8]}),
    }
    names = {"kept_3": {"bits": [6]}, "a_longer_name": {"bits": [6]}}
    port = {"out": {"direction": "output", "bits": [8]}}
    unit = {"attributes": {}, "ports": port, "cells": inner, "netnames": names}
    outer = {"x": cell("Unit", {}, {}), "y": cell("Unit_1", {}, {})}
    top = {"attributes": {}, "ports": {}, "cells": outer, "netnames": {}}
    library = {"attributes": {"blackbox": "1"}, "ports": {}, "cells": {}, "netnames": {}}
    modules = {"Top": top, "Unit": unit, "Unit_1": unit, "MISTRAL_FF": library}
    path = folder / "netlist.json"
    path.write_text(json.dumps({"modules": modules}))
    return Netlist(path, "Top")


def test_cells_are_counted_once_an_instance(tmp_path: Path) -> None:
    counted = netlist(tmp_path)
    instances, cells = counted.units()["Unit"]
    assert instances == 2
    assert cells.as_dict() == {"alut": 4, "carry": 2, "registers": 2, "lutram": 0, "m20k": 0}
    assert counted.total() == cells


def test_cells_belong_to_what_they_feed(tmp_path: Path) -> None:
    assert netlist(tmp_path).fed("Unit") == {"kept_*": 1, "out": 1}


@pytest.mark.parametrize(
    ("module", "unit"),
    [("Ram1R1W_14", "Ram1R1W"), ("UpdateAlu", "UpdateAlu"), ("memory_64x8", "memory_64x8")],
)
def test_variants_are_one_unit(module: str, unit: str) -> None:
    assert unit_of(module) == unit


def test_a_tool_that_fails_says_where() -> None:
    with pytest.raises(SynthesisError, match=r"yosys: .*no_such_file.*build/synth/test/wrong.log"):
        yosys("agilex", "read_verilog no_such_file.v\n", WORK / "test" / "wrong")


@pytest.mark.parametrize("name", ["agilex", "ecp5"])
def test_tools_are_locked_and_explained(name: str) -> None:
    requirements, lock = (
        (ROOT / f"fpga/synth/tools/{name}.{kind}").read_text() for kind in ("in", "lock")
    )
    pins = [line for line in requirements.splitlines() if "==" in line]
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert all("--hash=sha256:" in entry for entry in entries)
    assert {entry.split(" ")[0] for entry in entries} >= set(pins)
    explained = (ROOT / "docs/dependencies.md").read_text()
    assert [pin for pin in pins if pin.split("==")[0] not in explained] == []


def test_page_is_of_this_template() -> None:
    """The committed page has the headings and columns that `make synth` writes."""
    kept = ("#", "| ---")
    shape = [line for line in page.TEMPLATE.read_text().splitlines() if line.startswith(kept)]
    there = [line for line in page.PAGE.read_text().splitlines() if line.startswith(kept)]
    assert there == shape


def test_memory_is_what_firtool_emits() -> None:
    """By a bounded proof, except for reads of the word being written, whose value is not used."""
    proof = ROOT / "tests/fpga/memory_proof.sv"
    text = block_ram("memory_4x3")
    assert text
    folder = WORK / "test"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory_4x3.sv").write_text(text)
    sources = [(folder / "memory_4x3.sv").relative_to(ROOT), proof.relative_to(ROOT)]
    script = (
        f"read_verilog -sv -formal {sources[0]} {sources[1]}\n"
        "prep -flatten -top Proof\nmemory_map\nchformal -lower\n"
        "sat -verify -tempinduct -tempinduct-baseonly -maxsteps 8"
        " -prove-asserts -set-assumes -set-init-zero Proof\n"
    )
    yosys("agilex", script, folder / "memory")
