# SPDX-License-Identifier: Apache-2.0
"""Packages a top for another flow: SystemVerilog, IP-XACT, SDC and a FuseSoC core.

    python -m fpga.ip expander                       writes build/ip/package/expander
    python -m fpga.ip flat --out FOLDER --channels 2

`mk/scala.sh hw anemone.Elaborate --help` lists the sizes.

FOLDER has rtl/*.sv, TOP.xml (IEEE 1685-2014, with the register map), TOP.sdc and TOP.core. It is
written as a whole or not at all. docs/integration.md says how to use it, docs/ports.md what its
ports do.

Exit: 0 the package is written, 2 the arguments are wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from anemone.backends.rtl.builder import BackendError
from fpga.emit import core
from fpga.ip.constraints import sdc
from fpga.ip.ipxact import LIBRARY, VENDOR, VERSION, component
from fpga.ip.tops import TOPS, WORK, Top, ports

# Clock periods of the kit, in ns by pin. `--period` changes the one of `clock`.
PERIODS = {"clock": 2.5, "csrClock": 8.0}


def write(top: Top, folder: Path, sizes: list[str], period: float) -> None:
    """Writes the package of a top; replaces the folder. Raises BackendError."""
    rtl = top.emit(*sizes)
    pins = ports(rtl, top.module)
    names = {port.name for port in pins}
    periods = {pin: ns for pin, ns in (PERIODS | {"clock": period}).items() if pin in names}
    sources = [f"rtl/{Path(line).name}" for line in (rtl / "filelist.f").read_text().split()]
    constraints = f"{top.name}.sdc"
    files = {"rtl": sources, "constraints": [constraints]}
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        fresh = Path(work) / "package"
        (fresh / "rtl").mkdir(parents=True)
        for name in sources:
            shutil.copy(rtl / Path(name).name, fresh / name)
        (fresh / constraints).write_text(sdc(top.module, pins, periods))
        xml = component(top.name, top.module, top.what, pins, periods, files)
        (fresh / f"{top.name}.xml").write_text(xml)
        vlnv = f"{VENDOR}:{LIBRARY}:{top.name}:{VERSION}"
        (fresh / f"{top.name}.core").write_text(core(vlnv, sources, top.module, [constraints]))
        if folder.exists():
            shutil.rmtree(folder)
        fresh.rename(folder)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m fpga.ip",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("top", choices=TOPS)
    parser.add_argument("--out", type=Path, help="default: build/ip/package/TOP")
    parser.add_argument(
        "--period", type=float, default=PERIODS["clock"], help="period of clock in ns"
    )
    options, sizes = parser.parse_known_args(words)
    if not options.period > 0:
        parser.error(f"--period {options.period}: must be above 0")
    folder = options.out or WORK / "package" / options.top
    if folder.exists() and not (folder / f"{options.top}.core").exists():
        parser.error(f"{folder}: is there and is no package of {options.top}; name another folder")
    try:
        write(TOPS[options.top], folder, sizes, options.period)
    except BackendError as error:
        print(f"fpga.ip: {error}", file=sys.stderr)
        return 2
    print(f"{folder}: {TOPS[options.top].module}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
