# SPDX-License-Identifier: Apache-2.0
"""`anemone memstrata run`: output of perf and anemonectl, HOST.toml, and the simulator's plan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from anemone.io.counters import SourceError, perf_rows
from anemone.io.errors import InputError
from anemone.memstrata import perf
from anemone.memstrata.files import counters, read_counters
from anemone.memstrata.host import HostFile, Machine, read_host
from anemone.memstrata.live import counted, processor_s, recorded, rounds
from anemone.memstrata.loop import Judged, Reading
from anemone.memstrata.outliers import METRICS
from anemone.memstrata.perf import EVENTS, Measured, asked, measured
from anemone.studies.mixes import Mix, Policy
from tests.commands import assert_refused, one_line, run
from tests.memstrata.test_mixes import job

# A second of a core that runs at 3 GHz half of the time (TSC 2 GHz). An L3 miss takes 300 cycles,
# an L2 miss 150 and a page walk 60; 7 requests and 4 L2 misses per thousand instructions.
CORE = {
    "instructions": 1e9, "cycles": 1.5e9, "ref_tsc": 1e9, "tsc": 2e9, "l3_pending": 3e8,
    "l3_reads": 1e6, "l2_pending": 6e8, "l2_reads": 4e6, "walk_cycles": 6e6, "walks": 1e5,
    "l2_misses": 4e6, "reads": 3e6, "prefetches": 2e6, "evicted": 2.5e6, "again": 5e5,
}  # fmt: skip


def printed(t: float, cores: Mapping[int, dict] | None = None) -> list[str]:
    """The output of `perf stat -A -x, -I`."""
    cores = cores or {0: CORE, 3: CORE}
    return [
        f"     {t:.9f},CPU{c},{v:.0f},,{n},1000000000,100.00,,"
        for n in EVENTS
        for c, core in cores.items()
        for v in [core[n]]
    ]


def test_metrics_by_hand() -> None:
    lines = ["# started on Mon Nov 23", *printed(1.0), *printed(2.0)]
    first, second = perf_rows(lines, EVENTS, by_cpu=True)
    assert first == second and set(first) == {("CPU0",), ("CPU3",)}
    both = measured([first["CPU0",], first["CPU3",]])
    assert both.metrics == pytest.approx(
        {"l3_ns": 100, "l2_ns": 50, "tlb_ns": 20, "l2_mpki": 4, "requests": 7}
    )
    assert (both.instructions, both.requests) == (2e9, pytest.approx(1.4e7))
    idle = measured([{n: perf.Counted(0.0, 1e9) for n in EVENTS}])
    assert set(idle.metrics.values()) == {0} and idle.requests == 0


def test_every_event_is_asked_for_with_those_it_is_compared_to() -> None:
    words = asked()
    text = " ".join(words)
    assert all(f"name={n}/" in text or n in ("instructions", "cycles") for n in EVENTS)
    assert any("name=l3_pending/,cpu/" in word and "name=l3_reads/}" in word for word in words)


def command(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replacement for a program, first in PATH."""
    (folder / name).write_text("#!/bin/sh\n" + text)
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_perf_is_asked_for_the_machines_cores(tmp_path: Path, monkeypatch) -> None:
    rows = "\n".join(printed(1.0))
    text = f"echo \"$@\" > {tmp_path}/asked\ncat >&2 <<'E'\n{rows}\nE\nexit 3\n"
    command(tmp_path, "perf", text, monkeypatch)
    found = perf.live({"a": (3,), "b": (0,)}, 0.5)
    assert {name: m.metrics["requests"] for name, m in next(found).items()} == {"a": 7, "b": 7}
    with pytest.raises(SourceError, match="status 3"):
        next(found)
    words = (tmp_path / "asked").read_text().split()
    assert words[:8] == ["stat", "-a", "-x,", "-I", "500", "-A", "-C", "0,3"]
    with pytest.raises(InputError) as refused:
        next(perf.live({"a": (3, 7)}, 0.5))
    assert "CPU7 is missing" in one_line(refused.value)


HOST = """
telemetry = "misses"
interval = 0.5

[[vm]]
name = "calm"
cores = "0-1"
pages = 100
dedicated = 32
regions = "0,2-3"

[[vm]]
name = "slow"
cores = "3"
pages = 100
dedicated = 32
regions = "1"
"""
FILE = HostFile(
    "host.toml",
    (Machine("calm", (0, 1), 100, 32, (0, 2, 3)), Machine("slow", (3,), 100, 32, (1,))),
    interval_s=0.5, telemetry="misses",
)  # fmt: skip


