# SPDX-License-Identifier: Apache-2.0
"""The command line: see the package."""

from __future__ import annotations

import json
import sys

from fpga.synth import cost, page
from fpga.synth.tools import ROOT, WORK, SynthesisError

RESULT = WORK / "cost.json"


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
    """Prints what one module of the engine costs, with all in it, and what its cells feed."""
    netlist = cost.look(module)
    print(", ".join(f"{figure} {n:,}" for figure, n in netlist.total().as_dict().items()))
    for at, number in netlist.fed(module).most_common(40):
        print(f"{number:7,} {at}")
    return 0


COMMANDS = {"report": report, "check": check, "renew": renew, "page": write_page}


def main(words: list[str]) -> int:
    name = words[0] if words else "report"
    if not (name in COMMANDS and len(words) < 2) and not (name == "look" and len(words) == 2):
        known = ", ".join([*COMMANDS, "look MODULE"])
        print(f"synth: one of {known}, not {' '.join(words)}", file=sys.stderr)
        return 2
    try:
        return look(words[1]) if name == "look" else COMMANDS[name]()
    except SynthesisError as error:
        print(f"\nsynth: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
