# SPDX-License-Identifier: Apache-2.0
"""Memstrata's dry run in a guest: perf's counters as recorded, misses of the device's telemetry.

The guest has no PMU. Before each interval the traffic's command is run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from anemone.memstrata.files import read_counters
from anemone.memstrata.host import read_host
from anemone.memstrata.live import Interval, counted, recorded, rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host", type=Path, metavar="HOST.toml")
    parser.add_argument("counters", type=Path, metavar="COUNTERS.json")
    parser.add_argument("traffic", help="a shell's command")
    words = parser.parse_args()
    host = read_host(words.host)

    def played() -> Iterator[Interval]:
        known = read_counters(words.counters, whole=True, judged=True)
        for interval in recorded(host, known, words.counters):
            subprocess.run(words.traffic, shell=True, check=True, stdout=subprocess.DEVNULL)
            yield interval

    for found in rounds(host, None, counted(played(), host), done=True):
        print(json.dumps(found.named()), flush=True)


if __name__ == "__main__":
    main()