def test_a_host_is_read(tmp_path: Path) -> None:
    (path := tmp_path / "host.toml").write_text(HOST)
    found = read_host(path)
    assert found == HostFile(str(path), FILE.machines, interval_s=0.5, telemetry="misses")
    assert found.layout.near_pages == 68 and found.layout.dedicated_pages == 64


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[vm]]", "[vm]", "TOML is wrong"),
        ('cores = "3"', 'cores = "1-3"', 'line 12: vm[1]: cores is "1-3"'),
        ('cores = "3"', 'cores = "3-1"', 'cores is "3-1"'),
        ('cores = "3"', "cores = 3", "cores is 3"),
        ('cores = "3"', f'cores = "{"9" * 5000}"', 'vm[1]: cores is "9999'),
        ('regions = "1"', 'regions = "1,3"', 'vm[1]: regions is "1,3"'),
        ('regions = "1"', "", "regions is missing"),
        ('telemetry = "misses"', "", "regions is"),
        ('name = "slow"', 'name = "calm"', "a name that no other VM has"),
        ("dedicated = 32", "dedicated = 101", "line 5: vm[0]: dedicated is 101"),
        ("interval = 0.5", "interval = 0", "line 3: interval is 0"),
        ("interval = 0.5", "step = 1", "step is 1"),
        ("interval = 0.5", "ratio = 5", "ratio is 5"),
        ("interval = 0.5", "page_bytes = 5000", "line 3: page_bytes is 5000"),
    ],
)
def test_a_bad_host(old: str, new: str, message: str, tmp_path: Path, capsys) -> None:
    words = ["memstrata", "run", "--dry-run", "--host", str(tmp_path / "host.toml"),
             "--model", "m"]  # fmt: skip
    content = HOST.replace(old, new, 1 if old != "[[vm]]" else 2)
    assert_refused(tmp_path / "host.toml", content, message, words, capsys)


def metrics(l3_ns: float = 100.0) -> dict[str, float]:
    return {**dict.fromkeys(METRICS, 5.0), "l3_ns": l3_ns}


def judged(name: str, misses: float | None = None) -> Measured:
    return Measured(metrics(), 1e6, misses, name == "slow")


def test_misses_are_those_of_the_machines_regions() -> None:
    """Misses are differences from the first call on; after a device's reset they start again."""
    reads = iter([
        {(0, 0): 5, (1, 0): 7}, {(0, 0): 6, (1, 0): 7, (2, 1): 10, (9, 0): 99},
        {(0, 0): 6, (1, 0): 3, (2, 1): 10},
    ])  # fmt: skip
    some = [{vm.name: judged(vm.name) for vm in FILE.machines}] * 2
    found = list(counted(iter(some), FILE, lambda: next(reads)))
    assert [each["calm"].misses for each in found] == [11, 0]
    assert [each["slow"].misses for each in found] == [0, 3]


@pytest.mark.parametrize("done", [True, False])
def test_what_would_be_exchanged(done: bool) -> None:
    """If exchanges count as done the donor runs out of pages; otherwise each round starts again."""
    some = [{vm.name: judged(vm.name, 100.0) for vm in FILE.machines}] * 5
    found = list(rounds(FILE, None, iter(some), done))
    pages = [[m.exchange.pages for m in r.moved] for r in found]
    assert pages == ([[10], [10], [10], [2], []] if done else [[10]] * 5)
    assert {**found[0].named(), "core": 0} == {
        "interval": 0, "core": 0,
        "vms": [{"name": "calm", "is_outlier": False, "misses": 100.0},
                {"name": "slow", "is_outlier": True, "misses": 100.0}],
        "exchanges": [{"from": "calm", "to": "slow", "pages": 10, "bytes": 3 * 10 << 21,
                       "regions": []}],
    }  # fmt: skip


