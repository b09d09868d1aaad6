# SPDX-License-Identifier: Apache-2.0
"""anemonectl on the driver, in a Linux guest, on the RTL: the documented rules, from a shell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from anemone.cosim import Guest, Server, Tools, build_anemonectl, build_module, rows
from tests.cosim.conftest import HUGE

ROOT = Path(__file__).resolve().parents[2]
N = 50_000


def counts(values: np.ndarray) -> dict[int, int]:
    """How often each value occurs."""
    found, times = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), times.tolist(), strict=True))


def object_of(output: str, begins: str) -> dict:
    """The line of JSON that begins so, among kernel messages."""
    (line,) = [line.strip() for line in output.splitlines() if line.startswith(begins)]
    return json.loads(line)


def test_a_session(tools: Tools, server: Server) -> None:
    text = (ROOT / "docs/rules.md").read_text(encoding="utf-8")
    (rules,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    random = np.random.default_rng(5)
    pages = random.choice([17, 18, 19, 500, 803, 804], N, p=[0.4, 0.1, 0.1, 0.2, 0.15, 0.05])
    addresses = pages * HUGE + random.integers(0, HUGE // 64, N) * 64
    with Guest(
        server, modules=[build_module(tools)], programs=[build_anemonectl()],
        files={"/rules.toml": rules},
    ) as guest:  # fmt: skip
        guest.answers["trace"] = lambda count: server.inject(rows(addresses[: int(count)]))
        guest.run("insmod /mod/anemone.ko merged=1; mkdir -p /run")
        output = guest.run("anemonectl list; anemonectl add -f /rules.toml; anemonectl list --json")
        assert "hotness, id 1, 1 pipeline, 8192 regions of 1 counter, 8192 keys mapped" in output
        listed = json.loads(next(line for line in output.splitlines() if line.startswith("[{")))
        assert listed[0]["pipelines_free"] == 5
        assert [t["name"] for t in listed[0]["telemetries"]] == ["hotness", "skew", "bandwidth"]
        guest.run(f"ask trace {N}", timeout=300)
        seen = object_of(guest.run("anemonectl read hotness --json"), '{"name": "hotness"')
        assert {one["region"]: one["value"] for one in seen["counters"]} == counts(pages)
        seen = object_of(guest.run("anemonectl read skew --json"), '{"name": "skew"')
        base = {one["addresses"][0] >> 12: one["value"] for one in seen["counters"]}
        assert base == counts(addresses[np.isin(pages, [17, 803])] >> 12)
        output = guest.run("anemonectl read bandwidth; anemonectl status bandwidth")
        tenant = [np.isin(pages, [17, 18, 19]).sum(), np.isin(pages, [803, 804]).sum()]
        for region, value in enumerate(tenant):
            assert re.search(rf"^ +{region} +0 +{value}  0x", output, re.M), output
        assert re.search(rf"^matched +{sum(tenant)} ", output, re.M), output
        # A read resets the counters; a watch shows only what comes next.
        output = guest.run(
            "anemonectl read hotness; anemonectl map skew 500 0\n"
            "(sleep 1; ask trace 1000) & anemonectl watch hotness --once -i 5 -n 2 --json; wait",
            timeout=300,
        )
        assert "all counters are 0" in output and "3 mapped" in output
        seen = object_of(output, '{"name": "hotness", "seconds"')
        assert [row["region"] for row in seen["rows"]] == [17, 500]
        assert seen["total"] == 1000
        output = guest.run(
            "echo 17 | anemonectl rotate skew --period 10 -f -; sleep 1; ask trace 1000; sleep 1\n"
            "anemonectl read skew | head -3; anemonectl rotate skew --stop\n"
            "anemonectl rm --all; sleep 1; anemonectl list; ls /run/anemone-0",
            timeout=300,
        )
        assert "1 keys take turns of 10 ms" in output and "no key is mapped" in output
        assert "3 removed" in output and "pipelines   8, 8 free" in output
        assert "anemone0.sock" not in output
        refused = guest.run(
            "anemonectl run -f /rules.toml -o /out -- ask trace 1000; head -3 /out\n"
            "anemonectl map hotness 1 1; echo status $?", timeout=300,
        )  # fmt: skip
        assert "hotness: 1000 matched, 0 unmapped, 0 out of range" in refused
        assert "status 2" in refused
        guest.kernel_log()
