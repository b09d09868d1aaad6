# SPDX-License-Identifier: Apache-2.0
"""Which tests run, and on what terms.

- A long test that passed, and of which all inputs are as they were, is not run again: it passes by
  what build/test/kept says. A fresh clone has nothing there. KEPT=no runs everything.
- FAST=1, of `make check`, leaves the long tests out; the benches run a few seeds of one build.
- What a platform must be able to run may not be skipped there.
- No example of a property has a deadline, as a machine may be busy.
- The report (build/test/pytest.xml) has the processor seconds of each test, whatever ran beside it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from mk.stages import COMPLETE
from tests.inputs import ROOT, digest

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

KEPT = ROOT / "build" / "test" / "kept"
HARDWARE = ("hw/src/**/*.scala", "hw/regs/**/*", "build.sc", ".mill-version", "mk/**/*")
BENCH = (*HARDWARE, "hw/test/**/*.scala")
REPLAY = (*HARDWARE, "sim/common/*", "sim/expander/*", "sim/replay/*", "sim/flat/*",
          "driver/include/**/*")  # fmt: skip
BOARD = (*BENCH, "fpga/**/*", "docs/*.md")
GUEST = (*HARDWARE, "driver/**/*", "sim/**/*", "docs/rules.md", "docs/tutorial.md",
         "examples/tutorial/*")  # fmt: skip

# The long tests, by what their paths begin with: what they are of, beside the Python they import.
# The longest first: what is left at the end is to be short.
LONG = {
    "tests/fpga/test_cost.py": BOARD,
    "tests/formal/": BENCH,
    "tests/cosim/": GUEST,
    "tests/engine/": BENCH,
    "tests/expander/": (*BENCH, "fpga/agilex/*"),
    "tests/sim/test_report_page.py": (
        *REPLAY,
        "sim/traces/*",
        "sw-model/anemone/report/**/*",
        "docs/pictures.json",
    ),
    "tests/sim/test_tutorial.py": (
        "docs/tutorial.md",
        "examples/tutorial/*",
        "sim/**/*",
        "mk/**/*",
        "sw-model/anemone/report/**/*",
    ),
    "tests/flat/test_rtl_": (*BENCH, *REPLAY),
    "tests/bench/": (*BENCH, "tests/*/mutants*.txt"),
    "tests/rtl/test_build.py": (*REPLAY, "sim/vfio/*"),
    "tests/rtl/": REPLAY,
    "tests/control/test_rtl_": (*REPLAY, "sim/vfio/*"),
    "tests/fpga/": BOARD,
    "tests/registers/": BENCH,
    "tests/driver/test_static.py": ("driver/**/*", "docs/*.md", "mk/**/*"),
    "tests/capture/test_captured_": ("sim/**/*", "mk/**/*"),
    "tests/capture/test_any_program.py": ("sim/capture/**/*", "mk/**/*"),
    "tests/msgfree/test_trace.py": ("sim/mpi/*", "examples/mpi/*", "tests/msgfree/*", "mk/**/*"),
    "tests/capture/test_program_": ("sim/capture/**/*", "mk/**/*"),
}
# Of those, what `make check` runs, too.
ALSO_FAST = ("test_campaign.py", "test_rtl_campaign.py")
FAST = "FAST" in os.environ
OPTIONS = ("SEED", "CONFIG", "WAVES", "ANEMONE_KERNEL")  # what a caller may ask by its environment

FAILED_PHASE = pytest.StashKey[bool]()  # a phase of the test did not pass
VERDICT_PATH = pytest.StashKey[Path | None]()  # its verdict's place as it began
CPU_AT_SETUP = pytest.StashKey[float]()  # processor seconds of this worker as its setup began


def path_of(item: pytest.Item) -> str:
    return item.path.relative_to(ROOT).as_posix()


def long_part(item: pytest.Item) -> str | None:
    """The entry of LONG that a test is under."""
    path = path_of(item)
    return next((part for part in LONG if path.startswith(part)), None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if FAST:
        out = [i for i in items if long_part(i) and i.path.name not in ALSO_FAST]
        items[:] = [item for item in items if item not in out]
        config.hook.pytest_deselected(items=out)
    order = {part: i for i, part in enumerate([*LONG, None])}
    items.sort(key=lambda item: order[long_part(item)])


def verdict(item: pytest.Item) -> Path | None:
    """Where it says that this test passed as everything is now; None: it is not a long one."""
    part = long_part(item)
    if part is None or os.environ.get("KEPT") == "no" or any(a in os.environ for a in OPTIONS):
        return None
    words = (item.name, str(FAST), platform.platform(), platform.python_version())
    return KEPT / digest(item.path, LONG[part], words)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = yield
    if COMPLETE and report.outcome == "skipped":
        report.outcome = "failed"
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    kept = verdict(item)
    if kept is None or not kept.exists():
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for when in ("setup", "call", "teardown"):
        report = pytest.TestReport(
            item.nodeid, item.location, {"kept": 1}, "passed", None, when,
            sections=[("kept", "passed before, and nothing that it depends on has changed")],
        )  # fmt: skip
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # The test before left what it shares with this one. pytest has no public name for it.
    item.session._setupstate.teardown_exact(nextitem)
    return True


def _processor() -> float:
    """Seconds of this process and of those that it waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[CPU_AT_SETUP] = _processor()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    if call.when == "teardown" and CPU_AT_SETUP in item.stash:
        item.user_properties.append(
            ("processor_s", round(_processor() - item.stash[CPU_AT_SETUP], 1))
        )
    report = yield
    if COMPLETE and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which nothing may be on this platform: {call.excinfo}"
    if not report.passed:
        item.stash[FAILED_PHASE] = True
    if report.when == "setup":
        item.stash[VERDICT_PATH] = verdict(item)
    # What changed while the test ran is neither of before nor of now.
    if report.when == "teardown" and FAILED_PHASE not in item.stash:
        kept = verdict(item)
        if kept and kept == item.stash[VERDICT_PATH]:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.touch()
    return report
