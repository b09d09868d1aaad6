# SPDX-License-Identifier: Apache-2.0
"""The parameters of this machine: MPI by our ping-pong, memory and caches by memo; what cannot be
measured is the paper's and says so.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anemone.io.errors import Bare, InputError
from anemone.memo.results import Rows, read
from anemone.models.msgfree.parameters import PAPER
from anemone.models.msgfree.tracer import ROOT, compiler_beside, example

NODES = Path("/sys/devices/system/node")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_SECONDS = "0.1"  # of a bandwidth
_OUTPUT = re.compile(r"^latency_ns ([0-9.]+) gb_per_s ([0-9.]+)$", re.MULTILINE)

Found = dict[str, tuple[float, str]]  # name -> value, and how it was measured


def ping_pong(launcher: Sequence[str], mpicc: str | None) -> Found:
    """MPI's latency and bandwidth between the first and the last rank of a launcher's words."""
    program = example("pingpong", mpicc or compiler_beside(launcher[0]))
    found = _OUTPUT.search(_run([*launcher, program]))
    if found is None:
        raise InputError(launcher[0], "ping-pong", "output", Bare("without a latency"),
                         "2 ranks or more: mpirun -n 2")  # fmt: skip
    return {
        "mpi_lat": (float(found[1]), "ping-pong of 8 bytes"),
        "mpi_bw": (float(found[2]), "16 messages at a time, the best size"),
    }


def memory(node: int | None, caches: Path = CACHES, nodes: Path = NODES) -> Found:
    """Memory and caches by memo. node: of CXL or remote memory; where None, one without processors,
    if there is one. Raises InputError where it has no memory.
    """
    local = local_node(nodes)
    there = _numbers(nodes / "has_memory")
    if node is None:
        node = next(iter(set(there) - set(_numbers(nodes / "has_cpu"))), None)
    elif there and node not in there:  # memo would say so, but only after the local node
        allowed = f"a node with memory: {', '.join(map(str, there))}"
        raise InputError("command line", "params", "--node", node, allowed)
    all_of = ("-t", "chase,bandwidth", "-r", "1:0", "-n", str(local))
    found = of_memory(memo(*all_of, "-j", str(len(os.sched_getaffinity(0)))))
    sizes = cache_bytes(caches)
    for level, name in ((1, "peak_l1_gb_per_s"), (2, "peak_l2_gb_per_s")):
        if level in sizes:
            half = sizes[level] // 2
            rows = memo("-t", "bandwidth", "-r", "1:0", "-n", str(local), "-j", "1", "-b",
                        str(half))  # fmt: skip
            found[name] = (_best(rows), f"memo, one thread through {half >> 10} KiB")
    if node is not None:
        rows = memo("-t", "chase", "-n", str(node))
        found |= of_node(rows, node, atomic_ns(node, _largest(rows)["bytes"]))
    return found


def local_node(nodes: Path = NODES) -> int:
    """The first with processors."""
    return (_numbers(nodes / "has_cpu") or [0])[0]


def of_memory(rows: Rows) -> Found:
    """Latency and bandwidth of this host's own memory."""
    last = _largest(rows)
    return {
        "mem_lat": (last["ns"], f"memo, chase through {last['bytes'] >> 20} MiB"),
        "peak_mem_gb_per_s": (_best(rows), "memo, all processors read"),
    }


def of_node(rows: Rows, node: int, atomic: float) -> Found:
    """Latency of the memory that stands for CXL, of a load and of an atomic operation."""
    return {
        "cxl_lat": (_largest(rows)["ns"], f"memo, chase on node {node}"),
        "cxl_atomic_lat": (atomic, f"chase by atomic additions on node {node}"),
    }


def atomic_ns(node: int, size: int) -> float:
    """Of atomic operations that wait for each other, through so many bytes of a node's memory."""
    folder = ROOT / "build" / "memo"
    _run(["make", "-s", "-C", str(ROOT / "sim" / "memo"), f"BUILD={folder}", "atomic"])
    return float(_run([str(folder / "atomic-chase"), str(node), str(size)]))


def _largest(rows: Rows) -> dict[str, Any]:
    return max(rows["chase"], key=lambda row: row["bytes"])


def _best(rows: Rows) -> float:
    return max(row["gb_per_s"] for row in rows["bandwidth"] if row["order"] == "sequential")


def memo(*options: str) -> Rows:
    """Rows of memo, which is built if need be. Its warnings go to standard error."""
    folder = ROOT / "build" / "memo"
    _run(["make", "-s", "-C", str(ROOT / "sim" / "memo"), f"BUILD={folder}"])
    output = _run([str(folder / "memo"), "--json", "-s", _SECONDS, *options])
    with tempfile.TemporaryDirectory(prefix="anemone-memo-") as temporary:
        path = Path(temporary, "memo.json")
        path.write_text(output, encoding="utf-8")
        return read(path)


def cache_bytes(caches: Path) -> dict[int, int]:
    """Sizes of the first processor's data caches, by level."""
    found = {}
    for index in sorted(caches.glob("index*")):
        level, kind, size = ((index / n).read_text().strip() for n in ("level", "type", "size"))
        if kind != "Instruction" and (number := re.fullmatch(r"(\d+)K", size)):
            found[int(level)] = int(number[1]) << 10
    return found


def _numbers(path: Path) -> list[int]:
    """A list as sysfs prints it: 0-1,4."""
    found: list[int] = []
    for part in path.read_text().strip().split(",") if path.exists() else []:
        first, _, last = part.partition("-")
        if first:
            found += range(int(first), int(last or first) + 1)
    return found


def text(found: Mapping[str, tuple[float, str]], host: str) -> str:
    """PARAMS.toml: each line of the paper's, its value replaced where there is one of here."""
    about = f"# Of {host}; ns and GB/s. What is the paper's (message-free-cxl, V-B) says so."
    lines = ["# SPDX-License-Identifier: Apache-2.0", about]
    for line in PAPER.read_text(encoding="utf-8").splitlines():
        setting, _, comment = line.partition("#")
        name, _, value = (part.strip() for part in setting.partition("="))
        if not name:
            continue
        if name in found:
            number, how = found[name]
            lines.append(f"{name} = {number:g}  # here: {how}")
        else:
            words = f"paper: {comment.strip()}" if comment.strip() else "paper"
            lines.append(f"{name} = {value}  # {words}")
    return "\n".join(lines) + "\n"


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as e:
        raise InputError(command[0], "measuring", "command", Bare(str(e)), "one that runs") from e
    if done.returncode:
        raise InputError(command[0], "measuring", "exit code", done.returncode, "0; see above")
    return done.stdout
