# SPDX-License-Identifier: Apache-2.0
"""Rules of host addresses, and pages of a running process, on devices that are files."""

from __future__ import annotations

import os
import struct
import subprocess

import pytest

from tests.driver.conftest import RULES, Tool

BASE = 0x10_0000_0000  # host address of the fake device's memory
HUGE = 2 << 20
PAGE = 4096
PRESENT, SWAPPED = 1 << 63, 1 << 62
HOST = RULES.replace("[0x0, 0x4000_0000]", "[0x10_0000_0000, 0x10_4000_0000]")
PID = 4321


def host_rules(*keys: tuple[int, int]) -> str:
    """The usual rules, with these entries, [key, base], of "skew"."""
    return HOST.replace("[[17, 0], [83, 512]]", str([list(key) for key in keys]))


def counters(tool: Tool, name: str) -> list[tuple[int, int, list[int]]]:
    shown = tool.good("read", name, "--json").json["counters"]
    return [(one["region"], one["value"], one["addresses"]) for one in shown]


def test_identity_begins_with_the_range(tool: Tool) -> None:
    shown = tool.good("add", "--host-addresses", "-f", "-", "--json",
                      stdin=host_rules((0x8000 + 17, 512))).json  # fmt: skip
    assert [t["mapped"] for t in shown] == [512, 1]
    tool.device("R", 17 * HUGE + 3 * PAGE, 5)
    first = BASE + 17 * HUGE
    assert counters(tool, "hotness") == [(17, 5, [first, first + HUGE - 1])]
    page = first + 3 * PAGE
    assert counters(tool, "skew") == [(1, 5, [page, page + PAGE - 1])]


@pytest.mark.parametrize(("range_", "shift", "keys"), [
    ("[0, 0x100_0000_0000]", 21, 512),
    ("[0, 0x100_0000_0000]", 22, 256),  # fewer keys than table entries
    ("[0x10_2000_0000, 0x100_0000_0000]", 22, 128),
])  # fmt: skip
def test_identity_of_a_range_beyond_the_memory(
    tool: Tool, range_: str, shift: int, keys: int
) -> None:
    text = HOST[: HOST.index("\n\n")].replace("[0x10_0000_0000, 0x10_4000_0000]", range_)
    text = text.replace("shift = 21", f"shift = {shift}")
    shown = tool.good("add", "--host-addresses", "-f", "-", "--json", stdin=text).json
    assert [t["mapped"] for t in shown] == [keys]
    tool.device("R", (1 << 30) - 1, 3)
    assert [(region, value) for region, value, _ in counters(tool, "hotness")] == [(keys - 1, 3)]


def test_a_key_past_all_addresses_is_left_out(tool: Tool) -> None:
    """Its first address has more than 64 bits, whose low bits are in the range."""
    keys = host_rules((0x8011, 0), ((1 << 43) + 0x8012, 512))
    done = tool.good("add", "--host-addresses", "-f", "-", "--json", stdin=keys)
    assert '"skew": 1 keys of the map are left out' in done.err
    assert [t["mapped"] for t in done.json] == [512, 1]


def test_run_of_host_addresses(tool: Tool) -> None:
    file = tool.write("rules.toml", host_rules((0x8000 + 17, 0)))
    access = [tool.build / "fake-access", tool.devices / "anemone0", "W", 17 * HUGE, 7]
    shown = tool.good("run", "--host-addresses", "-f", file, "--json", "--", *access).json
    assert [one["counters"][0]["value"] for one in shown] == [7, 7]


def test_what_is_refused(tool: Tool) -> None:
    refused = tool("add", "--host-addresses", "-f", "-", stdin=RULES)
    assert refused.code == 1
    assert "was refused" in refused.err and "is not in 0x1000000000 to 0x103fffffff" in refused.err
    # Without the option these addresses are past the device's end.
    refused = tool("add", "-f", "-", stdin=HOST)
    assert refused.code == 2 and "end <= 0x40000000 (1 GiB)" in refused.err
    refused = tool("add", "--host-addresses", "-f", "-", stdin=host_rules((1 << 52, 0)))
    assert refused.code == 2 and f"a key of 0 to {(1 << 52) - 1}\n" in refused.err
    twice = host_rules((0x8011, 0), (0x8011, 512))
    assert "each key once (map[0] has 32785)" in tool("check", "--host-addresses", "-f", "-",
                                                      stdin=twice).err  # fmt: skip
    for was, wrong, message in (
        ('mask = "0xFFFFFFFFFFFFFFFF", shift = 21 }\nsub', 'mask = 0xFFFF_FFFF, shift = 21 }\nsub',
         'rule 2 "skew" (line 14): primary.mask is 0xffffffff; allowed: with --host-addresses '
         "every bit from shift 21 on, such as 0xffffffffffe00000"),
        ("mask = 0x1F_F000", "mask = 0x3F_F000",
         'rule 2 "skew" (line 15): sub.mask is 0x3ff000; allowed: with --host-addresses less than '
         "0x200000, a key's reach by primary.shift 21"),
    ):  # fmt: skip
        assert was in HOST
        refused = tool("check", "--host-addresses", "-f", "-", stdin=HOST.replace(was, wrong))
        assert (refused.code, refused.err) == (2, f"anemonectl: stdin: {message}\n")


