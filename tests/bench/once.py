# SPDX-License-Identifier: Apache-2.0
"""Results of simulations that several tests use: each simulation runs once."""

from __future__ import annotations

import ast
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anemone.io.build_cache import locked


def run_once(folder: Path, run: str, simulate: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The report that `simulate` writes to `folder`; it is called once per test run."""
    done = folder / "done.json"
    with locked(folder):
        if done.is_file() and (saved := json.loads(done.read_text()))["run"] == run:
            assert "error" not in saved, saved["error"]
            return saved["report"]
        try:
            report = simulate()
        except AssertionError as error:
            done.write_text(json.dumps({"run": run, "error": str(error)}))
            raise
        done.write_text(json.dumps({"run": run, "report": report}))
        return report


def cocotb_tests(module: Path) -> list[str]:
    """The names of the cocotb tests in a module."""
    tree = ast.parse(module.read_text())
    tests = [node for node in tree.body if isinstance(node, ast.AsyncFunctionDef)]
    return [node.name for node in tests if node.decorator_list]


def verdicts(folder: Path, names: list[str], simulate: Callable[[], None]) -> dict[str, str]:
    """For each test of a module that `simulate` runs in `folder`, its failure or an empty text."""
    wrong = ""
    try:
        simulate()
    except AssertionError as error:
        wrong = str(error)
    found = {}
    if (folder / "results.xml").is_file():
        for case in ET.parse(folder / "results.xml").iter("testcase"):
            failed = case.find("failure") is not None or case.find("error") is not None
            found[case.get("name", "").rpartition(".")[2]] = wrong if failed else ""
    return {name: found.get(name, wrong or "the simulation did not run it") for name in names}
