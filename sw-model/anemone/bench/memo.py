# SPDX-License-Identifier: Apache-2.0
"""Compares memo with mbw's copies and with a plain chase on this machine (`make bench`).

Both sides run alternately, and the best run of each counts, because other work may slow some runs.
The exit status is 1 if the two differ by more than MOST.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from anemone.capture.build import ROOT

MAX_DIFFERENCE = 0.20
TURNS = 5
MIB = 64  # size of mbw's arrays and of the chase
FOLDER = ROOT / "build" / "memo"


def run(*words: object) -> str:
    command = [str(word) for word in words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def memo(*words: object) -> list[dict]:
    return json.loads(run(FOLDER / "memo", "--json", "--pages", "4k", "--node", 0, *words))["rows"]


def copies() -> tuple[float, float]:
    """GB/s of a memcpy of the whole array: by memo, by mbw (which reports MiB)."""
    rows = memo("--tests", "copy", "--bytes", f"{2 * MIB}M", "--seconds", "0.3")
    ours = next(r for r in rows if r["by"] == "memcpy" and r["block_bytes"] == MIB << 20)
    output = run("mbw", "-q", "-n", 20, "-t", 0, MIB)
    theirs = [float(rate) for rate in re.findall(r"^\d.*Copy: ([0-9.]+)", output, re.MULTILINE)]
    return ours["best_gb_per_s"], max(theirs) * (1 << 20) / 1e9


def chases() -> tuple[float, float]:
    """Latency of a load in ns: by memo, by a plain loop."""
    rows = memo("--tests", "chase", "--bytes", f"{MIB}M")
    return rows[-1]["best_ns"], float(run(FOLDER / "plain-chase", MIB << 20))


def main() -> int:
    run("make", "-C", ROOT / "sim" / "memo", f"BUILD={FOLDER}", "all", "plain")
    if shutil.which("mbw") is None:
        print(
            "memo: mbw is missing (apt-get install mbw): nothing to compare with", file=sys.stderr
        )
        return 1
    done = {"copy, GB/s": (copies, max), "chase, ns": (chases, min)}
    report = {}
    for what, (measure, best) in done.items():
        turns = [measure() for _ in range(TURNS)]
        ours, theirs = (best(side) for side in zip(*turns, strict=True))
        report[what] = {"memo": ours, "other": theirs, "apart": ours / theirs - 1, "turns": turns}
        print(f"{what}: memo {ours:.2f}, the other {theirs:.2f}, {ours / theirs - 1:+.1%} apart")
    Path(ROOT, "build", "bench-memo.json").write_text(json.dumps(report, indent=2) + "\n")
    return int(any(abs(r["apart"]) > MAX_DIFFERENCE for r in report.values()))


if __name__ == "__main__":
    sys.exit(main())
