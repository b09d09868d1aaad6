# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode through the driver: sysfs starts it, its counters equal the golden model's, and
a rule for misses counts them by page, also after a change of policy and after a reset. Memstrata's
loop plans exchanges by these misses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np
import pytest

from anemone.cosim import Guest, Server, Tools, build_anemonectl, build_module, guest_python, rows
from anemone.flat.config import FlatConfig
from anemone.flat.result import MISS, SWAP
from anemone.golden.flat import FlatMemory
from anemone.hardware.geometry import LINE_BYTES, Geometry
from anemone.memstrata.colouring import Layout
from anemone.memstrata.files import counters
from anemone.memstrata.loop import Host, Judged, Reading
from anemone.memstrata.outliers import METRICS
from anemone.memstrata.perf import Measured
from tests.cosim.conftest import DEVICE, PROGRAMS
from tests.cosim.test_anemonectl import object_of

RATIO, NEAR_LINES, CHANNELS, PAGE = 2, 4096, 2, 1 << 12
FLAT_BYTES = (RATIO + 1) * NEAR_LINES * CHANNELS * LINE_BYTES
DEDICATED = (FLAT_BYTES + 5 * PAGE, FLAT_BYTES + 9 * PAGE)
DATA = bytes(LINE_BYTES)  # what is written does not matter here
SYSFS = "/sys/class/misc/anemone0/device"
N = 30_000
RULES = f"""
[[rule]]
name = "misses"
type = "RW"
near = "miss"
range = [0x0, {DEDICATED[1]:#x}]
primary = {{ mask = "0xFFFFFFFFFFFFFFFF", shift = 12 }}
update = {{ op = "add", operand = 1 }}
read_effect = {{ op = "reset", value = 0 }}
map = "identity"
"""
# Memstrata's machines, whose pages are regions of the rule: first and last; outliers by interval.
MACHINES = {"calm": (0, 99), "slow": (100, 199), "late": (200, 299)}
OUTLIERS = ({"slow"}, {"slow", "late"}, {"slow", "late"})
SIZE, DEDICATED_PAGES = 100, 30
METRIC = dict.fromkeys(METRICS, 5.0)
HOST = f'ratio = {RATIO}\ntelemetry = "misses"\n' + "".join(
    f'[[vm]]\nname = "{name}"\ncores = "{i}"\npages = {SIZE}\ndedicated = {DEDICATED_PAGES}\n'
    f'regions = "{first}-{last}"\n'
    for i, (name, (first, last)) in enumerate(MACHINES.items())
)


