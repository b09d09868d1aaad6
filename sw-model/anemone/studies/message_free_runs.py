# SPDX-License-Identifier: Apache-2.0
"""What message-free's study runs: our two programs under Open MPI, traced with the model's loads,
and both as they are, by messages and by shared memory; and two programs that are not ours, traced.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from os import environ
from pathlib import Path
from typing import Any

from anemone.io.errors import MISSING, InputError
from anemone.models.msgfree.folder import Rank, read_folder
from anemone.models.msgfree.loads import Loads, read_loads
from anemone.models.msgfree.modelled import Modelled
from anemone.models.msgfree.parameters import read_parameters
from anemone.models.msgfree.places import Place
from anemone.models.msgfree.predict import model_site, predict
from anemone.models.msgfree.tracer import compiler_beside, example, record
from anemone.studies.message_free_others import prepare

RANKS = 4  # a square of 2 by 2: each has one neighbour north or south, and one west or east
CORE = "clx"
GROUPS = ("ns", "we")
# tile, steps, loads a sample: fewer steps of large tiles, so that no run takes minutes.
MODELLED = ((32, 100, 10), (64, 60, 10), (128, 30, 10), (256, 10, 10), (512, 4, 10), (1024, 2, 20),
            (2048, 2, 40))  # fmt: skip
ALONE = ((32, 2000), (64, 2000), (128, 1000), (256, 400), (512, 200), (1024, 60),
         (2048, 20))  # tile, steps  # fmt: skip
GRADIENTS = ((8, 10, 10), (16, 10, 10), (32, 4, 10))  # side, iterations, loads a sample
GRADIENTS_ALONE = ((8, 1000), (16, 500), (32, 100))  # side, iterations
LAMMPS_STEPS = 20
# Program, loads a sample. In the model HPCC, whose tests last by the clock, takes far longer.
OTHERS: tuple[tuple[str, int | None], ...] = (("lammps", 100), ("hpcc", None))
TURNS = 9  # on a virtual machine whole runs are slower than others
_ATOMIC_BYTES = 256 << 20  # past any cache
# More ranks than processors, root, no right to read another process's memory: any machine.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_plm_rsh_agent": "false",
    "HWLOC_COMPONENTS": "-gl",
}
# Two ranks that do not give way while they wait.
_SPINNING = {**OPEN_MPI, "OMPI_MCA_mpi_yield_when_idle": "0"}
_OUTPUT = re.compile(r"shortest ([0-9.]+)")


def launcher() -> str:
    """Open MPI's. Raises InputError where it is missing."""
    found = shutil.which("mpirun.openmpi")
    if found is None:
        raise InputError("study", "commands", "mpirun.openmpi", MISSING,
                         "openmpi-bin and libopenmpi-dev (make setup)")  # fmt: skip
    return found


@contextmanager
def _settings(values: Mapping[str, str] = OPEN_MPI) -> Iterator[None]:
    before = {name: environ.get(name) for name in values}
    environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del environ[name]
            else:
                environ[name] = value


def _recorded(words: Sequence[str], period: int) -> tuple[list[Rank], Loads]:
    program = example(words[0], compiler_beside(launcher()))
    with tempfile.TemporaryDirectory(prefix="anemone-study-") as aside:
        ranks, loads = _run([program, *words[1:]], Path(aside), period)
        assert loads is not None
        return ranks, loads


def _run(words: Sequence[str], aside: Path, period: int | None) -> tuple[list[Rank], Loads | None]:
    """What is recorded of a program's ranks, which run in this folder. period None: no loads."""
    out = aside / "run"
    with _settings():
        code = record([launcher(), "-n", str(RANKS), "-wdir", str(aside), *words], out, None,
                      Modelled(CORE, period) if period else None)  # fmt: skip
    if code:
        raise InputError("study", Path(words[0]).name, "exit code", code, "0")
    return read_folder(out), read_loads(out)


