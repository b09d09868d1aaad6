# SPDX-License-Identifier: Apache-2.0
"""Flat memory mode through the driver: sysfs starts it, its counters equal the golden model's, and
a rule for misses counts them by page, also after a change of policy and after a reset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
import pytest

from anemone.cosim import Guest, Server, Tools, build_anemonectl, build_module, rows
from anemone.flat.config import FlatConfig
from anemone.flat.result import MISS, SWAP
from anemone.golden.flat import FlatMemory
from anemone.hardware.geometry import LINE_BYTES, Geometry
from tests.cosim.conftest import DEVICE
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


class Model:
    """The golden model of each channel."""

    def __init__(self) -> None:
        dedicated = (DEDICATED[0] // CHANNELS, DEDICATED[1] // CHANNELS)
        config = FlatConfig(NEAR_LINES, RATIO, dedicated)
        self.channels = [FlatMemory(config) for _ in range(CHANNELS)]

    def play(self, addresses: np.ndarray, writes: np.ndarray) -> Counter[int]:
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


def test_flat_memory_mode(server: Server, tools: Tools) -> None:
    random, model = np.random.default_rng(11), Model()

    def play() -> Counter[int]:
        addresses, writes = traffic(random)
        server.inject(rows(addresses, writes))
        return model.play(addresses, writes)

    with Guest(
        server, modules=[build_module(tools)], programs=[build_anemonectl()],
        files={"/rules.toml": RULES},
    ) as guest:  # fmt: skip
        set_up(guest)
        by_page = play()
        assert (misses(guest), counted(guest)) == (by_page, model.counts())
        # Another policy while it runs.
        for c, memory in enumerate(model.channels):
            guest.run(f"echo nth 2 >{SYSFS}/flat{c}/policy && grep 'nth 2' {SYSFS}/flat{c}/policy")
            memory.set_policy("nth", 2)
        by_page = play()
        assert (misses(guest), counted(guest)) == (by_page, model.counts())
        # Lines stay where they are, and the driver restores the settings; counts are lost.
        guest.run(
            f"echo 1 >{DEVICE}/reset && [ $(cat {SYSFS}/flat?/mode | grep -c ready) = {CHANNELS} ]"
        )
        before = model.counts()
        by_page = play()
        since = [
            {name: now[name] - then[name] for name in now}
            for now, then in zip(model.counts(), before, strict=True)
        ]
        assert (misses(guest), counted(guest)) == (by_page, since)
        guest.run("anemonectl rm misses && until rmmod anemone; do sleep 0.1; done")
        guest.kernel_log()


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

        def told() -> list[str]:
            return guest.run(f"cat {folder}/untrusted_set {folder}/mode").splitlines()

        def untrusted() -> int:
            return int(guest.run(f"cat {folder}/untrusted"))

        assert (told(), untrusted()) == (["", "ready"], 0)
        server.command(f"fault sideband {accesses[0]}")
        server.inject(rows(accesses))
        assert told() == [f"{set_index:#x}", "ready"]
        assert untrusted()
        assert not guest.run(f"cat {SYSFS}/flat0/untrusted_set").strip()
        guest.run(f"echo rearm >{folder}/untrusted_set")
        assert told() == ["", "ready"]
        server.inject(rows(accesses[:1]))
        assert told() == [f"{set_index:#x}", "ready"]
        guest.run(f"if echo give up >{folder}/untrusted_set; then exit 1; fi")
        guest.run(f"echo repair >{folder}/untrusted_set")
        guest.run(f"until grep ready {folder}/mode; do :; done")
        assert told() == ["", "ready"]
        before = untrusted()
        server.inject(rows(accesses, 1))
        server.inject(rows(accesses))
        assert (told(), untrusted()) == (["", "ready"], before)
        guest.run("anemonectl rm misses && until rmmod anemone; do sleep 0.1; done")
        guest.kernel_log()