class Model:
    """The golden model of each channel."""

    def __init__(self) -> None:
        dedicated = (DEDICATED[0] // CHANNELS, DEDICATED[1] // CHANNELS)
        config = FlatConfig(NEAR_LINES, RATIO, dedicated)
        self.channels = [FlatMemory(config) for _ in range(CHANNELS)]

    def run_traffic(self, addresses: np.ndarray, writes: np.ndarray) -> Counter[int]:
        """Misses by page."""
        misses: Counter[int] = Counter()
        for address, write in zip(addresses.tolist(), writes.tolist(), strict=True):
            line, c = divmod(address // LINE_BYTES, CHANNELS)
            memory = self.channels[c]
            memory.write(line, DATA) if write else memory.read(line)
            misses[address // PAGE] += memory.outcome in (MISS, SWAP)
        return +misses

    def counts(self) -> list[dict[str, int]]:
        return [asdict(memory.counts) for memory in self.channels]


def traffic(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Half of the accesses go to a few pages, some to dedicated memory. A set is either read or
    written, because AXI does not order a read and a write in flight."""
    pages = random.integers(0, FLAT_BYTES // PAGE, N)
    hot = random.random(N) < 0.5
    pages[hot] = random.integers(0, 40, hot.sum()) * 7
    kept = random.random(N) < 0.05
    pages[kept] = DEDICATED[0] // PAGE + random.integers(0, 4, kept.sum())
    addresses = pages * PAGE + random.integers(0, PAGE, N)
    return addresses, addresses // (LINE_BYTES * CHANNELS) % NEAR_LINES % 5 < 2


def counted(guest: Guest) -> list[dict[str, int]]:
    """Counters in sysfs, by channel."""
    names = list(asdict(FlatMemory(FlatConfig(1)).counts))
    files = " ".join(f"{SYSFS}/flat{c}/{name}" for c in range(CHANNELS) for name in names)
    values = map(int, guest.run(f"cat {files}").split())
    return [{name: next(values) for name in names} for _ in range(CHANNELS)]


def misses(guest: Guest) -> dict[int, int]:
    """Misses since the last read of the rule, by page."""
    seen = object_of(guest.run("anemonectl read misses --json"), '{"name": "misses"')
    return {one["region"]: one["value"] for one in seen["counters"]}


@pytest.fixture
def server(tools: Tools) -> Iterator[Server]:
    with Server(Geometry(pipelines=2), ratio=RATIO) as running:
        yield running


@dataclass
class Running:
    """A guest whose flat memory runs, and the golden model that has been asked for the same."""

    server: Server
    guest: Guest
    random: np.random.Generator
    model: Model = field(default_factory=Model)

    def run_traffic(self) -> Counter[int]:
        addresses, writes = traffic(self.random)
        self.server.inject(rows(addresses, writes))
        return self.model.run_traffic(addresses, writes)


@pytest.fixture(scope="module")
def running(tools: Tools) -> Iterator[Running]:
    """Of all tests of this file that leave the memory as the golden model says."""
    recorded = [{n: Measured(METRIC, 1e6, None, n in now) for n in MACHINES} for now in OUTLIERS]
    files = {
        "/rules.toml": RULES, "/host.toml": HOST, "/counters.json": json.dumps(counters(recorded)),
        # Traffic of an interval, before its misses are read.
        "/traffic/anemonectl": '#!/bin/sh\nask traffic >/dev/null && exec /bin/anemonectl "$@"\n',
        **guest_python(PROGRAMS / "memstrata.py"),
    }  # fmt: skip
    with (
        Server(Geometry(pipelines=2), ratio=RATIO) as server,
        Guest(
            server, modules=[build_module(tools)], programs=[build_anemonectl()], files=files,
            memory=1024,
        ) as guest,
    ):  # fmt: skip
        set_up(guest)
        yield Running(server, guest, np.random.default_rng(11))
        guest.run("anemonectl rm misses && until rmmod anemone; do sleep 0.1; done")
        guest.kernel_log()


def set_up(guest: Guest) -> None:
    guest.run("insmod /mod/anemone.ko merged=1 && mkdir -p /run")
    for c in range(CHANNELS):
        guest.run(f"""
            set -e
            cd {SYSFS}/flat{c}
            grep stopped mode
            echo {NEAR_LINES} >near_lines
            echo {DEDICATED[0]:#x} {DEDICATED[1]:#x} >dedicated
            echo every >policy
            echo start >mode
            until grep ready mode; do :; done
            if echo {2 * NEAR_LINES} >near_lines; then exit 1; fi # not while it runs
        """)
    guest.run("anemonectl add -f /rules.toml")


def test_flat_memory_mode(running: Running) -> None:
    guest, model = running.guest, running.model
    by_page = running.run_traffic()
    assert (misses(guest), counted(guest)) == (by_page, model.counts())
    # Another policy while it runs.
    for c, memory in enumerate(model.channels):
        guest.run(f"echo nth 2 >{SYSFS}/flat{c}/policy && grep 'nth 2' {SYSFS}/flat{c}/policy")
        memory.set_policy("nth", 2)
    by_page = running.run_traffic()
    assert (misses(guest), counted(guest)) == (by_page, model.counts())
    # Lines stay where they are, and the driver restores the settings; counts are lost.
    guest.run(
        f"echo 1 >{DEVICE}/reset && [ $(cat {SYSFS}/flat?/mode | grep -c ready) = {CHANNELS} ]"
    )
    before = model.counts()
    by_page = running.run_traffic()
    since = [
        {name: now[name] - then[name] for name in now}
        for now, then in zip(model.counts(), before, strict=True)
    ]
    assert (misses(guest), counted(guest)) == (by_page, since)


def planned(by_interval: list[Counter[int]]) -> list[list[tuple[str, str, int]]]:
    """Exchanges by the loop of the simulator."""
    outliers: set[str] = set()

    def judge(readings: dict[str, Reading]) -> dict[str, Judged]:
        return {n: Judged(n in outliers, r.misses) for n, r in readings.items()}

    colours = len(MACHINES) * -(-(SIZE - DEDICATED_PAGES) // (RATIO + 1))
    host = Host(
        Layout(colours, RATIO, len(MACHINES) * DEDICATED_PAGES, 2 << 20),
        DEDICATED_PAGES / SIZE,
        judge,
    )
    for name in MACHINES:
        host.launch(name, SIZE)
    found = []
    for by_page, now in zip(by_interval, OUTLIERS, strict=True):
        outliers.clear()
        outliers.update(now)
        of = {n: sum(by_page[p] for p in range(a, b + 1)) for n, (a, b) in MACHINES.items()}
        moved = host.round({n: Reading(METRIC, 5000.0, float(of[n])) for n in MACHINES})
        found.append([(m.donor, m.borrower, m.exchange.pages) for m in moved])
    return found


def worst(by_page: Counter[int], name: str, skipped: int, pages: int) -> list[int]:
    """The machine's pages that miss most, but for those that others of the round have."""
    first, last = MACHINES[name]
    order = sorted(
        (p for p in range(first, last + 1) if by_page[p]), key=lambda p: (-by_page[p], p)
    )
    return order[skipped : skipped + pages]


def test_what_memstrata_would_exchange(running: Running) -> None:
    """Of counters as recorded, as the guest has no PMU, and the device's misses: the simulator's
    plan with the golden model's, and of each machine the pages that miss most."""
    seen: list[Counter[int]] = []
    running.guest.answers["traffic"] = lambda _: seen.append(running.run_traffic())
    output = running.guest.run(
        "PATH=/traffic:$PATH memstrata run --dry-run --json --host /host.toml "
        "--counters /counters.json",
        timeout=1200,
    )
    there = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    del seen[0]  # before the first interval
    assert len(seen) == len(OUTLIERS)
    here = planned(seen)
    assert all(here)
    assert [[(e["from"], e["to"], e["pages"]) for e in r["exchanges"]] for r in there] == here
    for by_page, report in zip(seen, there, strict=True):
        taken: Counter[str] = Counter()
        for each in report["exchanges"]:
            borrower, pages = each["to"], each["pages"]
            assert each["regions"] == worst(by_page, borrower, taken[borrower], pages)
            taken[borrower] += pages


def test_an_untrusted_set_is_told_and_repaired(server: Server, tools: Tools) -> None:
    """sysfs shows its number, on its channel only, until it is rearmed or repaired; then its lines
    can be used again."""
    set_index, c = 0x123, 1
    folder = f"{SYSFS}/flat{c}"
    lines = [(set_index + slot * NEAR_LINES) * CHANNELS + c for slot in range(RATIO + 1)]
    accesses = np.array(lines) * LINE_BYTES

    with Guest(
        server, modules=[build_module(tools)], programs=[build_anemonectl()],
        files={"/rules.toml": RULES},
    ) as guest:  # fmt: skip
        set_up(guest)

        def status() -> list[str]:
            return guest.run(f"cat {folder}/untrusted_set {folder}/mode").splitlines()

        def untrusted() -> int:
            return int(guest.run(f"cat {folder}/untrusted"))

        assert (status(), untrusted()) == (["", "ready"], 0)
        server.command(f"fault sideband {accesses[0]}")
        server.inject(rows(accesses))
        assert status() == [f"{set_index:#x}", "ready"]
        assert untrusted()
        assert not guest.run(f"cat {SYSFS}/flat0/untrusted_set").strip()
        guest.run(f"echo rearm >{folder}/untrusted_set")
        assert status() == ["", "ready"]
        server.inject(rows(accesses[:1]))
        assert status() == [f"{set_index:#x}", "ready"]
        guest.run(f"if echo give up >{folder}/untrusted_set; then exit 1; fi")
        guest.run(f"echo repair >{folder}/untrusted_set")
        guest.run(f"until grep ready {folder}/mode; do :; done")
        assert status() == ["", "ready"]
        before = untrusted()
        server.inject(rows(accesses, 1))
        server.inject(rows(accesses))
        assert (status(), untrusted()) == (["", "ready"], before)
        guest.run("anemonectl rm misses && until rmmod anemone; do sleep 0.1; done")
        guest.kernel_log()