def test_check(tool: Tool) -> None:
    for device in ([], ["--device", "0"]):
        shown = tool.good("check", "--host-addresses", "-f", "-", "--json", *device,
                          stdin=host_rules((0x8011, 0))).json  # fmt: skip
        assert [rule["host_addresses"] for rule in shown] == [True, True]
        assert shown[1]["start"] == BASE and shown[1]["map"] == [[0x8011, 0]]
        assert [rule["regions"] for rule in shown] == [0, 1]
    assert tool.good("check", "-f", "-", "--json", stdin=RULES).json[0]["host_addresses"] is False


# --- Pages of a process -------------------------------------------------------------------------


def process(tool: Tool, pages: dict[int, int], pid: int = PID) -> None:
    """A process with these entries of pagemap, by address."""
    folder = tool.devices / "proc" / str(pid)
    folder.mkdir(parents=True)
    (folder / "maps").write_text(
        "00400000-00600000 r-xp 00000000 08:01 42 /usr/bin/a name with-dashes\n"
        "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n"
    )
    with (folder / "pagemap").open("wb") as file:
        for address, entry in pages.items():
            file.seek(address // PAGE * 8)
            file.write(struct.pack("<Q", entry))


def at(device_address: int) -> int:
    return PRESENT | (BASE + device_address) // PAGE


PAGES = {
    0x40_0000: at(17 * HUGE),
    0x40_1000: at(17 * HUGE + 5 * PAGE),  # has the same key
    0x40_2000: PRESENT | 0x1234,  # in other memory
    0x40_3000: SWAPPED | (BASE + 20 * HUGE) // PAGE,
    0x7F00_0000_0000: at(300 * HUGE),
    0x7F00_003F_F000: at(18 * HUGE) | 1 << 55 | 1 << 61,  # the last one; soft-dirty, of a file
}


@pytest.fixture
def empty(tool: Tool) -> Tool:
    """With a telemetry whose 16 regions, of one counter for 32 KiB each, are all free."""
    text = HOST[HOST.index('[[rule]]\nname = "skew"') :].replace("[[17, 0], [83, 512]]", "[]")
    text = text.replace("mask = 0x1F_F000, shift = 12", "mask = 0x1F_8000, shift = 15")
    shown = tool.good("add", "--host-addresses", "-f", "-", "--json", stdin=text).json
    assert [(t["regions"], t["mapped"]) for t in shown] == [(16, 0)]
    process(tool, PAGES)
    return tool


def test_pid(empty: Tool) -> None:
    shown = empty.good("map", "skew", "--pid", PID, "--json").json
    assert (shown["set"], shown["mapped"]) == (3, 3)
    assert [(p["address"], p["key"], p["region"]) for p in shown["pages"]] == [
        (0x40_0000, 0x8000 + 17, 0), (0x7F00_0000_0000, 0x8000 + 300, 1),
        (0x7F00_003F_F000, 0x8000 + 18, 2)]  # fmt: skip
    empty.device("R", 300 * HUGE + 9 * PAGE, 9)
    first = BASE + 300 * HUGE + 8 * PAGE
    assert counters(empty, "skew") == [(1, 9, [first, first + 8 * PAGE - 1])]
    # Again: mapped keys keep their regions, which are shown, and nothing is left to map.
    again = empty.good("map", "skew", "--pid", PID, "--json").json
    assert (again["set"], again["mapped"], again["pages"]) == (0, 3, shown["pages"])


def test_pid_with_huge_pages(tool: Tool) -> None:
    """An entry for each of their base pages; keys may have either size."""
    rules = host_rules().replace("shift = 21", "shift = 12", 1)
    tool.good("add", "--host-addresses", "-f", "-", stdin=rules.replace('"identity"', "[]"))
    huge = {0x7F00_0000_0000 + i * PAGE: at(17 * HUGE + i * PAGE) for i in range(512)}
    process(tool, huge)
    (page,) = tool.good("map", "skew", "--pid", PID, "--json").json["pages"]
    assert page == {"address": 0x7F00_0000_0000, "key": 0x8000 + 17, "region": 0}
    process(tool, {address: entry - (17 * HUGE) // PAGE for address, entry in huge.items()}, pid=9)
    pages = tool.good("map", "hotness", "--pid", 9, "--json").json["pages"]
    assert [p["key"] for p in pages] == [BASE // PAGE + i for i in range(512)]
    # More keys than a table has are refused before any is mapped.
    process(tool, huge | {0x40_0000: at(90 * HUGE)}, pid=10)
    refused = tool("map", "hotness", "3", "--pid", 10)
    assert refused.code == 1 and "process 10 has more keys in the rule's range" in refused.err
    assert tool.good("status", "hotness", "--json").json["mapped"] == 512


def test_pid_that_ends_meanwhile(empty: Tool) -> None:
    """Open files of a process that has ended are empty."""
    process(empty, {}, pid=7)
    refused = empty("map", "skew", "--pid", 7)
    assert refused.code == 1 and "process 7 ended, or began another program" in refused.err
    (empty.devices / "proc/7/maps").write_text("")
    refused = empty("map", "skew", "--pid", 7)
    assert refused.code == 2 and "allowed: a process that runs and has memory" in refused.err
    (empty.devices / "proc/7/pagemap").unlink()
    refused = empty("map", "skew", "--pid", 7)
    assert refused.code == 1 and "CONFIG_PROC_PAGE_MONITOR" in refused.err
    assert empty.good("status", "skew", "--json").json["mapped"] == 0


def test_pid_of_linux(empty: Tool) -> None:
    """With this kernel's files; whether it shows page numbers depends on the user."""
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        (empty.devices / "proc" / str(sleeper.pid)).symlink_to(f"/proc/{sleeper.pid}")
        done = empty("map", "skew", "--pid", sleeper.pid)
        sleeper.kill()
        message = ("has no page in the rule's range", "CAP_SYS_ADMIN")
        assert done.code == 0 or (done.code == 1 and any(why in done.err for why in message))
        # It has ended, but nobody has waited for it.
        os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
        done = empty("map", "skew", "--pid", sleeper.pid)
        assert done.code == 2 and "allowed: a process that runs and has memory" in done.err
    done = empty("map", "skew", "--pid", sleeper.pid)
    assert done.code == 2 and "allowed: a process that runs" in done.err


def test_memory_that_moved(empty: Tool) -> None:
    empty.device("moved")
    refused = empty("map", "skew", "--pid", PID)
    assert refused.code == 1 and "moved the memory" in refused.err
    assert "remove the rule and add it again" in refused.err


def test_pid_with_a_region_and_a_range(empty: Tool) -> None:
    within = ["--pid", PID, "--range", "0x400000-0x7f0000001000"]
    assert "2 keys set, 2 mapped" in empty.good("map", "skew", *within).out
    assert "3 keys set, 3 mapped" in empty.good("map", "skew", "7", "--pid", PID).out
    empty.device("W", 17 * HUGE, 1)
    empty.device("W", 18 * HUGE, 2)
    assert [(region, value) for region, value, _ in counters(empty, "skew")] == [(7, 3)]


def test_pid_with_too_few_regions(tool: Tool) -> None:
    tool.good("add", "--host-addresses", "-f", "-", stdin=host_rules((0x8000 + 40, 512)))
    process(tool, PAGES)
    refused = tool("map", "skew", "--pid", PID)
    assert refused.code == 1
    assert "3 keys without a region, and 1 region of" in refused.err and "--range" in refused.err
    assert tool.good("status", "skew", "--json").json["mapped"] == 1


def test_pid_that_is_refused(empty: Tool) -> None:
    for words, message in (
        (["skew", "--pid", "77"], "--pid is 77; allowed: a process that runs"),
        (["skew", "--pid", "0"], '--pid is "0"'),
        (["skew", "16", "--pid", PID], "allowed: a region of 0 to 15"),
        (["skew", "1", "2", "--pid", PID], "NAME --pid PID [REGION]"),
        (["skew", "--unmap", "--pid", PID], "NAME --pid PID [REGION]"),
        (["skew", "--pid", PID, "--range", "5"], "allowed: START-END"),
        (["skew", "--pid", PID, "--range", "5-5"], '--range END is "5"'),
        (["skew", "1", "0", "--range", "5-6"], "allowed: with --pid"),
    ):
        refused = empty("map", *words)
        assert refused.code == 2 and message in refused.err, refused.err
        assert refused.err.count("\n") == 1
    refused = empty("map", "skew", "--pid", PID, "--range", "0x7f0000001000-0x7f0000002000")
    assert refused.code == 1 and "has no page in the rule's range" in refused.err
    # Without CAP_SYS_ADMIN the kernel shows entries without numbers.
    process(empty, {0x40_0000: PRESENT}, pid=5)
    refused = empty("map", "skew", "--pid", "5")
    assert refused.code == 1 and "CAP_SYS_ADMIN" in refused.err
    empty.good("add", "-f", "-", stdin=RULES[: RULES.index("\n\n")])
    refused = empty("map", "hotness", "--pid", PID)
    assert refused.code == 2 and "add --host-addresses" in refused.err
