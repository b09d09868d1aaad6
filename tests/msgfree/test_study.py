# SPDX-License-Identifier: Apache-2.0
"""Message-free's study: evaluation of known answers by hand, and quick runs."""

from __future__ import annotations

import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from anemone.models.msgfree.shared import UnderLoad
from anemone.models.msgfree.site import Metrics, Site
from anemone.models.msgfree.tracer import compiler_beside, example
from anemone.studies import message_free_runs as runs
from anemone.studies.message_free import STUDY
from anemone.studies.message_free_judge import FOUR_NODES, PAPER, Tile, judge
from tests.msgfree.mpi import launcher, settings  # noqa: F401

NOTHING = Metrics(0.0, 0.0, 0.0, 0.0, 0.0)  # weights: half for Compute, the rest in equal shares


def site(messages: int, size: int, samples: tuple = ()) -> Site:
    return Site((float(size),) * messages, samples, 10.0, 1.0, 8.0, False, NOTHING)


def test_a_speedup_by_hand() -> None:
    """A step of 4 µs with four messages of 256 bytes, without loads."""
    tile = Tile(32, 4000.0, {"ns": site(8, 256), "we": site(40, 256)})
    message = 1480 + 256 / 24.715
    step = 4000 + 4 * message
    for groups in (("ns",), ("we",), ("ns", "we")):
        gain = 2 * len(groups) * (message - 2 * 430)
        assert tile.speedup(FOUR_NODES, groups) == pytest.approx(step / (step - gain))


def answers() -> list:
    loads = ((2.0, "L1"), (100.0, "MEM"))
    tiles = [
        ({"run": "heat", "tile": n},
         {"compute_ns": n * n * 2.0,
          "sites": {g: asdict(site(8, n * 8, loads)) for g in runs.GROUPS}})
        for n in (32, 64)
    ]  # fmt: skip
    gradients = [
        ({"run": "cg", "side": n},
         {"compute_ns": 1.0, **dict.fromkeys(("site", "along_x"),
                                             asdict(site(8, n * n * 8, loads)))})
        for n in (8, 16)
    ]  # fmt: skip
    gradients += [
        ({"run": "cg alone", "side": 8, "mode": mode, "turn": turn}, {"seconds": seconds * times})
        for turn, times in enumerate((0.5, 1, 9))
        for mode, seconds in (("message", 4e-6), ("shared", 5e-6))
    ]
    others = [
        ({"run": "other", "program": "lammps"},
         {"sites": [{"of": "large", "site": asdict(site(4, 24715))},
                    {"of": "small", "site": asdict(site(8, 0, ((86.0, "MEM"),) * 50))}],
          "collectives": 7, "compute_ns": 1e5}),
        ({"run": "other", "program": "hpcc"},
         {"sites": [{"of": "one", "site": asdict(site(4, 0))}], "collectives": 7,
          "compute_ns": None}),
    ]  # fmt: skip
    here = {"mpi_lat": 1000.0, "mpi_bw": 10.0, "mem_lat": 100.0, "cxl_lat": 100.0,
            "cxl_atomic_lat": 250.0}  # fmt: skip
    alone = [
        ({"run": "alone", "tile": 32, "group": group, "mode": mode, "turn": turn},
         {"seconds": seconds * times})
        for turn, times in enumerate((0.5, 1, 9))
        for group in runs.GROUPS
        for mode, seconds in (("message", 4e-6), (group, 5e-6 if group == "ns" else 3.2e-6))
    ]  # fmt: skip
    shared = [
        ({"run": "shared", "load": load}, asdict(UnderLoad(load, load, 110 + 50 * load, 100, 400)))
        for load in (0.0, 0.9)
    ]
    return [*tiles, *gradients, *others, ({"run": "parameters"}, here), *shared, *alone]


