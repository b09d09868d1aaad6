# SPDX-License-Identifier: Apache-2.0
"""`anemonectl events`, on devices that are files."""

from __future__ import annotations

import json
import signal
import subprocess
import time

from tests.driver.conftest import Tool, start


def test_events(added: Tool) -> None:
    ids = {t["name"]: t["id"] for t in added.good("list", "--json").json[0]["telemetries"]}
    # Counter 3 of region 1; a lost page entry; a number of further losses; a telemetry that is not
    # held.
    for words in (["0", ids["skew"], 512 + 3, 0], ["1", ids["skew"], 512, 0x7F00_0020_0000],
                  ["2", 0, 9, 0], ["0", 77, 1, 0], ["0", ids["hotness"], 17, 0]):  # fmt: skip
        added.device("event", *words)
    events = added.good("events", "--json", "--count", "5").out.splitlines()
    seen = [json.loads(line) for line in events]
    assert {one.pop("device") for one in seen} == {str(added.devices / "anemone0")}
    assert {one.pop("time_ns") for one in seen} == {12345678901}
    address = (83 << 21) + 0x3000
    assert seen == [
        {"type": "notification", "name": "skew", "id": ids["skew"], "region": 1, "offset": 3,
         "channel": 1, "keys": 1, "addresses": [address, address + 0xFFF]},
        {"type": "lost", "name": "skew", "id": ids["skew"], "region": 1,
         "address": 0x7F00_0020_0000},
        {"type": "more_lost", "count": 9},
        {"type": "notification", "name": None, "id": 77},
        {"type": "notification", "name": "hotness", "id": ids["hotness"], "region": 17,
         "offset": 0, "channel": 1, "keys": 1, "addresses": [17 << 21, (18 << 21) - 1]},
    ]  # fmt: skip
    for words in (["0", ids["skew"], 512 + 3, 0], ["1", ids["skew"], 512, 4096], ["2", 0, 9, 0],
                  ["0", 77, 1, 0]):  # fmt: skip
        added.device("event", *words)
    lines = added.good("events", "--count", "4").out.splitlines()
    assert lines[0] == "     12.345679  skew: region 1, offset 3, channel 1  0xa603000-0xa603fff"
    assert lines[1].endswith("skew: the entry of address 0x1000 was lost with its page")
    assert lines[2].endswith("anemone0: 9 more entries were lost with their pages")
    assert lines[3].endswith("id 77: event of type 0, counter 1")


def test_events_go_on(added: Tool) -> None:
    (skew,) = [t["id"] for t in added.good("list", "--json").json[0]["telemetries"]
               if t["name"] == "skew"]  # fmt: skip
    events = start(added, "events", "--json", stderr=subprocess.PIPE)
    assert events.stdout and events.stderr
    for offset in (1, 2):  # each line at once, without waiting for a full buffer
        added.device("event", 0, skew, offset, 0)
        assert json.loads(events.stdout.readline())["offset"] == offset
    # New names, and a region that was mapped meanwhile.
    more = added.good("map", "skew", "--unmap", "17") and added.good("map", "skew", "5", "0")
    assert more.code == 0
    added.device("event", 0, skew, 1, 0)
    first = (5 << 21) + 0x1000
    assert json.loads(events.stdout.readline())["addresses"] == [first, first + 0xFFF]
    added.good("rm", "skew")
    added.good("rm", "hotness")
    assert events.wait(30) == 0 and b"the last telemetry was removed" in events.stderr.read()


def test_events_that_are_ended(added: Tool) -> None:
    events = start(added, "events")
    time.sleep(0.5)
    events.send_signal(signal.SIGINT)
    assert (events.wait(20), events.communicate()[0]) == (0, b"")
    added.good("rm", "--all")
    refused = added("events")
    assert refused.code == 2 and "no telemetry is held" in refused.err
    assert added("events", "--count", "0").code == 2
