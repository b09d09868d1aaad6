# SPDX-License-Identifier: Apache-2.0
"""The controller equals the model on every trace, and the harness detects differences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anemone import cli, flat
from anemone.backends import rtl
from anemone.backends.rtl import flat as flat_rtl
from anemone.backends.rtl.drive import run_program
from anemone.backends.rtl.flat import FlatRun, Memories, run_memories
from anemone.backends.rtl.job import write_trace
from anemone.bench import flat as flatbench
from anemone.flat import FlatConfig, differences
from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.trace import Trace
from tests.flat.strategies import configs, traces
from tests.rtl.faults import choose, faulty

SEED = 20261121
GEOMETRY = Geometry(device_gib=1)
RATIOS = (1, 3)  # a build each; the bench's campaign has all four
POLICIES = [("every", 1), ("nth", 1), ("nth", 2), ("one_in", 3), ("never", 1)]
# Late and reordered responses, from memories fast enough for back-to-back swaps of a set.
RESTLESS = Memories(
    near_latency=3, far_latency=10, far_interval=1, jitter=25, seed=SEED, ids=3
)  # fmt: skip


def assert_equal(config: FlatConfig, trace: Trace, memories: Memories | None = None) -> FlatRun:
    """Compare both engines on a trace: all results, and the accesses at the ports."""
    run = run_memories(config, trace, GEOMETRY, memories or Memories())
    result = run.result
    assert differences(result, flat.run(config, trace, "model", GEOMETRY)) == []
    assert result.mismatches == 0
    counts = result.counts
    asked = counts.near_reads + counts.near_writes + counts.far_reads + counts.far_writes
    assert sum(run.ports.values()) + result.forwarded == asked
    return run


# Each example starts an engine, which takes 20 ms.
@settings(max_examples=50, suppress_health_check=list(HealthCheck), print_blob=True)
@given(data=st.data())
def test_random_traces(data: st.DataObject) -> None:
    config = data.draw(configs(ratios=RATIOS))
    addr, write = data.draw(traces(config, maximum=300))
    memories = data.draw(st.sampled_from([None, RESTLESS]))
    assert_equal(config, Trace(addr, write), memories)


def shaped(rng: np.random.Generator, shape: str, config: FlatConfig, n: int) -> Trace:
    """hot: few sets with all their lines. scan: all lines in order. mixed: both, and random
    lines.
    """
    lines = config.near_lines
    tags = rng.integers(0, config.ratio + 1, n)
    hot = tags * lines + rng.choice(rng.integers(0, lines, 3), n)
    scan = np.arange(n) % config.lines
    anywhere = rng.integers(0, config.lines, n)
    if dedicated := config.dedicated_lines:
        there = rng.integers(dedicated.start, dedicated.stop, n)
        anywhere = np.where(rng.random(n) < 0.1, there, anywhere)
    line = {
        "hot": hot,
        "scan": scan,
        "mixed": np.choose(rng.integers(0, 3, n), [hot, scan, anywhere]),
    }[shape]
    return Trace(line.astype(np.uint64) * np.uint64(LINE_BYTES), rng.random(n) < 0.4)


@pytest.mark.parametrize("shape", ["hot", "scan", "mixed"])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: f"{p[0]}-{p[1]}")
@pytest.mark.parametrize("ratio", RATIOS)
def test_every_policy(ratio: int, policy: tuple[str, int], shape: str) -> None:
    rng = np.random.default_rng([SEED, ratio, len(shape)])
    config = FlatConfig(301, ratio, (1 << 20, (1 << 20) + 40 * LINE_BYTES), *policy)
    trace = shaped(rng, shape, config, 3000)
    assert_equal(config, trace)
    assert_equal(config, trace, RESTLESS)


def test_a_near_memory_larger_than_what_is_swept() -> None:
    rng = np.random.default_rng(SEED)
    config = FlatConfig((1 << 20) + 7, 1, (1 << 28, (1 << 28) + (1 << 20)), "every", 1)
    run = assert_equal(config, shaped(rng, "mixed", config, 5000))
    assert len(run.result.sets) > 100


def test_an_empty_trace_and_one_access() -> None:
    none = Trace(np.empty(0, np.uint64), np.empty(0, bool))
    assert assert_equal(FlatConfig(1), none).result.report["accesses"] == 0
    one = Trace(np.array([LINE_BYTES], np.uint64), np.array([True]))
    result = assert_equal(FlatConfig(1), one).result
    assert (result.sets.tolist(), result.tags.tolist()) == ([0], [1])


def test_progress_reaches_its_end_in_order() -> None:
    progress: list[tuple[int, int]] = []
    config = FlatConfig(1000)
    trace = shaped(np.random.default_rng(SEED), "scan", config, 60_000)
    flat.run(config, trace, "rtl", GEOMETRY, lambda done, total: progress.append((done, total)))
    assert progress and progress == sorted(progress)
    assert all(done <= total == len(trace) for done, total in progress)


def test_hits_and_misses_are_as_quick_as_the_ports_allow() -> None:
    messages: list[str] = []
    measures = flatbench.cycles(GEOMETRY, messages.append)
    assert [m.name for m in measures if m.missed] == []
    assert sum(m.exact for m in measures) == 4 and len(measures) == 8


def test_both_engines_write_the_same_bytes(tmp_path: Path) -> None:
    rows = [f"{i * 0x9E40 % 0x20000:#x},{i % 3 == 0:d}" for i in range(400)]
    (tmp_path / "t.csv").write_text("\n".join(["addr,write", *rows, ""]))
    (tmp_path / "f.toml").write_text("near_lines = 0x400\npolicy = 'nth'\nn = 2\n")
    for engine in ("rtl", "model"):
        with pytest.raises(SystemExit) as ended:
            cli.main(
                [
                    "flat", "--config", str(tmp_path / "f.toml"), "--trace",
                    str(tmp_path / "t.csv"), "--engine", engine, "--out",
                    str(tmp_path / engine), "--device-gib", "1",
                ]
            )  # fmt: skip
        assert not ended.value.code
    hardware, model = (
        {path.name: path.read_bytes() for path in (tmp_path / engine).iterdir()}
        for engine in ("rtl", "model")
    )
    assert hardware["sets.parquet"] == model["sets.parquet"]
    report, other = (json.loads(files["report.json"]) for files in (hardware, model))
    assert report["cycles"] > 400 and other["cycles"] == other["forwarded"] == 0
    for only in ("cycles", "forwarded", "accesses_per_second"):
        del report[only], other[only]
    assert report == other


# --- what the harness is there to notice ---

ENGINE = rtl.flat_memory(1, GEOMETRY.address_bits)
CONFIG = FlatConfig(64)
# All near lines, then all lines that swap with them.
TRACE = Trace(np.arange(CONFIG.lines, dtype=np.uint64) * np.uint64(LINE_BYTES), np.zeros(128, bool))


def run_engine(program: Path, folder: Path) -> dict:
    flat_rtl.write_job(folder / "job", CONFIG, GEOMETRY, Memories())
    write_trace(folder / "trace", TRACE)
    return run_program([program, "run", folder / "job", folder / "trace", folder], None)


# Faults in the emitted hardware, with the harness's expected message; reads of wrong data are
# counted.
FAULTS = {
    "a tag": (
        "LinePort*.sv",
        r"(\.io_in_bits_sideband\s*)\((io_write_bits_sideband)\)",
        r"\1({19'h0, FAULT} ^ \2)",
    ),
    "a buffered line": (
        "TagCheck.sv",
        r"(?<=assign io_bufferWrite_bits_stored_data =)",
        " {511'h0, FAULT} ^",
    ),
    "a read": ("TagCheck.sv", r"(?<=assign io_answer_bits_data =)", " {511'h0, FAULT} ^"),
}
COMPLAINTS = {
    "a tag": "the sweep of near memory leaves something else than the tags of power-up",
    "a buffered line": "does not hold line",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return faulty(ENGINE, FAULTS, tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_hardware_is_noticed(
    fault: str, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(FAULTS, fault, monkeypatch)
    if fault not in COMPLAINTS:
        assert run_engine(program, tmp_path)["mismatches"] > 0
    else:
        with pytest.raises(rtl.BackendError, match=COMPLAINTS[fault]):
            run_engine(program, tmp_path)


def test_the_same_without_a_fault(program: Path, tmp_path: Path) -> None:
    """Without a fault the same run passes, so the tests of faults are meaningful."""
    for simulator in (rtl.build(ENGINE), program):
        assert run_engine(simulator, tmp_path)["mismatches"] == 0


def test_a_job_that_is_not_the_engines(tmp_path: Path) -> None:
    program, job = rtl.build(ENGINE), tmp_path / "job"
    run_engine(program, tmp_path)
    arguments = [program, "run", job, tmp_path / "trace", tmp_path]
    good = job.read_bytes()
    for content, complaint in [
        (good[:-8], "ends too early"),
        (b"\0" * 120, "magic"),
        (good[:8] + b"\2" + good[9:], "ratio is 2, this hardware's is 1"),
        (good[:24] + b"\0" * 8 + good[32:], "no near lines"),
        (good[:-8] + b"\0" * 8, "as many ids"),
    ]:
        job.write_bytes(content)
        with pytest.raises(rtl.BackendError, match=complaint):
            run_program(arguments, None)
    with pytest.raises(rtl.BackendError, match="usage"):
        run_program(arguments[:3], None)
