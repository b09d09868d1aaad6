# SPDX-License-Identifier: Apache-2.0
"""anemonectl in the guest: a rule file added, keys mapped, counters read, and removed again."""

from __future__ import annotations

import json

import numpy as np

from anemone.cosim import Guest, Server, Tools, build_anemonectl, build_module, rows
from tests.cosim.conftest import HUGE

RULES = """
[[rule]]
name = "skew"
type = "RW"
range = [0x0, 0x4_0000_0000]
primary = { mask = "0xFFFFFFFFFFFFFFFF", shift = 21 }
sub = { mask = 0x1FF000, shift = 12 }
update = { op = "add", operand = 1 }
width = 64
read_effect = { op = "reset", value = 0 }
map = [[7, 0], [9, 512]]
"""


def test_from_a_rule_file_to_counters(server: Server, tools: Tools) -> None:
    random = np.random.default_rng(5)
    pages = random.choice([7, 8, 9, 11], 20_000)
    offsets = random.zipf(1.3, 20_000) % 512
    accesses = rows(pages * HUGE + offsets * 4096, random.integers(0, 2, 20_000))
    with Guest(
        server, modules=[build_module(tools)], programs=[build_anemonectl()],
        files={"/rules.toml": RULES}, answers={"trace": lambda _: server.inject(accesses)},
    ) as guest:  # fmt: skip
        guest.run("mkdir -p /run && insmod /mod/anemone.ko")
        (device,) = json.loads(guest.run("anemonectl list --json"))
        guest.run("anemonectl add -f /rules.toml && anemonectl map skew 11 1")
        refused = guest.run("anemonectl map skew 8 2 2>&1", check=False)
        guest.run("ask trace")
        status = json.loads(guest.run("anemonectl status skew --json"))
        read = json.loads(guest.run("anemonectl read skew --json"))
        again = json.loads(guest.run("anemonectl read skew --json"))
        (listed,) = json.loads(guest.run("anemonectl list --json"))
        guest.run("anemonectl rm skew && ! anemonectl read skew 2>/dev/null")
        guest.run("for i in 1 2 3 4 5; do rmmod anemone && exit; sleep 1; done; exit 1")
        guest.kernel_log()
    assert (device["pci"], device["pipelines"], device["states"]) == ("0000:01:00.0", 8, 8192)
    assert (device["host_base"], device["host_size"]) == (0x40_8000_0000, 16 << 30)
    assert "allowed: " in refused
    assert [telemetry["name"] for telemetry in listed["telemetries"]] == ["skew"]
    mapped = pages != 8
    assert (status["matched"], status["unmapped"]) == (mapped.sum(), (~mapped).sum())
    index = (pages[mapped] != 7) * 512 + offsets[mapped]
    counted = {c["region"] * 512 + c["offset"]: c["value"] for c in read["counters"]}
    assert counted == dict(zip(*np.unique(index, return_counts=True), strict=True))
    assert again["counters"] == []
