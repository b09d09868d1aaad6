# SPDX-License-Identifier: Apache-2.0
"""Parsing of samples from `perf script` and of counts from `perf stat -x,`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anemone.io.errors import InputError
from anemone.models.msgfree import command, measured
from anemone.models.msgfree.folder import read_folder
from anemone.models.msgfree.loads import read_loads, write_loads
from anemone.models.msgfree.measured import Measured, counts, loads_of, source_of
from anemone.models.msgfree.modelled import Modelled
from tests.commands import one_line
from tests.msgfree.test_predict import A, folder, receive

SCRIPT = """
     0/0       12.000000050:            10000      68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A               7
     0/1       12.000000150:            10008      68100842 |OP LOAD|LVL LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A         40
     0/0       12.000000250:            10010    1068100842 |OP LOAD|LVL Local RAM hit|SNP None|TLB L2 miss|LCK No|BLK N/A           230
     0/0       12.000000350:            10018      68100842 |OP LOAD|LVL L3 or L3 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A        80
     0/0       12.000000400:            10018      5080021  |OP LOAD|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK N/A                          80
     7/7       12.000000350:            10018      68100842 |OP LOAD|LVL L2 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A              20
     0/0       12.000000350:            10018      68100842 |OP STORE|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A              2
"""  # noqa: E501
COUNTED = {
    "mem_inst_retired.all_loads": 8000.0, "mem_load_retired.l1_miss": 800.0,
    "mem_load_retired.l3_miss": 80.0, "cycles": 4e6, "task-clock": 2.0,
    "uncore_imc/cas_count_read/": 3.0, "duration_time": 1e6,
}  # fmt: skip


def test_samples_of_perf_script(tmp_path: Path) -> None:
    at = folder(tmp_path / "run", [receive(A, 12_000_000_100, 64)])
    ranks = read_folder(at)
    assert int(ranks[0].header["pid"]) == 1
    text = SCRIPT.replace("     0/", "     1/")
    loads = loads_of(text, "perf.data", ranks, COUNTED)
    assert (
        loads.rate == 8000 / 5
    )  # of all samples of the rank's loads, also the one without a level
    own = loads.of["0"]
    assert own.time_ns.tolist() == [12_000_000_000 + t for t in (50, 150, 250, 350)]
    assert own.address.tolist() == [0x10000, 0x10008, 0x10010, 0x10018]
    assert own.latency_ns.tolist() == [3.5, 20, 115, 40]  # at 2 GHz
    assert own.source.tolist() == ["L1", "LFB", "MEM", "L3"]
    assert loads.metrics.mem_gb_per_s == pytest.approx(3 * (1 << 20) / 1e6)
    assert loads.metrics.l1_gb_per_s == pytest.approx(8000 * 8 / 2e6)
    assert loads.metrics.l2_gb_per_s == pytest.approx(800 * 64 / 2e6)
    assert (loads.metrics.l3_miss_share, loads.metrics.l2_load_share) == (0.01, 0.1)
    # The first was before the receive.
    assert write_loads(at, loads, ranks) == 3
    again = read_loads(at)
    assert again and again.how == loads.how and again.metrics == loads.metrics
    assert again.of["0"].source.tolist() == ["LFB", "MEM", "L3"]


@pytest.mark.parametrize(
    ("level", "source"),
    [
        ("L1 or L1 hit", "L1"), ("L2 hit", "L2"), ("L3 hit", "L3"), ("L3 miss", "MEM"),
        ("Remote RAM (1 hop) hit", "MEM"), ("RAM hit", "MEM"), ("LFB hit", "LFB"),
        ("PMEM hit", "MEM"), ("Any cache hit", "L3"), ("N/A", None),
    ],
)  # fmt: skip
def test_where_from(level: str, source: str | None) -> None:
    assert source_of(f"|OP LOAD|LVL {level}|SNP None") == source


def test_what_perf_does_not_say_is_named(tmp_path: Path) -> None:
    ranks = read_folder(folder(tmp_path / "run", [receive(A, 1, 64)]))
    with pytest.raises(InputError) as refused:
        loads_of("1/1 12.5: 7f x\n", "perf.data", ranks, COUNTED)
    assert "line 1" in one_line(refused.value) and "perf script -F" in one_line(refused.value)
    with pytest.raises(InputError) as refused:
        loads_of("", "perf.data", ranks, COUNTED)
    assert "--period" in one_line(refused.value)
    stat = "# started\n1.5,MiB,uncore_imc/cas_count_read/,1,100.00,,\n"
    twice = stat + "2,MiB,uncore_imc/cas_count_read/,1,100.00,,\n"
    name = "uncore_imc/cas_count_read/"
    assert counts(twice, "f", [name]) == {name: 3.5}
    with pytest.raises(InputError) as refused:
        counts("<not supported>,,cycles,0,100.00,,\n", "f", ["cycles"])
    assert "line 1: cycles" in one_line(refused.value)
    with pytest.raises(InputError) as refused:
        counts(stat, "f", ["cycles"])
    assert "cycles is missing" in one_line(refused.value)


def test_perf_is_around_the_launcher(tmp_path: Path) -> None:
    words = Measured(500).words(["mpirun", "-n", "2", "a"], tmp_path, "tracer.so")
    assert words[-4:] == ["mpirun", "-n", "2", "a"]
    assert words[words.index("-c") + 1] == "500"
    # Without it perf leaves out loads of fewer than 30 cycles, which are most hits.
    assert words[words.index("--ldlat") + 1] == "3"


# What perf refuses, by processor. With IBS (AMD) perf refuses to sample only loads and --ldlat,
# and the kernel refuses a period that is no multiple of 16.
_REFUSES = {
    "PEBS": 'case "$*" in *ibs_op*) exit 1;; esac',
    "IBS": 'case "$*" in *mem*load*|*ldlat*|*mem_inst_retired*|*uncore_imc*) exit 129;; esac\n'
    'while [ $# -gt 0 ]; do [ "$1" = -c ] && [ $(($2 % 16)) -ne 0 ] && exit 22; shift; done',
    "none": 'echo "<not supported> loads" >&2',
}


@pytest.mark.parametrize(
    ("processor", "unit"), [("PEBS", measured.PEBS), ("IBS", measured.IBS), ("none", None)]
)
def test_auto_is_perf_where_perf_samples_loads(
    processor: str, unit: measured.Unit | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perf = tmp_path / "perf"
    perf.write_text("#!/bin/sh\n" + _REFUSES[processor] + "\nexit 0\n")
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for asked in (command.LoadsFrom.auto, command.LoadsFrom.perf):
        if unit is None and asked is command.LoadsFrom.perf:
            with pytest.raises(InputError) as refused:
                command._sampler(asked, 7, command.Core.spr)
            message = one_line(refused.value)
            assert '--loads is "perf"' in message and "<not supported> loads" in message
            continue
        sampler = command._sampler(asked, 7, command.Core.spr)
        if unit is None:
            assert isinstance(sampler, Modelled)
        else:
            assert isinstance(sampler, Measured) and sampler.unit is unit
        assert sampler.period == 7
    assert command._sampler(command.LoadsFrom.none, 7, command.Core.spr) is None
    assert isinstance(command._sampler(command.LoadsFrom.model, 7, command.Core.spr), Modelled)


def test_ibs_is_asked_for_operations_and_its_samples_are_read(tmp_path: Path) -> None:
    words = Measured(100, measured.IBS).words(["mpirun", "a"], tmp_path, "tracer.so")
    text = " ".join(words)
    assert "ldlat" not in text and " mem " not in text and "uncore_imc" not in text
    assert " -- perf record -a -d -W -e ibs_op/cnt_ctl=1/ " in text
    assert [measured.IBS.period(n) for n in (1, 144, 145, 100_000)] == [144, 144, 160, 100_000]
    stat = "".join(f"{n},,{name},1,100.00,,\n" for n, name in (
        (8000, "loads"), (800, "l1_miss"), (80, "l3_miss"), (4e6, "cycles"), (2, "task-clock"),
        (500, "reads")))  # fmt: skip
    counted = {"duration_time": 1e6, **counts(stat, "perf.stat", measured.IBS.counted)}
    ranks = read_folder(folder(tmp_path / "run", [receive(A, 12_000_000_100, 64)]))
    script = SCRIPT.replace("     0/", "     1/").replace("BLK N/A               7", "BLK N/A  0")
    loads = loads_of(script, "perf.data", ranks, counted, measured.IBS)
    assert loads.of["0"].latency_ns.tolist() == [2, 20, 115, 40]  # of the hit: 4 cycles at 2 GHz
    assert loads.metrics.mem_gb_per_s == pytest.approx(500 * 64 / 1e6)
    assert (loads.metrics.l3_miss_share, loads.metrics.l2_load_share) == (0.01, 0.1)
