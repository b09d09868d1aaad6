# SPDX-License-Identifier: Apache-2.0
"""Nothing may be skipped on Debian: tests/conftest.py makes a skip a failure, however it comes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import COMPLETE
from tests.inputs import ROOT

SKIPS = """
import pytest
@pytest.fixture(scope="session")
def lacking():
    pytest.skip("not there")
def test_by_a_fixture(lacking):
    pass
@pytest.mark.skipif(True, reason="not there")
def test_by_a_mark():
    pass
def test_by_itself():
    pytest.skip("not there")
def test_that_runs():
    pass
@pytest.mark.xfail(strict=True)
def test_that_is_known_to_fail():
    assert False
"""
MODULE = "import pytest\npytest.skip('not there', allow_module_level=True)\n"


@pytest.mark.skipif(not COMPLETE, reason="elsewhere a skip is none")
@pytest.mark.parametrize(
    ("text", "counts"),
    [(SKIPS, "1 failed, 1 passed, 1 xfailed, 2 errors"), (MODULE, "1 error")],
    ids=["tests", "module"],
)
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_skip_fails(text: str, counts: str, workers: str, tmp_path: Path) -> None:
    folder = ROOT / "build" / "test" / tmp_path.name  # below the root, as all tests are
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_skipping.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-n", workers, str(folder)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(folder)
    assert done.returncode and f" {counts} in " in done.stdout.splitlines()[-1], done.stdout
