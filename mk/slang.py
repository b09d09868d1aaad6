# SPDX-License-Identifier: Apache-2.0
"""Checks SystemVerilog with slang, an elaborator independent of Verilator: slang.py TOP FILE...

Every warning is an error, except those in WAIVED. Exit: 0 no error, 1 errors.
"""

from __future__ import annotations

import sys

from pyslang import driver

WAIVED = {
    "bitwise-op-parentheses": "firtool writes a & b | c without parentheses",
    "arith-in-shift": "firtool writes a >> b - c without parentheses",
    "empty-output-connection": "Verilator checks this, with a waiver for each name",
    "unused-port": "Verilator checks this, with a waiver for each name",
}


def main(top: str, files: list[str]) -> int:
    slang = driver.Driver()
    slang.addStandardArgs()
    options = ["-Weverything", "-Werror", *(f"-Wno-{name}" for name in WAIVED)]
    line = " ".join(["slang", "--top", top, *options, *files])
    ready = slang.parseCommandLine(line, driver.CommandLineOptions()) and slang.processOptions()
    if not ready or not slang.parseAllSources():
        return 1
    return 0 if slang.reportParseDiags() and slang.runFullCompilation(False) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
