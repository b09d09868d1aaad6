# SPDX-License-Identifier: Apache-2.0
"""How pytest is run: on Debian every kind of skip is a failure, and a group has one worker."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mk.check import Outcome, count, summary
from mk.stages import Stage, all_stages
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


KEPT = """
from pathlib import Path
import tests.conftest
tests.conftest.verdict = lambda item: Path(__file__) if item.name == "test_kept" else None
class TestOne:
    def test_before(self):
        pass
    def test_kept(self):
        assert False
def test_behind():
    pass
"""


GROUPS = """
import pytest
@pytest.mark.parametrize("n", range(12))
@pytest.mark.parametrize("group", [pytest.param(g, marks=pytest.mark.xdist_group(g)) for g in "ab"])
def test_one(group, n, worker_id):
    print(f"<{group} {worker_id}>")
"""


def run(text: str, tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest on a module with this text and with the project's conftest.py."""
    folder = ROOT / "build" / "test" / tmp_path.name  # below the root, as all tests are
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_of_text.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", *options, str(folder)]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(not COMPLETE, reason="elsewhere a skip is none")
@pytest.mark.parametrize(
    ("text", "counts"),
    [(SKIPS, "1 failed, 1 passed, 1 xfailed, 2 errors"), (MODULE, "1 error")],
    ids=["tests", "module"],
)
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_skip_fails(text: str, counts: str, workers: str, tmp_path: Path) -> None:
    done = run(text, tmp_path, "-n", workers)
    assert done.returncode and f" {counts} in " in done.stdout.splitlines()[-1], done.stdout


def test_a_group_has_one_worker(tmp_path: Path) -> None:
    """Tests of a group share a simulation and its folder, so `make test` gives them one worker."""
    options = ["-n", "2", "--dist", "loadgroup", "-rP"]
    assert options[:4] == [w for w in all_stages()[-1].command if w in options]
    done = run(GROUPS, tmp_path, *options)
    seen = set(re.findall("<(.) (gw.)>", done.stdout))
    assert "24 passed" in done.stdout and len(seen) == 2, done.stdout


def test_a_kept_test_leaves_nothing_to_tear_down(tmp_path: Path) -> None:
    done = run(KEPT, tmp_path, "-n", "0")
    assert "3 passed" in done.stdout.splitlines()[-1], done.stdout


REPORT = """<testsuites><testsuite>
<testcase classname="rotate" name="slices"/>
<testcase classname="rotate" name="period"><failure message="late"/></testcase>
</testsuite></testsuites>"""


def test_the_summary_names_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log that is kept elsewhere may be lost, as CI's is."""
    (tmp_path / "report.xml").write_text(REPORT)
    outcome = count(tmp_path / "report.xml")
    assert outcome == Outcome(passed=1, failed=1, failures=["rotate.period"])
    assert summary([(Stage("kunit", ["true"]), outcome)]) == 1
    assert "failed: kunit, see build/test/kunit.log\n  rotate.period\n" in capsys.readouterr().out
