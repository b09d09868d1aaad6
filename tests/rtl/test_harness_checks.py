# SPDX-License-Identifier: Apache-2.0
"""The harness and the comparison detect the errors that they are meant to detect."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anemone.backends import rtl
from anemone.backends.rtl import drive
from anemone.backends.rtl.job import write_job
from anemone.replay import replay
from anemone.replay.result import differences
from anemone.telemetry.rules import Rule, identity_map
from anemone.trace import Trace
from tests.rtl.faults import choose, faulty
from tests.rtl.geometries import SMALLEST, TYPICAL

ENGINE = rtl.expander(SMALLEST)
TRACE = Trace(np.arange(64, dtype=np.uint64) * np.uint64(64) % np.uint64(1024), np.ones(64, bool))
RULE = Rule(
    name="one", end=1 << 16, primary_shift=8, map=identity_map(SMALLEST, 64), read_every=24,
    effect_op="reset", notify_op="ge", notify_operand=1,
)  # fmt: skip  # the trace ends between two reads, so that something is left in the states


def test_a_result_that_differs_is_noticed() -> None:
    """One value is off by one, in each part of a result."""
    model = replay([RULE], TRACE, SMALLEST, "model")
    result = rtl.run([RULE], TRACE, SMALLEST)
    assert differences(result, model) == []
    for kind in ("states", "reads"):
        rows = getattr(result, kind)
        assert len(rows), kind
        value = rows.value.copy()
        value[-1] += np.uint64(1)
        assert differences(replace(result, **{kind: replace(rows, value=value)}), model)
    counters = [replace(result.counters[0], matched=result.counters[0].matched + 1)]
    assert differences(replace(result, counters=counters), model)


def test_a_rule_that_differs_is_noticed() -> None:
    other = replace(RULE, operand=2)
    assert differences(rtl.run([RULE], TRACE, SMALLEST), replay([other], TRACE, SMALLEST, "model"))


# Faults in the emitted hardware, with the harness's expected message.
FAULTS = {
    "parity": (
        "StateArray.sv",
        r"\bio_value_parity(?=[,} ])(?!,?\n)",
        r"({2{FAULT}} ^ \g<0>)",
    ),
    "assertion": (
        "Ram1R1W*.sv",
        r"io_write_valid\s+& io_read_bits == io_write_bits_address",
        r"(FAULT | \g<0>)",
    ),
    "a count": ("MatchStage.sv", r"(?<=assign io_result_unmapped = )", "~FAULT & "),
    "a line": ("ReadPrefetchBuffer.sv", r"(?<=assign io_offer_bits_resp = )", "{FAULT, 1'h0} | "),
    "an address": (
        "RequestArbiter.sv",
        r"(?<=assign io_memoryWrite_bits_addr = )",
        "{45'h0, FAULT, 6'h0} ^ ",
    ),
    "an interrupt": ("InterruptUnit.sv", r"(\.io_enq_valid \s*)\((\w+)\)", r"\1(~FAULT & \2)"),
    "a register": (
        "MemoryExpander.sv",
        r"(\.io_rule_bits_rule_writes\s*)\((\w+)\)",
        r"\1(FAULT ^ \2)",
    ),
}
COMPLAINTS = {
    "parity": "poison",
    "assertion": "RTL assertion",
    "a count": "events counted",
    "a line": "line is refused",
    "an address": "data of another write",
    "an interrupt": "interrupts, latch set",
    "a register": "events counted",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return faulty(ENGINE, FAULTS, tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_hardware_is_noticed(
    fault: str, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(FAULTS, fault, monkeypatch)
    with pytest.raises(rtl.BackendError, match=COMPLAINTS[fault]):
        run(program, tmp_path)


def run(program: Path, folder: Path) -> dict:
    write_job(folder / "job", [RULE], SMALLEST)
    drive.write_trace(folder / "trace", TRACE)
    return drive.run_program([program, "replay", folder / "job", folder / "trace", folder], None)


def test_the_same_without_a_fault(program: Path, tmp_path: Path) -> None:
    """Without a fault the same run passes, so the tests of faults are meaningful."""
    for simulator in (rtl.build(ENGINE), program):
        assert run(simulator, tmp_path)["events"] == len(TRACE)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (cut, "ends too early"),
        (lambda job: write_job(job, [RULE], TYPICAL), "this hardware's is"),
        (lambda job: job.unlink(), "No such file"),
        (lambda job: job.write_bytes(b"\0" * 80), "magic"),
    ],
)
def test_a_job_that_is_not_the_engines(
    spoil: Callable[[Path], None], complaint: str, tmp_path: Path
) -> None:
    job = tmp_path / "job"
    write_job(job, [RULE], SMALLEST)
    spoil(job)
    drive.write_trace(tmp_path / "trace", TRACE)
    with pytest.raises(rtl.BackendError, match=complaint):
        drive.run_program([rtl.build(ENGINE), "replay", job, tmp_path / "trace", tmp_path], None)


def test_usage() -> None:
    done = subprocess.run([rtl.build(ENGINE)], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("usage")