def test_which_pages_should_be_dedicated() -> None:
    """If regions are pages, those with most misses are listed, each in one exchange only."""
    first, slow = FILE.machines
    regions = tuple(range(100, 200))
    other = replace(first, name="more", regions=())
    file = replace(FILE, machines=(replace(slow, regions=regions), other, first))
    misses = {r: 0 if r < 190 else 500 - r for r in regions}
    interval = {
        "slow": replace(judged("slow", 100.0), by_region=misses),
        "more": judged("more", 1.0), "calm": replace(judged("calm", 2.0), by_region={0: 5}),
    }  # fmt: skip
    file = replace(file, step_ratio=0.06)
    (found,) = rounds(file, None, iter([interval]), True)
    assert [(m.donor, m.exchange.pages) for m in found.moved] == [("more", 6)]
    assert found.regions == [[190, 191, 192, 193, 194, 195]]
    file = replace(
        file, machines=(replace(file.machines[0], pages=200, regions=regions), *file.machines[1:])
    )
    misses = {r: 0 if r < 310 else 500 - r for r in range(200, 400)}
    interval["slow"] = replace(interval["slow"], by_region=misses)
    (found,) = rounds(file, None, iter([interval]), True)
    assert [(m.donor, m.exchange.pages) for m in found.moved] == [("more", 6), ("calm", 6)]
    assert [r[0] for r in found.regions] == [310, 316] and found.regions[1][-1] == 321


def test_processor_time_is_that_of_all_processes(tmp_path: Path) -> None:
    """Processor time of the process, its ended children, and its running children."""

    def process(pid: int, parent: int, times: str) -> None:
        (tmp_path / str(pid)).mkdir()
        text = f"{pid} (a) b) S {parent} 2 3 4 5 6 7 8 9 10 {times} 20"
        (tmp_path / str(pid) / "stat").write_text(text)

    process(7, 1, "100 50 20 10")
    process(8, 7, "300 0 0 0")
    process(9, 8, "0 1 0 0")
    process(10, 1, "9999 0 0 0")
    (tmp_path / "11").mkdir()  # it ended meanwhile
    assert processor_s(7, tmp_path) == 481 / os.sysconf("SC_CLK_TCK")
    before = processor_s()
    while processor_s() < before + 0.05:
        pass


def by_requests(readings: Mapping[str, Reading]) -> dict[str, Judged]:
    """The request rate of the jobs by hand follows their slowdown."""
    return {n: Judged(r.metrics["requests"] > 0.05, r.misses) for n, r in readings.items()}


def test_the_plan_is_the_simulators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counters of the simulator's machines, through files, give the same exchanges."""
    jobs = [job("a", 0.5), job("b", 0.2), job("c", 0.04), job("d", 0.0)]
    mix = Mix(jobs, 0.33, Policy(by_requests))
    seen: list[dict[str, Measured]] = []
    there, before = [], {}
    its_round = mix.host.round
    monkeypatch.setattr(mix.host, "_given", list)  # a dry run has no free pages

    def watched(readings: Mapping[str, Reading]) -> list:
        if not before:
            before.update({n: len(mix.host.pages.dedicated(n)) for n in readings})
        seen.append({
            n: Measured(r.metrics, 1000 * r.requests / r.metrics["requests"]
                        if r.metrics["requests"] else 0.0, r.misses)
            for n, r in readings.items()
        })  # fmt: skip
        there.append([(m.donor, m.borrower, m.exchange.pages) for m in its_round(readings)])
        return []

    monkeypatch.setattr(mix.host, "round", watched)
    mix.run(100)
    (path := tmp_path / "counters.json").write_text(json.dumps(counters(seen)))
    text = "".join(
        f'[[vm]]\nname = "{j.name}"\ncores = "{i}"\npages = {j.pages}\n'
        f"dedicated = {before[j.name]}\n"
        for i, j in enumerate(jobs)
    )
    (tmp_path / "host.toml").write_text(text)
    file = read_host(tmp_path / "host.toml")
    found = rounds(file, by_requests, recorded(file, read_counters(path), path), True)
    here = [[(m.donor, m.borrower, m.exchange.pages) for m in r.moved] for r in found]
    assert here == there and any(here)


def in_files(folder: Path, host: str = HOST, **changed: object) -> list[str]:
    """Files of the command: HOST, and two intervals of its machines."""
    (folder / "host.toml").write_text(host)
    rows = [{vm.name: judged(vm.name, 100.0) for vm in FILE.machines}] * 2
    content = counters(rows)
    for vm in content["vms"]:
        for row in vm["intervals"]:
            row.update(changed)
    (folder / "counters.json").write_text(json.dumps(content))
    return ["memstrata", "run", "--dry-run", "--host", str(folder / "host.toml"),
            "--counters", str(folder / "counters.json")]  # fmt: skip


