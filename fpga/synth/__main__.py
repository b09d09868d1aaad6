# SPDX-License-Identifier: Apache-2.0
"""The command line of the package."""

from __future__ import annotations

import argparse
import json
import sys

import fpga.synth
from fpga.synth import cost, ecp5, page, place
from fpga.synth.tools import ROOT, WORK, SynthesisError

RESULT = WORK / "cost.json"
RAW = argparse.RawDescriptionHelpFormatter


def report() -> int:
    result = cost.everything()
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    write_page()
    for what, asked, measured, held in cost.bars(result):
        print(f"synth: {what} {asked:,}: {measured:,} {'held' if held else 'MISSED'}")
    print(f"synth: {RESULT.relative_to(ROOT)}, {page.PAGE.relative_to(ROOT)}")
    return 0


def write_page() -> int:
    page.PAGE.write_text(page.render(json.loads(RESULT.read_text())))
    return 0


def check() -> int:
    with cost.step(f"the small configuration, {cost.SMALL.options}"):
        measured = cost.small()
    wrong = cost.grown(measured, cost.baseline())
    wrong += cost.too_deep(measured, cost.limits()["levels"])
    print("\n".join(wrong) or "synth: no more cells and no more levels than allowed")
    return 1 if wrong else 0


def renew() -> int:
    with cost.step(f"the small configuration, {cost.SMALL.options}"):
        cost.renew()
    print(f"synth: {cost.BASELINE.relative_to(ROOT)}")
    return 0


def look(module: str) -> int:
    """Prints the cost of one module of the engine with its submodules, and what its cells feed."""
    netlist = cost.look(module)
    print(", ".join(f"{figure} {n:,}" for figure, n in netlist.total().as_dict().items()))
    for at, number in netlist.fed(module).most_common(40):
        print(f"{number:7,} {at}")
    return 0


def place_units(names: list[str], seeds: list[int], as_json: bool) -> int:
    """Prints the clock and the depth of each unit, and whether it meets the limits."""
    asked, found, missed = cost.limits()["place"], {}, False
    for design, files, name in map(place.find, names) if names else place.shown():
        with cost.step(f"{name} of the {design.name}, seeds {seeds}", aside=as_json):
            found[name] = placed = place.place(design, files, name, seeds)
        held = placed.median >= asked["mhz"] and placed.lookups <= asked["lookups"]
        missed = missed or not held
        if not as_json:
            mhz = ", ".join(f"{one}" for one in placed.mhz.values())
            print(
                f"{name}: {placed.median} MHz ({mhz}), {placed.lookups} look-ups,"
                f" {placed.source} -> {placed.sink}: {'held' if held else 'MISSED'}"
            )
    if as_json:
        print(json.dumps({name: placed.as_dict() for name, placed in found.items()}, indent=1))
    return 1 if missed else 0


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m fpga.synth", description=fpga.synth.__doc__, formatter_class=RAW
    )
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    plain = {"report": report, "check": check, "renew": renew, "page": write_page}
    for name, run in plain.items():
        commands.add_parser(name).set_defaults(run=lambda _, run=run: run())
    one = commands.add_parser("look")
    one.add_argument("module", metavar="MODULE")
    one.set_defaults(run=lambda given: look(given.module))
    units = commands.add_parser("place", description=place.__doc__, formatter_class=RAW)
    units.add_argument(
        "units", metavar="UNIT", nargs="*", help="name of its file in hw/src (default: all units)"
    )
    units.add_argument(
        "--seed", type=int, nargs="+", default=list(ecp5.SEEDS), help="1 for a quick result"
    )
    units.add_argument("--json", action="store_true", help="print JSON")
    units.set_defaults(run=lambda given: place_units(given.units, given.seed, given.json))
    return parser.parse_args(words or ["report"])


def main(words: list[str]) -> int:
    given = arguments(words)
    try:
        return given.run(given)
    except SynthesisError as error:
        print(f"\nsynth: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