def heat(tile: int, steps: int, period: int) -> dict[str, Any]:
    """Sites as `evaluate` takes them, of the halos north and south, and of those west and east.

    compute_ns: of a rank and step. The halo's side is in the message's tag: the sender's.
    """
    ranks, loads = _recorded(["heat", str(tile), str(steps), "message"], period)
    sites = {}
    for number, group in enumerate(GROUPS):
        some = [replace(r, records=r.records[r.records["tag"] // 2 == number]) for r in ranks]
        sites[group] = _site(some, loads)
    return {"sites": sites, "compute_ns": loads.compute_ns / (steps - 1)}


def cg(side: int, iterations: int, period: int) -> dict[str, Any]:
    """The one call site; its data are unpacked, as it receives into the tail of a vector.

    along_x: the same of the faces that two ranks exchange.
    """
    ranks, loads = _recorded(["cg", str(side), str(iterations)], period)
    along_x = [replace(r, records=r.records[r.records["tag"] < 2]) for r in ranks]
    found = {n: {**_site(r, loads), "unpack": True} for n, r in
             (("site", ranks), ("along_x", along_x))}  # fmt: skip
    return {**found, "compute_ns": loads.compute_ns / max(1, iterations - 1)}


def other(name: str, period: int | None) -> dict[str, Any]:
    """The call sites of a program that is not ours, each as `evaluate` takes it and by its name.
    compute_ns: None without loads.
    """
    with tempfile.TemporaryDirectory(prefix="anemone-study-") as aside:
        ranks, loads = _run(prepare(name, Path(aside), RANKS, LAMMPS_STEPS), Path(aside), period)
        sites = predict(ranks, read_parameters(), loads=loads)
    return {
        "sites": [
            {"of": _name(site.place), "site": asdict(model_site(site, loads))}
            for site in sites
            if site.messages
        ],
        "collectives": sum(sum(rank.collectives.values()) for rank in ranks),
        "compute_ns": loads.compute_ns if loads else None,
    }


def _name(place: Place) -> str:
    return str(place) if place.function == "??" else f"{place.function} ({place})"


def _site(ranks: Sequence[Rank], loads: Loads) -> dict[str, Any]:
    (site,) = predict(ranks, read_parameters(), loads=loads)
    return asdict(model_site(site, loads))


def heat_alone(tile: int, steps: int, mode: str, group: str) -> dict[str, float]:
    """Seconds of a step of a run as it is, of two tiles one above the other (ns) or side by side
    (we): of the shortest ten in a row, which other work on the machine disturbs least.
    """
    rows = {"ns": "2", "we": "1"}[group]
    return _shortest("heat", str(tile), str(steps), mode, rows)


def cg_alone(side: int, iterations: int, mode: str) -> dict[str, float]:
    """Seconds of an iteration, in the same way, of two cuboids side by side."""
    return _shortest("cg", str(side), str(iterations), mode)


def _shortest(name: str, *words: str) -> dict[str, float]:
    mpirun = launcher()
    command = [mpirun, "-n", "2", example(name, compiler_beside(mpirun)), *words]
    with _settings(_SPINNING):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    match = _OUTPUT.search(done.stdout)
    if done.returncode or match is None:
        raise InputError("study", name, "exit code", done.returncode, "0, and its seconds")
    return {"seconds": float(match[1])}


def parameters_here() -> dict[str, float]:
    """Of this machine, whose shared memory stands for CXL memory."""
    from anemone.models.msgfree import measure

    with _settings(_SPINNING):
        found = measure.ping_pong([launcher(), "-n", "2"], None) | measure.memory(None)
    values = {name: value for name, (value, _) in found.items()}
    atomic = measure.atomic_ns(measure.local_node(), _ATOMIC_BYTES)
    return {**values, "cxl_lat": values["mem_lat"], "cxl_atomic_lat": atomic}


def site_of(content: dict[str, Any]) -> Any:
    """What `_site` made of a Site, again."""
    from anemone.models.msgfree.site import Metrics, Site

    samples = tuple((float(latency), source) for latency, source in content["samples"])
    return Site(
        tuple(content["messages"]), samples, content["rate"], content["loads_per_element"],
        content["element_bytes"], content["unpack"], Metrics(**content["metrics"]),
    )  # fmt: skip
