# SPDX-License-Identifier: Apache-2.0
"""Memstrata's dry run in a guest, against the expander with flat memory mode: what it would
exchange, and which pages, is what the simulator's allocator does with the golden model's misses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from anemone.cosim import Guest, Server, Tools, build_anemonectl, build_module, guest_python, rows
from anemone.hardware.geometry import Geometry
from anemone.memstrata.colouring import Layout
from anemone.memstrata.files import counters
from anemone.memstrata.loop import Host, Judged, Reading
from anemone.memstrata.outliers import METRICS
from anemone.memstrata.perf import Measured
from tests.cosim.test_flat import PAGE, RATIO, RULES, Model, set_up, traffic

PROGRAM = Path(__file__).parent / "guest" / "memstrata_dry_run.py"
# Regions of the rule are pages: by turns of a page's number, outliers by interval.
REGIONS = {"calm": (0, 99), "slow": (100, 199), "late": (200, 299)}
OUTLIERS = ({"slow"}, {"slow", "late"}, {"slow", "late"})
SIZE, DEDICATED, METRIC = 100, 30, dict.fromkeys(METRICS, 5.0)


@pytest.fixture
def server(tools: Tools) -> Iterator[Server]:
    with Server(Geometry(pipelines=2), ratio=RATIO) as running:
        yield running


def plan(misses: list[Counter[int]]) -> list[list[tuple[str, str, int]]]:
    """By the loop of the simulator."""
    said: set[str] = set()

    def judge(readings: dict[str, Reading]) -> dict[str, Judged]:
        return {n: Judged(n in said, r.misses) for n, r in readings.items()}

    colours = len(REGIONS) * -(-(SIZE - DEDICATED) // (RATIO + 1))
    host = Host(Layout(colours, RATIO, len(REGIONS) * DEDICATED, 2 << 20), 0.3, judge)
    for name in REGIONS:
        host.launch(name, SIZE)
    found = []
    for by_page, now in zip(misses, OUTLIERS, strict=True):
        said.clear()
        said.update(now)
        of = {n: sum(by_page[p] for p in range(a, b + 1)) for n, (a, b) in REGIONS.items()}
        moved = host.round({n: Reading(METRIC, 5000.0, float(of[n])) for n in REGIONS})
        found.append([(m.donor, m.borrower, m.exchange.pages) for m in moved])
    return found


def worst(by_page: Counter[int], name: str, skipped: int, pages: int) -> list[int]:
    """The machine's pages that miss most, but for those that others of the round have."""
    first, last = REGIONS[name]
    order = sorted(
        (p for p in range(first, last + 1) if by_page[p]), key=lambda p: (-by_page[p], p)
    )
    return order[skipped : skipped + pages]


def test_a_dry_run(server: Server, tools: Tools) -> None:
    random, model, misses = np.random.default_rng(21), Model(), []

    def access(_: str) -> None:
        addresses, writes = traffic(random)
        server.inject(rows(addresses, writes))
        misses.append(model.play(addresses, writes))

    known = [
        {name: Measured(METRIC, 1e6, None, name in now) for name in REGIONS} for now in OUTLIERS
    ]
    host = f'ratio = {RATIO}\ntelemetry = "misses"\n' + "".join(
        f'[[vm]]\nname = "{name}"\ncores = "{i}"\npages = {SIZE}\ndedicated = {DEDICATED}\n'
        f'regions = "{first}-{last}"\n'
        for i, (name, (first, last)) in enumerate(REGIONS.items())
    )
    assert PAGE == 1 << 12
    with Guest(
        server, modules=[build_module(tools)], programs=[build_anemonectl()], memory=1024,
        files={
            "/rules.toml": RULES, "/host.toml": host, "/counters.json": json.dumps(counters(known)),
            **guest_python(PROGRAM),
        },
    ) as guest:  # fmt: skip
        guest.answers["trace"] = access
        set_up(guest)
        said = guest.run("memstrata_dry_run /host.toml /counters.json 'ask trace'", timeout=1200)
        guest.run("anemonectl rm misses && until rmmod anemone; do sleep 0.1; done")
        guest.kernel_log()
    there = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    here = plan(misses)
    assert len(misses) == len(OUTLIERS) and any(here)
    assert [[(e["from"], e["to"], e["pages"]) for e in r["exchanges"]] for r in there] == here
    for by_page, said_there in zip(misses, there, strict=True):
        taken: Counter[str] = Counter()
        for each in said_there["exchanges"]:
            borrower, pages = each["to"], each["pages"]
            assert each["regions"] == worst(by_page, borrower, taken[borrower], pages)
            taken[borrower] += pages
