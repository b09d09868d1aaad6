# SPDX-License-Identifier: Apache-2.0
"""M1: parsing of perf, numastat and anemonectl output, and runs with replacements for them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from anemone.caption import sources
from anemone.caption.sources import EVENTS, Allocations, Nemo, table_4
from anemone.io.counters import SourceError, perf_rows
from anemone.io.errors import InputError
from tests.commands import one_line

# One second of two cores that run at 3 GHz half of the time (TSC 2 GHz), with CHAs at 1.5 GHz.
VALUES = {
    "cycles": (3e9, 2e9), "instructions": (1.5e9, 2e9), "ref_tsc": (2e9, 2e9), "tsc": (4e9, 2e9),
    "l1_pending": (6e9, 2e9), "l1_replaced": (3e7, 2e9), "ddr_pending": (3e9, 1e9),
    "ddr_reads": (2e7, 1e9), "cha_clock": (1.5e9, 1e9),
}  # fmt: skip


def printed(t: float, values: dict = VALUES) -> list[str]:
    return [f"     {t:.9f},{v:.0f},,{n},{ns:.0f},100.00,," for n, (v, ns) in values.items()]


def test_table_4_by_hand() -> None:
    """200 cycles per miss at 3 GHz; 150 CHA cycles per read at 1.5 GHz."""
    lines = ["# started on Mon Nov 23", "", *printed(1.000123), *printed(2.000211)]
    found = [table_4(counted[()]) for counted in perf_rows(lines, tuple(EVENTS))]
    assert len(found) == 2 and found[0] == found[1]
    assert found[0] == pytest.approx(
        {"l1_miss_latency_ns": 200 / 3, "ddr_read_latency_ns": 100, "ipc": 0.5}
    )


def test_nothing_happened() -> None:
    none = {name: (0, ns) for name, (_, ns) in VALUES.items()}
    assert set(table_4(next(perf_rows(printed(1, none), tuple(EVENTS)))[()]).values()) == {0}


def test_what_was_not_counted_is_named() -> None:
    lines = [line.replace("3000000000,,ddr", "<not supported>,,ddr") for line in printed(1)]
    with pytest.raises(InputError) as refused:
        list(perf_rows(lines, tuple(EVENTS)))
    assert "ddr_pending is not supported" in one_line(refused.value)
    with pytest.raises(InputError) as refused:
        list(perf_rows(printed(1)[:-1], tuple(EVENTS)))
    assert "cha_clock is missing" in one_line(refused.value)


def command(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replacement for a program, first in PATH."""
    file = folder / name
    file.write_text("#!/bin/sh\n" + text)
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_perf_is_asked_for_the_whole_machine(tmp_path: Path, monkeypatch) -> None:
    rows = "\n".join(printed(1))
    script = f"echo \"$@\" > {tmp_path}/asked\ncat >&2 <<'E'\n{rows}\nE\nexit 3\n"
    command(tmp_path, "perf", script, monkeypatch)
    found = sources.perf(0.25)
    assert next(found)["ipc"] == 0.5
    with pytest.raises(SourceError, match="status 3"):
        next(found)
    asked = (tmp_path / "asked").read_text().split()
    assert asked[:5] == ["stat", "-a", "-x,", "-I", "250"]
    assert [w for w in asked if w.startswith("uncore_cha/event=0x36,umask=0xc8178601")]


@pytest.mark.skipif(shutil.which("perf") is None, reason="no perf")
@pytest.mark.parametrize("name", EVENTS)
def test_perf_can_read_each_event(name: str) -> None:
    """perf's parser accepts each event on any processor; a name may be a keyword, as `ref` was."""
    words = ["perf", "stat", "-a", "-x,", "-e", EVENTS[name], "true"]
    errors = subprocess.run(words, capture_output=True, text=True, check=False).stderr
    assert name in errors and "parser error" not in errors, errors


def test_only_what_the_model_needs_is_asked_for(tmp_path: Path, monkeypatch) -> None:
    """A model of IPC also works on a processor without CHAs."""
    rows = "\n".join(line for line in printed(1) if "cycles" in line or "instructions" in line)
    command(
        tmp_path, "perf", f"echo \"$@\" > {tmp_path}/asked\ncat >&2 <<'E'\n{rows}\nE\n", monkeypatch
    )
    numastat(tmp_path, 1, 10)
    found = sources.live(("ipc",), 1.0, None, 1, tmp_path)
    assert next(found).values == (0.5,)
    found.close()
    asked = (tmp_path / "asked").read_text().split()
    assert [w for w, e in zip(asked[1:], asked, strict=False) if e == "-e"] == [
        "cycles",
        "instructions",
    ]


def test_what_perf_cannot_count_is_said(tmp_path: Path, monkeypatch) -> None:
    """The error has perf's reason, not the end of its usage message."""
    text = "event syntax error: 'cha/..'\n   \\___ Cannot find PMU 'cha'\n\n Usage: x\n -e\n"
    command(tmp_path, "perf", f"cat >&2 <<E\n{text}E\nexit 129\n", monkeypatch)
    with pytest.raises(SourceError, match=r"status 129: Cannot find PMU 'cha'$"):
        next(sources.perf(1.0))


def numastat(root: Path, node: int, pages: int) -> None:
    folder = root / f"sys/devices/system/node/node{node}"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"numa_hit {pages}\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 9\n"
    (folder / "numastat").write_text(text)


def test_new_allocations_are_pages_on_the_cxl_node(tmp_path: Path) -> None:
    numastat(tmp_path, 0, 100)
    numastat(tmp_path, 1, 10)
    new = Allocations(1, tmp_path)
    assert new.sample() == 0
    numastat(tmp_path, 0, 999)
    assert new.sample() == 0
    numastat(tmp_path, 1, 60)
    assert (new.sample(), new.sample()) == (50, 0)
    with pytest.raises(InputError, match="numa_hit is missing"):
        Allocations(2, tmp_path)


def test_nemo_counts_differences(tmp_path: Path, monkeypatch) -> None:
    """Requests of 64 B since the last sample, modulo 2^64, over the time between."""
    counts = tmp_path / "counts"
    command(tmp_path, "anemonectl", f'test "$3" = --snapshot && cat {counts}\n', monkeypatch)

    def now(*values: int) -> None:
        rows = [{"region": 0, "offset": i, "value": v} for i, v in enumerate(values)]
        counts.write_text(json.dumps({"name": "bytes", "counters": rows}))

    at = iter([10.0, 12.0, 13.0, 14.0])
    now(5, 2**64 - 10**9)
    nemo = Nemo("bytes", lambda: next(at))
    now(5, 0)
    assert nemo.sample() == pytest.approx(32)
    assert nemo.sample() == 0
    counts.write_text("{}")
    with pytest.raises(SourceError, match="not what it prints"):
        nemo.sample()


def test_a_model_of_nemo_alone(tmp_path: Path, monkeypatch) -> None:
    """Without a counter of Table 4 perf is not needed."""
    numastat(tmp_path, 0, 0)
    rows = json.dumps({"counters": [{"region": 0, "offset": 0, "value": 1}]})
    command(tmp_path, "anemonectl", f"echo '{rows}'\n", monkeypatch)
    found = sources.live(("cxl_gb_per_s",), 0.01, "bytes", 0, tmp_path)
    sample = next(found)
    assert sample.values == (0,) and sample.new_allocations == 0
    with pytest.raises(InputError, match="--nemo is missing"):
        next(sources.live(("cxl_gb_per_s",), 0.01, None, 0, tmp_path))
