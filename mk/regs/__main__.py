# SPDX-License-Identifier: Apache-2.0
"""Writes the files that are generated from hw/regs/anemone.rdl: `python -m mk.regs [--check]`.

--check writes nothing and prints the files that are not up to date.
Exit: 0 all files are up to date, 1 some are not (--check), 2 the RDL cannot be used.
"""

from __future__ import annotations

import sys

from mk.regs import ROOT, generated
from mk.regs.model import MapError


def main(check: bool) -> int:
    try:
        texts = generated()
    except MapError as error:
        print(error, file=sys.stderr)
        return 2
    stale = 0
    for name, text in texts.items():
        path = ROOT / name
        if path.is_file() and path.read_text() == text:
            continue
        stale += 1
        print(f"{name}: {'not what hw/regs/anemone.rdl says; make regs' if check else 'written'}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
