#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A replacement for `perf stat` on a machine with the counters: runs the program, prints counts.

STAND_IN is JSON: {"values": {event: count}, "lacks": [event], "share": percent, "seconds": n,
"comma": true for decimal commas, "lacks_rows": [event]}. The n-th run that counts cycles has
n % more than the first.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

asked = json.loads(os.environ["STAND_IN"])
at = sys.argv.index("--")
options, program = sys.argv[2:at], sys.argv[at + 1 :]
events = []
for i, word in enumerate(options):
    if word == "-e":
        events += re.findall(r"name=([\w.]+)|(?:^|,)([a-z-]+)(?=,|$)", options[i + 1].strip("{}"))
events = [named or plain for named, plain in events]
lacking = [e for e in events if e in asked.get("lacks", [])]
if lacking:
    print(f"event syntax error: '{lacking[0]}'\n   \\___ Bad event name", file=sys.stderr)
    sys.exit(129)
status = subprocess.run(program).returncode
out = Path(options[options.index("-o") + 1]) if "-o" in options else None
runs = Path(os.environ["STAND_IN_RUNS"])
n = len(runs.read_text()) if runs.exists() else 0
if out is not None and "cycles" in events:
    runs.write_text("x" * (n + 1))
seconds = asked.get("seconds", 0) if "-I" in options else 0
lines = []
for second in range(1, (seconds or 1) + 1):
    for event in events:
        if event in asked.get("lacks_rows", []):
            continue
        front = f"     {second}.000123456," if seconds else ""
        value = asked["values"].get(event, 0)
        if "cycles" in events and event != "task-clock":  # the n-th run is n % longer
            value = round(value * (100 + n) / 100)
        share = "100.00" if event == "task-clock" else asked.get("share", "100.00")
        unit = "msec" if event == "task-clock" else ""
        if asked.get("comma"):
            value, share = str(value).replace(".", ","), share.replace(".", ",")
        lines.append(f"{front}{value},{unit},{event},1002003,{share},,")
text = "\n".join(["# started on Sun Nov 22 2026", "", *lines]) + "\n"
if out is not None:
    out.write_text(text)
else:
    print(text, file=sys.stderr)
sys.exit(status)
