# SPDX-License-Identifier: Apache-2.0
"""The runs of the study of Message-free CXL, under Open MPI: two example programs, traced with the
model's loads, and untraced with messages and with shared memory; and two third-party programs.
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

RANKS = 4  # 2 by 2: each rank has one neighbour north or south, and one west or east
CORE = "clx"
GROUPS = ("ns", "we")
# tile, steps, loads per sample; large tiles make fewer steps, so that no run takes minutes.
MODELLED = ((32, 100, 10), (64, 60, 10), (128, 30, 10), (256, 10, 10), (512, 4, 10), (1024, 2, 20),
            (2048, 2, 40))  # fmt: skip
ALONE = ((32, 2000), (64, 2000), (128, 1000), (256, 400), (512, 200), (1024, 60),
         (2048, 20))  # tile, steps  # fmt: skip
GRADIENTS = ((8, 10, 10), (16, 10, 10), (32, 4, 10))  # side, iterations, loads per sample
GRADIENTS_ALONE = ((8, 1000), (16, 500), (32, 100))  # side, iterations
LAMMPS_STEPS = 20
# Program, loads per sample. HPCC's tests run for a fixed time, so in the model it takes too long.
OTHERS: tuple[tuple[str, int | None], ...] = (("lammps", 100), ("hpcc", None))
TURNS = 9  # because on a virtual machine whole runs differ
_ATOMIC_BYTES = 256 << 20  # larger than any cache
# For any machine: more ranks than processors, root, no access to other processes' memory.
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
# For two ranks that spin while they wait.
_SPINNING = {**OPEN_MPI, "OMPI_MCA_mpi_yield_when_idle": "0"}
_OUTPUT = re.compile(r"shortest ([0-9.]+)")


def launcher() -> str:
    """Open MPI's launcher. Raises InputError if it is missing."""
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
    with tempfile.TemporaryDirectory(prefix="anemone-study-") as temporary:
        ranks, loads = _run([program, *words[1:]], Path(temporary), period)
        assert loads is not None
        return ranks, loads


def _run(
    words: Sequence[str], temporary: Path, period: int | None
) -> tuple[list[Rank], Loads | None]:
    """Trace a program that runs in this folder. period: None for no loads."""
    out = temporary / "run"
    with _settings():
        code = record([launcher(), "-n", str(RANKS), "-wdir", str(temporary), *words], out, None,
                      Modelled(CORE, period) if period else None)  # fmt: skip
    if code:
        raise InputError("study", Path(words[0]).name, "exit code", code, "0")
    return read_folder(out), read_loads(out)


def heat(tile: int, steps: int, period: int) -> dict[str, Any]:
    """The call sites, in `evaluate`'s format, of the halos north and south, and of those west and
    east. compute_ns: time per rank and step. A message's tag has the sender's side of the halo.
    """
    ranks, loads = _recorded(["heat", str(tile), str(steps), "message"], period)
    sites = {}
    for number, group in enumerate(GROUPS):
        some = [replace(r, records=r.records[r.records["tag"] // 2 == number]) for r in ranks]
        sites[group] = _site(some, loads)
    return {"sites": sites, "compute_ns": loads.compute_ns / (steps - 1)}


def cg(side: int, iterations: int, period: int) -> dict[str, Any]:
    """The single call site; its data are unpacked, because it receives into the end of a vector.

    along_x: the same for the faces that two ranks exchange.
    """
    ranks, loads = _recorded(["cg", str(side), str(iterations)], period)
    along_x = [replace(r, records=r.records[r.records["tag"] < 2]) for r in ranks]
    found = {n: {**_site(r, loads), "unpack": True} for n, r in
             (("site", ranks), ("along_x", along_x))}  # fmt: skip
    return {**found, "compute_ns": loads.compute_ns / max(1, iterations - 1)}


def other(name: str, period: int | None) -> dict[str, Any]:
    """The call sites of a third-party program, by name and in `evaluate`'s format. compute_ns: None
    without loads.
    """
    with tempfile.TemporaryDirectory(prefix="anemone-study-") as temporary:
        ranks, loads = _run(
            prepare(name, Path(temporary), RANKS, LAMMPS_STEPS), Path(temporary), period
        )
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
    """Seconds per step of an untraced run with two tiles, one above the other (ns) or side by side
    (we). The fastest ten steps in a row count, because other work disturbs them least.
    """
    rows = {"ns": "2", "we": "1"}[group]
    return _shortest("heat", str(tile), str(steps), mode, rows)


def cg_alone(side: int, iterations: int, mode: str) -> dict[str, float]:
    """Seconds per iteration of two cuboids side by side, measured in the same way."""
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
    """Parameters of this machine, with its shared memory in place of CXL memory."""
    from anemone.models.msgfree import measure

    with _settings(_SPINNING):
        found = measure.ping_pong([launcher(), "-n", "2"], None) | measure.memory(None)
    values = {name: value for name, (value, _) in found.items()}
    atomic = measure.atomic_ns(measure.local_node(), _ATOMIC_BYTES)
    return {**values, "cxl_lat": values["mem_lat"], "cxl_atomic_lat": atomic}


def site_of(content: dict[str, Any]) -> Any:
    """The Site from the dictionary that `_site` made."""
    from anemone.models.msgfree.site import Metrics, Site

    samples = tuple((float(latency), source) for latency, source in content["samples"])
    return Site(
        tuple(content["messages"]), samples, content["rate"], content["loads_per_element"],
        content["element_bytes"], content["unpack"], Metrics(**content["metrics"]),
    )  # fmt: skip
