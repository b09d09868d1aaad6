# SPDX-License-Identifier: Apache-2.0
"""Runs the kernel's kunit.py on the tree of mk/kunit.sh and writes its results as JUnit XML.

kunit.py TREE BUILD [GLOB]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

LOGS = Path(__file__).resolve().parent.parent / "build" / "test"
CONFIG = "drivers/anemone/kunit/.kunitconfig"


def suites(node: dict) -> list[dict]:
    """A node of kunit.py's JSON and all nodes below it."""
    return [node, *(n for below in node.get("sub_groups", []) for n in suites(below))]


def junit(results: dict) -> ET.Element:
    """KUnit's results as a JUnit report. A test without PASS or SKIP has failed."""
    root = ET.Element("testsuites")
    for suite in suites(results):
        cases = suite.get("test_cases", [])
        if not cases:
            continue
        element = ET.SubElement(root, "testsuite", name=suite["name"], tests=str(len(cases)))
        for case in cases:
            one = ET.SubElement(element, "testcase", classname=suite["name"], name=case["name"])
            if case["status"] == "SKIP":
                ET.SubElement(one, "skipped")
            elif case["status"] != "PASS":
                ET.SubElement(one, "failure", message=f"{case['status']}: see build/test/kunit.log")
    return root


def main(tree: str, build: str, *globs: str) -> int:
    report, results = LOGS / "kunit.xml", Path(build) / "anemone.json"
    for stale in (report, results):
        stale.unlink(missing_ok=True)
    Path(build).mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "tools/testing/kunit/kunit.py", "run", f"--build_dir={build}"]
    command += [f"--kunitconfig={CONFIG}", f"--jobs={os.cpu_count()}", f"--json={results}"]
    # Virtual time, which waits alone advance: no test depends on how busy the host is.
    command += ["--kernel_args=time-travel=inf-cpu"]
    with (LOGS / "kunit.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *globs], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout is not None
        for line in process.stdout:
            log.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
        code = process.wait()
    if not results.exists():  # the build failed, or the kernel did not start
        return code or 1
    root = junit(json.loads(results.read_text()))
    ET.ElementTree(root).write(report, encoding="unicode", xml_declaration=True)
    # kunit.py succeeds on a run without tests, but here that is a failure.
    return 1 if code or root.find(".//failure") is not None or not len(root) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
