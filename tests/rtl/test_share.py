# SPDX-License-Identifier: Apache-2.0
"""Two hosts on one expander: latencies of a message's loads, and faults that the harness
detects.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anemone.backends.rtl import BackendError, simulators
from anemone.backends.rtl import share as shared
from anemone.backends.rtl.share import GEOMETRY, HOSTS, Setting, share
from anemone.models.msgfree.shared import UnderLoad, added
from tests.commands import run
from tests.rtl.faults import choose, faulty

# Faults in the emitted hardware, with the harness's expected message.
FAULTS = {
    "an answer to the other host": (
        "HostArbiter.sv",
        r"io_channel_r_bits_id\[11\]",
        r"(FAULT ^ \g<0>)",
    ),
    "data of the other host": (
        "HostArbiter.sv",
        r"(?<=assign io_channel_w_bits_data =)",
        " FAULT ^ ",
    ),
    "a line that is never new": (
        "HostArbiter.sv",
        r"(\.io_in_bits_data\s*)\((io_channel_r_bits_data)\)",
        r"\1({\2[511:65], \2[64] & ~FAULT, \2[63:0]})",
    ),
}
COMPLAINTS = {
    "an answer to the other host": "no request at this port",
    "data of the other host": "data of another write",
    "a line that is never new": "finds an older message",
}
# One cycle to the arbiter, two through the channel, memory, and the same on the way back.
IDLE = 3 + 40 + 3


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    simulator = simulators.shared(GEOMETRY, HOSTS)
    return faulty(simulator, FAULTS, tmp_path_factory.mktemp("faults"))


@pytest.fixture(autouse=True)
def built(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "build", lambda _: program)


def test_alone_each_load_takes_the_latency_of_all_on_its_way() -> None:
    found = share(Setting(messages=5, lines=16))
    assert found.loads.cycles.tolist() == [IDLE] and found.loads.counts.tolist() == [80]
    assert not len(found.other.counts)
    assert share(Setting(messages=2, latency=90)).loads.cycles.tolist() == [IDLE + 50]


def test_loads_of_both_channels_go_side_by_side() -> None:
    one, two = (share(Setting(messages=4, in_flight=n)) for n in (1, 2))
    assert one.loads.mean == two.loads.mean == IDLE


def test_other_work_and_refresh_delay_loads() -> None:
    at = {load: share(Setting(messages=40, load=load)) for load in (0.3, 0.9)}
    for load, found in at.items():
        assert load <= found.requests < load + 0.06
        assert found.loads.cycles[0] == IDLE == found.loads.quantile(0.0)
        assert found.loads.counts.sum() == 40 * 16
        assert found.other.counts.sum() > 1000
    assert IDLE < at[0.3].loads.mean < at[0.9].loads.mean
    assert at[0.9].loads.quantile(0.5) < at[0.9].loads.quantile(0.99)
    refreshed = share(Setting(messages=40, refresh_every=503, refresh_for=100)).loads
    assert IDLE + 90 <= refreshed.cycles[-1] <= IDLE + 100


def test_a_seed_is_one_run() -> None:
    first, again, other = (
        share(Setting(messages=10, load=0.5, seed=seed)).loads for seed in (1, 1, 2)
    )
    assert first.counts.tolist() == again.counts.tolist() != other.counts.tolist()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(FAULTS, fault, monkeypatch)
    with pytest.raises(BackendError, match=COMPLAINTS[fault]):
        share(Setting(messages=4, load=0.4))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["msgfree", "latency", "--load", "0"]
    code, output, _ = run([*words, "--load", "0.5", "--messages", "50", "--json"], capsys)
    idle, busy = json.loads(output)["loads"]
    assert code == 0 and idle["p50"] == IDLE * 2.5 and busy["mean"] > idle["mean"]
    assert idle["load"] == 0 and 0.5 < busy["requests"] < 0.6
    code, output, _ = run([*words, "--messages", "2"], capsys)
    assert code == 0 and "115.0" in output


@pytest.mark.parametrize(("option", "value"), [("--load", "1.5"), ("--in-flight", "0")])
def test_what_no_channel_has(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, errors = run(["msgfree", "latency", option, value], capsys)
    assert code == 2 and option in errors


def test_what_load_adds() -> None:
    under = [UnderLoad(load, load, 100 + 50 * load, 100, 400) for load in (0.5, 0.0, 0.9)]
    assert added(under) == {0.5: 25.0, 0.0: 0.0, 0.9: 45.0}
