# SPDX-License-Identifier: Apache-2.0
"""Checks SystemVerilog with slang, an elaborator of its own line: slang.py TOP FILE...

Every warning is an error, but for those in WAIVED. Exit: 0 clean, 1 not.
"""

from __future__ import annotations

import sys

from pyslang import driver

WAIVED = {
    "bitwise-op-parentheses": "firtool leaves the parentheses of a & b | c to the language",
    "arith-in-shift": "and those of a >> b - c",
    "empty-output-connection": "nobody asks for that output; Verilator looks, with waivers a name",
    "unused-port": "Verilator looks at that already, with waivers a name",
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