def test_the_rows_are_of_the_answers() -> None:
    found = judge(answers())
    here = {row.what: row.here for row in found.rows}
    paper = {row.what: row.paper for row in found.rows}
    assert here["here, measured: best of all tiles"] == pytest.approx(1.25)
    assert here["here, measured: worst"] == pytest.approx(0.8)
    # MPI takes 1000 + 25.6 ns, CXL 500; accesses are equal if CXL memory is equally fast.
    assert here["here, predicted: best of all tiles"] == pytest.approx(4000 / (4000 - 525.6))
    assert here["here: prediction and measurement agree on which is better"] == 50
    assert here["here, measured: gain or loss, tiles to 128"] == pytest.approx((20 + 25) / 2)
    assert here["here, measured: W+E is better than N+S"] == 100
    # Turns take 0.5, 1 and 9 times the time.
    assert here["here, measured: half of a run's turns are within"] == pytest.approx(850)
    assert here["here, predicted: W+E is better than N+S"] == 0  # both gain the same
    assert paper["four nodes, tile of 32: all halos at 350 ns"] == 1.37
    assert here["one node: Optane is slower than the other socket"] == 100
    # With 45 ns more per load a tile's speedup is lower.
    label = "two hosts, other work {} of a channel: four nodes, tile of 32, all halos"
    assert here[label.format("0")] == here["four nodes, tile of 32: all halos at 350 ns"]
    assert here[label.format("0.9")] < here[label.format("0")]
    # MPI takes 1000 + 51.2 ns and CXL 500 of an iteration of 4 µs.
    assert here["cg here, predicted: side of 8"] == pytest.approx(4000 / (4000 - 551.2))
    assert here["cg here, measured: side of 8"] == pytest.approx(0.8)
    assert here["cg here, measured: most that shared memory and messages differ"] == (
        pytest.approx(20)
    )
    assert here["cg here: prediction and measurement agree on which is better"] == 0
    # Four transfers of 1480 + 1000 ns as messages, 860 with CXL; 4 ranks of 100 µs, without loads.
    assert here["lammps: better as loads"] == 1
    assert here["lammps: what they gain"] == pytest.approx(100 * 1620 / 1e5)
    assert here["hpcc: what they gain, transfer only"] == pytest.approx(620 / 1e6)
    assert here["lammps: large: gain of CXL a message"] == pytest.approx(1620)
    assert here["lammps: small: gain of CXL a message"] < here["lammps: messages"] == 12
    shares = [value for what, value in here.items() if "'s cost" in what]
    assert len(shares) == 5 and all(0 < share < 100 for share in shares)
    assert set(found.pictures) == {
        "four-nodes", "one-node", "here", "stencil-breakdown", "cg-breakdown", "cg-here",
        "two-hosts",
    }  # fmt: skip
    assert all(row.why for row in found.rows if row.paper is not None and row.here != row.paper)


def test_each_halo_is_of_its_side() -> None:
    """Each of 4 tiles has a halo of each group, and its cells are loaded once per step."""
    launcher("openmpi")
    found = runs.heat(16, 3, 1)
    for content in found["sites"].values():
        of = runs.site_of(content)
        assert of.messages == (16 * 8.0,) * (4 * 3)
        assert len(of.samples) == 4 * 3 * 16
        assert of.loads_per_element == 1
    assert found["compute_ns"] > 16 * 16 / PAPER.lpf_bw
    gradient = runs.cg(4, 2, 1)
    for name, faces in (("site", 2), ("along_x", 1)):
        unpacked = runs.site_of(gradient[name])
        assert unpacked.unpack and unpacked.messages == (4 * 4 * 8.0,) * (2 * 4 * faces)


def test_the_shortest_steps_are_measured() -> None:
    launcher("openmpi")
    for group in runs.GROUPS:
        assert 1e-8 < runs.heat_alone(8, 3, group, group)["seconds"] < 60
    for mode in ("message", "shared"):
        assert 1e-8 < runs.cg_alone(4, 3, mode)["seconds"] < 60


@pytest.mark.parametrize("words", [("heat", "8", "45", "message"), ("cg", "4", "45", "message")])
def test_a_step_is_of_ten_in_a_row(words: tuple[str, ...], tmp_path: Path) -> None:
    """The shortest step is a mean of ten in a row: a single one, here of 1 second, may be short
    because a neighbouring step did its waiting.
    """
    mpirun, mpicc = launcher("openmpi"), compiler_beside(launcher("openmpi"))
    clock = tmp_path / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run([mpicc, "-shared", "-fPIC", "-o", str(clock), str(source)], check=True)
    command = [mpirun, "-n", "1", "-x", f"LD_PRELOAD={clock}", example(words[0], mpicc), *words[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    times = re.search(r"seconds (\S+) shortest (\S+)", done.stdout)
    assert times and (float(times[1]), float(times[2])) == (91.0, 2.0)


def test_points_by_turns() -> None:
    alone = [p for p in STUDY.points(False, 1) if p["run"] == "alone"]
    assert [p["mode"] for p in alone[:4]] == ["message", "ns", "message", "we"]
