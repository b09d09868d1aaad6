# SPDX-License-Identifier: Apache-2.0
"""Builds for the Agilex board and programs it. Needs the board and Quartus.

    python -m fpga.board overlay EXAMPLE [flat]      puts Anemone into a copy of Intel's example
                                                     design; flat: in flat memory mode
    python -m fpga.board bitstream EXAMPLE [flat]    also compiles it, and reports its timing
    python -m fpga.board flash                       programs the FPGA over JTAG
    python -m fpga.board check                       checks cable, device and bitstream

CABLE and DEVICE_INDEX in the environment choose the board (`jtagconfig` lists all).
Exit: 0 done; 1 the design misses its timing, or Quartus failed; 2 something is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from fpga.agilex import overlay
from fpga.emit import ROOT, emit

OUT = ROOT / "build" / "fpga" / "board"
DESIGN = OUT / overlay.DESIGN
OLDEST = (23, 3)  # the first version whose example design has AXI4 at the tap
PART = "AGIB027R29A"
# What is emitted for flat memory mode: the CXL IP's two slices are hosts of one channel.
FLAT = {"flat": True, "channels": 1, "hosts": 2}


class MissingError(Exception):
    """Something that the user must provide; one line each."""


def print_line(line: str) -> None:
    print(f"board: {line}", flush=True)


def quartus(*tools: str) -> None:
    """Raises MissingError if a tool is not on PATH, or Quartus is the wrong edition or too old."""
    wanted = f"Quartus Prime Pro {OLDEST[0]}.{OLDEST[1]} or newer with Agilex 7 devices"
    if gone := [tool for tool in tools if not shutil.which(tool)]:
        raise MissingError(
            f"not on PATH: {', '.join(gone)}; install {wanted} and put its quartus/bin on PATH"
        )
    if "quartus_sh" in tools:
        shown = run(["quartus_sh", "--version"], quiet=True)
        found = re.search(r"Version (\d+)\.(\d+)\S* .*?(\w+) Edition", shown, re.DOTALL)
        if not found or (int(found[1]), int(found[2])) < OLDEST or found[3] != "Pro":
            is_ = f"{found[1]}.{found[2]} {found[3]}" if found else repr(shown[:60])
            raise MissingError(f"quartus_sh is {is_}, not {wanted}")


def run(command: list[str], folder: Path | None = None, quiet: bool = False) -> str:
    """Runs a tool, shows its output and returns it. Raises CalledProcessError if it fails."""
    if not quiet:
        print_line(" ".join(command))
    lines = []
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if not quiet:
                print(line, end="", flush=True)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return "".join(lines)


def overlaid(example: str | None, flat: bool = False) -> Path:
    """Writes the example design with Anemone in it, and returns its project."""
    if not example:
        raise MissingError(
            "EXAMPLE is not given: the folder of the R-Tile CXL Type-3 example design that your "
            "Quartus generated, as EXAMPLE=... (docs/agilex.md)"
        )
    found = overlay.Example(Path(example))
    if found.wrong:
        raise MissingError("\n".join(found.wrong))
    rtl = emit({"id_bits": found.id_bits, **(FLAT if flat else {})})
    overlay.write(found, rtl, OUT, flat)
    mode = ", flat memory mode" if flat else ""
    print_line(f"{DESIGN / found.project.name}, ids of {found.id_bits} bits{mode}")
    return DESIGN / found.project.name


def only(pattern: str) -> Path:
    """The only file in the design that matches the pattern. Raises MissingError."""
    files = sorted(DESIGN.glob(pattern))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise MissingError(f"{DESIGN}/{pattern}: one file is expected, not {names}; make bitstream")
    return files[0]


def timing(summary: Path) -> int:
    """Prints the worst slack of each kind. Returns 1 if one is negative."""
    found = re.findall(r"Type\s*: (.+)\nSlack\s*: (-?[\d.]+)", summary.read_text())
    worst: dict[str, tuple[float, str]] = {}
    for what, slack in found:
        kind = re.search(r"Setup|Hold|Recovery|Removal|Minimum Pulse Width", what)
        if kind:
            worst[kind[0]] = min(worst.get(kind[0], (9e9, "")), (float(slack), what))
    if not worst:
        print_line(f"{summary}: has no slack in it")
        return 1
    for kind, (slack, what) in worst.items():
        print_line(f"{kind}: worst slack {slack:+.3f} ns, {what}")
    missed = any(slack < 0 for slack, _ in worst.values())
    print_line("timing is MISSED" if missed else "timing is met")
    return int(missed)


def bitstream(example: str | None, flat: bool = False) -> int:
    quartus("quartus_sh")
    project = overlaid(example, flat)
    run(["quartus_sh", "--flow", "compile", project.stem], project.parent)
    print_line(f"{only('output_files/*.sof')}")
    return timing(only("output_files/*.sta.summary"))


def check() -> int:
    quartus("jtagconfig", "quartus_pgm")
    sof = only("output_files/*.sof")
    chain = run(["jtagconfig"])
    if PART not in chain:
        raise MissingError(f"jtagconfig shows no {PART}: is the board on, and its cable in?")
    print_line(f"ready to program {sof}")
    return 0


def flash() -> int:
    check()
    cable = ["-c", os.environ["CABLE"]] if os.environ.get("CABLE") else []
    index = os.environ.get("DEVICE_INDEX") or "1"
    sof = only("output_files/*.sof")
    run(["quartus_pgm", *cable, "-m", "jtag", "-o", f"p;{sof}@{index}"])
    print_line("programmed; restart the host without switching it off, then: lspci -d ::0502 -vv")
    return 0


def main(words: list[str]) -> int:
    example = (words[1] or None) if len(words) > 1 else None
    flat = words[2:] == ["flat"]
    commands = {
        "overlay": lambda: int(overlaid(example, flat) is None),
        "bitstream": lambda: bitstream(example, flat),
        "flash": flash,
        "check": check,
    }
    if not words or words[0] not in commands or (words[2:] and not flat):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        return commands[words[0]]()
    except MissingError as error:
        for line in str(error).splitlines():
            print(f"board: {line}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"board: {error.cmd[0]} failed with {error.returncode}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
