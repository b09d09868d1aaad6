# SPDX-License-Identifier: Apache-2.0
"""`anemone camp record` with a replacement for perf on a machine with the counters."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from anemone.io.errors import InputError
from anemone.models.camp import record
from anemone.models.camp.counters import NEEDED
from anemone.models.camp.events import by_name
from anemone.models.camp.record import merge, platform_here
from tests.camp.test_camp_command import CAL
from tests.camp.test_camp_perf import VALUES
from tests.commands import one_line, run

STAND_IN = Path(__file__).with_name("perf_stand_in.py")


@pytest.fixture
def perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A replacement for perf in PATH; a test sets its behaviour."""
    command = tmp_path / "bin" / "perf"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_IN} "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=":")
    monkeypatch.setenv("STAND_IN_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)

    def set_output(platform: str, **more) -> None:
        values = {
            e.name: VALUES[e.counter] for e in by_name(platform).values() if e.counter in VALUES
        }
        values |= {"instructions": 12000, "task-clock": 0.004}
        monkeypatch.setenv("STAND_IN", json.dumps({"values": values, **more}))

    return set_output


def recorded(capsys, platform: str, *words: str) -> tuple[int, str, str]:
    return run(["camp", "record", "--platform", platform, *words, "--json", "--", "true"], capsys)


@pytest.mark.parametrize("platform", NEEDED)
def test_what_was_counted_is_predicted(platform: str, perf, capsys) -> None:
    """Three groups; counts of later runs are scaled to the first run's cycles."""
    perf(platform)
    status, out, err = recorded(capsys, platform, "--out", "found/c.json")
    report = json.loads(out)
    assert (status, err) == (0, "")
    assert report["clock_ghz"] == pytest.approx(9000 / 0.004 / 1e6)
    assert report["L_cycles"] == pytest.approx(800 / 30, rel=0.05)
    assert report["MLP"] == pytest.approx(4, rel=0.01)
    assert report["l_full_ns"] == pytest.approx(report["L_cycles"] / report["clock_ghz"])
    assert 0 < report["spread"] < 0.05
    found = json.loads(Path("found/c.json").read_text())
    for name in NEEDED[platform]:
        assert found[name] == pytest.approx(VALUES[name], rel=0.02), name
    assert found["instructions"] == 12000
    Path("cal.toml").write_text(CAL)
    words = ["--counters", "found/c.json", "--calibration", "cal.toml", "--platform", platform]
    assert run(["camp", "predict", *words], capsys)[0] == 0


def test_by_interval(perf, capsys) -> None:
    perf("spr", seconds=3)
    assert recorded(capsys, "spr", "--interval", "0.5", "--out", "c.json")[0] == 0
    found = json.loads(Path("c.json").read_text())["intervals"]
    assert [i["t"] for i in found] == [1.000123456, 2.000123456, 3.000123456]
    assert all(set(NEEDED["spr"]) <= set(i) for i in found)


def test_what_the_machine_lacks_is_named(perf, capsys) -> None:
    """The check is before the first run of the program."""
    perf("spr", lacks=["unc_cha_llc_lookup.all", "mem_load_retired.fb_hit"])
    status, out, err = recorded(capsys, "spr")
    assert (status, out) == (2, "") and "Bad event name" in err
    assert "unc_cha_llc_lookup.all" in err and "mem_load_retired.fb_hit" in err
    assert not Path("runs").exists() and not Path("counters.json").exists()


def test_many_that_the_machine_lacks(perf, capsys) -> None:
    perf("skx", lacks=[e.name for e in by_name("skx").values()])
    err = recorded(capsys, "skx")[2]
    assert all(
        f"{name}, " in err for name in ("c", "instructions", *NEEDED["skx"][1:]) if name != "P13"
    )


def test_all_that_the_machine_lacks_is_named(perf, capsys) -> None:
    """All reasons are reported: in a virtual machine some counters are refused, others
    unsupported.
    """
    lacks = ["unc_cha_llc_lookup.all"]
    perf("spr", lacks=lacks, values={"mem_load_retired.fb_hit": "<not supported>"})
    err = recorded(capsys, "spr")[2]
    assert "P5 (mem_load_retired.fb_hit) is not supported" in err and len(err.splitlines()) == 1
    assert "P15 (unc_cha_llc_lookup.all) is Bad event name" in err


@pytest.mark.parametrize("seconds", [0, 3])
def test_a_clock_with_a_decimal_comma(seconds: int, perf, capsys) -> None:
    """In some locales perf prints 1500,27 for 1500.27 ms."""
    perf("skx", comma=True, seconds=seconds)
    words = ["--interval", "1"] if seconds else []
    report = json.loads(recorded(capsys, "skx", *words)[1])
    assert report["clock_ghz"] == pytest.approx(9000 / 0.004 / 1e6)


def test_without_a_clock(perf, capsys) -> None:
    perf("skx", lacks_rows=["task-clock"])
    status, out, err = recorded(capsys, "skx")
    assert (status, out) == (2, "") and "task-clock is missing" in err


def test_nothing_is_multiplexed(perf, capsys) -> None:
    perf("skx", share="49.99")
    status, _, err = recorded(capsys, "skx")
    assert status == 2 and "counted 49.99 % of the time" in err
    assert not Path("counters.json").exists()


def test_a_program_that_fails(perf, capsys) -> None:
    perf("skx")
    status, _, err = run(["camp", "record", "--platform", "skx", "--", "false"], capsys)
    assert status == 1 and "false: under perf it ended with status 1" in err


def test_bad_words(perf, capsys) -> None:
    perf("skx")
    status, _, err = recorded(capsys, "skx", "--interval", "0")
    assert status == 2 and "--interval" in err
    assert run(["camp", "record", "--platform", "skx"], capsys)[0] == 2


def test_without_perf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, _, err = recorded(capsys, "skx", "--out", str(tmp_path / "c.json"))
    assert status == 2 and "perf is missing" in err


CPUINFO = "vendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: A processor\n\n"


@pytest.mark.parametrize(("model", "platform"), [(85, "skx"), (143, "spr"), (207, "emr")])
def test_the_platform(model: int, platform: str, tmp_path, monkeypatch) -> None:
    text = CPUINFO.format("GenuineIntel", 6, model) * 2
    assert platform_here(text) == platform
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(record, "_CPUINFO", tmp_path / "cpuinfo")
    assert record.here() == platform


@pytest.mark.parametrize("what", [("GenuineIntel", 6, 106), ("AuthenticAMD", 25, 143)])
def test_a_processor_without_a_model(what: tuple) -> None:
    with pytest.raises(InputError) as refused:
        platform_here(CPUINFO.format(*what))
    assert str(what[2]) in one_line(refused.value)


def test_runs_are_put_together_by_cycles() -> None:
    first = {1.0: {"c": 100.0, "P1": 5.0}, 2.0: {"c": 300.0, "P1": 6.0}, 3.0: {"c": 1.0, "P1": 0.0}}
    second = {1.1: {"c": 200.0, "P4": 8.0}, 2.1: {"c": 100.0, "P4": 8.0}}
    mesh = {1.2: {"P14": 7.0}, 2.2: {"P14": 9.0}, 3.2: {"P14": 1.0}}
    done = merge([first, second, mesh], 2.0)
    assert done.intervals == {
        1.0: {"c": 100.0, "P1": 5.0, "P4": 4.0, "P14": 7.0},
        2.0: {"c": 300.0, "P1": 6.0, "P4": 24.0, "P14": 9.0},
    }
    assert done.spread == pytest.approx(1 - 300 / 401)