def test_the_command(tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Misses come from anemonectl if HOST.toml names a telemetry."""
    content = json.dumps({"counters": [{"region": 1, "offset": 0, "value": 9}]})
    command(tmp_path, "anemonectl", f"echo '{content}'\n", monkeypatch)
    words = in_files(tmp_path)
    status, out, err = run([*words, "--json"], capsys)
    assert status == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["exchanges"][0]["pages"] for line in lines] == [10, 10]
    assert [vm["misses"] for vm in lines[1]["vms"]] == [0, 0]
    status, out, err = run([*words, "--intervals", "1"], capsys)
    assert (status, out.count("\n")) == (0, 1) and "calm to slow: 10" in out


def test_what_perf_has_is_recorded(tmp_path: Path, monkeypatch, capsys) -> None:
    """A live run's record gives the same decisions when another run replays it."""
    cores = {0: CORE, 1: CORE, 3: {**CORE, "l3_pending": 6e8}}
    rows = "\n".join([*printed(1.0, cores), *printed(2.0, cores)])
    command(tmp_path, "perf", f"cat >&2 <<'E'\n{rows}\nE\nexec sleep 60\n", monkeypatch)
    command(tmp_path, "anemonectl", "echo '{\"counters\": []}'\n", monkeypatch)
    model = tmp_path / "model"
    model.mkdir()
    line = {"slope": 0.005, "intercept": -0.5}
    (model / "model.json").write_text(json.dumps({"line": line}))
    (model / "model.onnx").write_bytes(b"")
    monkeypatch.setattr(
        "anemone.memstrata.outliers.ask",
        lambda request: [[1.0 if row[1] > 150 else 0.0 for row in request["ask"][0]["rows"]]],
    )
    (tmp_path / "host.toml").write_text(HOST)
    words = ["memstrata", "run", "--dry-run", "--host", str(tmp_path / "host.toml"), "--json",
             "--model", str(model)]  # fmt: skip
    kept = tmp_path / "kept.json"
    live = [*words, "--intervals", "1", "--record", str(kept)]
    status, out, err = run(live, capsys)
    assert status == 0, err
    report = json.loads(out)
    assert [vm["is_outlier"] for vm in report["vms"]] == [False, True]
    assert report["exchanges"][0]["pages"] == 10
    status, out, err = run([*words, "--counters", str(kept)], capsys)
    assert status == 0 and json.loads(out)["exchanges"] == report["exchanges"], err
    (model / "model.json").write_text(json.dumps({"line": line, "counted": True}))
    (tmp_path / "host.toml").write_text(
        HOST.replace('telemetry = "misses"', "")
        .replace('regions = "1"', "")
        .replace('regions = "0,2-3"', "")
    )
    status, out, err = run(live, capsys)
    assert (status, out) == (2, "") and "telemetry is missing" in err


@pytest.mark.parametrize(
    ("changed", "words", "message"),
    [
        ({"is_outlier": 1}, [], "is_outlier is 1"),
        ({"instructions": -1}, [], "instructions is -1"),
        ({"more": 1}, [], "more is 1"),
    ],
)
def test_bad_records(changed: dict, words: list[str], message: str, tmp_path: Path, capsys) -> None:
    argv = in_files(tmp_path, **changed) + words
    status, out, err = run(argv, capsys)
    assert (status, out) == (2, "") and message in err and "counters.json" in err


def test_a_record_that_cannot_be_written(tmp_path: Path, capsys) -> None:
    argv = in_files(tmp_path)
    for there, message in (
        (tmp_path, "not a regular file"),
        (tmp_path / "host.toml/x", "directory"),
    ):
        status, out, err = run([*argv, "--record", str(there)], capsys)
        assert (status, out) == (2, "") and "--record is" in err and message in err


def test_machines_are_those_of_the_host(tmp_path: Path, capsys) -> None:
    argv = in_files(tmp_path, HOST.replace('"slow"', '"other"'))
    status, out, err = run(argv, capsys)
    assert (status, out) == (2, "") and 'vms[1]: name is "slow"' in err
    status, out, err = run([w for w in argv if w != "--dry-run"], capsys)
    assert (status, out) == (2, "") and "--dry-run is missing" in err
    status, out, err = run(argv[:-2], capsys)
    assert (status, out) == (2, "") and "--model is missing" in err


def test_the_command_needs_no_compiler(tmp_path: Path) -> None:
    """A host has Python, but not the libraries that numba loads."""
    words = in_files(tmp_path, HOST.replace('telemetry = "misses"\n', "").replace(
        'regions = "0,2-3"', "").replace('regions = "1"', ""))  # fmt: skip
    program = "import sys; sys.modules['numba'] = None; from anemone.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert done.returncode == 0 and "slow" in done.stdout, done.stderr
