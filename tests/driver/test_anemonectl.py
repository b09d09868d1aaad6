# SPDX-License-Identifier: Apache-2.0
"""Every command of anemonectl, on devices that are files."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.driver.conftest import ROOT, RULES, Tool, start

COMMANDS = "list add run map read watch events status rotate rm check".split()


def counters(tool: Tool, name: str, *options: str) -> dict[tuple[int, int], int]:
    shown = tool.good("read", name, "--json", *options).json["counters"]
    return {(one["region"], one["offset"]): one["value"] for one in shown}


# --- Help ---------------------------------------------------------------------------------------


def test_help_of_the_whole(tool: Tool) -> None:
    shown = tool.good("--help").out
    assert shown == tool.good("help").out == tool().out and tool().code == 2
    assert set(re.findall(r"^  ([a-z]+)  ", shown, re.M)) == set(COMMANDS)
    assert re.fullmatch(r"anemonectl \d+\.\d+\.\d+ \(uapi 1\)\n", tool.good("--version").out)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(tool: Tool, command: str) -> None:
    shown = tool.good(command, "--help").out
    assert shown.startswith(f"usage: anemonectl {command}")
    assert max(map(len, shown.splitlines())) <= 90
    refused = tool(command, "--nonsense")
    assert refused.code == 2 and "--help" in refused.err
    # The command accepts the arguments in its help, so its error is about something else.
    for option in set(re.findall(r"--[a-z-]+", shown)) - {"--membind", "--help"}:
        assert "is no option" not in tool(command, option, "1").err, option


def test_wrong_commands(tool: Tool) -> None:
    for words in (["frobnicate"], ["read"], ["read", "a", "b"], ["map", "x"], ["rm"],
                  ["rm", "x", "--all"], ["rotate", "x"], ["add"], ["run", "--", "true"],
                  ["watch", "x", "--interval", "0"], ["watch", "x", "--top", "-1"],
                  ["read", "x", "--device", "7"], ["add", "-f", "nowhere.toml"], ["check"],
                  ["status", "nothing"], ["watch", "nothing"], ["rm", "nothing"]):  # fmt: skip
        result = tool(*words)
        assert (result.code, result.out) == (2, ""), words
        assert result.err.startswith("anemonectl: ") and result.err.count("\n") == 1, words


# --- Devices ------------------------------------------------------------------------------------


def test_list(tool: Tool) -> None:
    (device,) = tool.good("list", "--json").json
    assert device["device"].endswith("/anemone0") and device["pci"] == "0000:01:00.0"
    assert (device["pipelines"], device["pipelines_free"], device["channels"]) == (4, 4, 2)
    assert device["flat"] is False and device["telemetries"] == []
    text = tool.good("list").out
    assert "4, 4 free" in text and "0x1000000000-0x103fffffff" in text


def test_no_device(tool: Tool) -> None:
    (tool.devices / "anemone0").unlink()
    assert tool.good("list", "--json").json == []
    assert "driver loaded" in tool.good("list").out
    result = tool("add", "-f", tool.write("rules.toml", RULES))
    assert result.code == 1 and "driver loaded" in result.err


def test_two_devices(tool: Tool) -> None:
    tool.device("new-flat", number=1)
    file = tool.write("rules.toml", RULES)
    assert [d["flat"] for d in tool.good("list", "--json").json] == [False, True]
    assert "--device is missing" in tool("add", "-f", file).err
    tool.good("add", "-f", file, "--device", "1")
    tool.device("R", 17 << 21, 5, number=1)
    assert counters(tool, "hotness") == {(17, 0): 5}
    tool.good("add", "-f", file, "--device", "anemone0")
    assert "is on 2 devices" in tool("read", "hotness").err
    assert counters(tool, "hotness", "--device", "0") == {}
    assert "2 removed" in tool.good("rm", "--all", "-d", "0").out
    assert tool.good("rm", "--all", "--json").json == {"removed": 2}


# --- Adding and the holder ----------------------------------------------------------------------


def holders(tool: Tool) -> list[int]:
    """Processes that have a device of this test open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            links = [str(fd.readlink()) for fd in (process / "fd").iterdir()]
        except OSError:
            continue
        if any(link.startswith(str(tool.devices)) for link in links):
            found.append(int(process.name))
    return found


def gone(tool: Tool) -> bool:
    for _ in range(100):
        if not holders(tool) and not list(tool.runtime.glob("anemone/*.sock")):
            return True
        time.sleep(0.05)
    return False


def test_add_and_remove(tool: Tool) -> None:
    file = tool.write("rules.toml", RULES)
    shown = tool.good("add", "-f", file, "--json").json
    assert [(t["name"], t["pipelines"], t["regions"], t["region_counters"], t["mapped"])
            for t in shown] == [("hotness", 1, 1024, 1, 512), ("skew", 1, 2, 512, 2)]  # fmt: skip
    (device,) = tool.good("list", "--json").json
    assert device["pipelines_free"] == 2
    assert [t["name"] for t in device["telemetries"]] == ["hotness", "skew"]
    assert len(holders(tool)) == 1
    folder = tool.runtime / "anemone"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "anemone0.sock").stat().st_mode & 0o777 == 0o600
    tool.good("rm", "hotness")
    assert len(holders(tool)) == 1
    tool.good("rm", "skew")
    assert gone(tool)
    assert tool.good("list", "--json").json[0]["pipelines_free"] == 4
    # Adding works again from the start.
    tool.good("add", "-f", "-", stdin=RULES)


def test_add_all_or_none(added: Tool) -> None:
    again = RULES.replace('"skew"', '"third"').replace('"hotness"', '"fourth"')
    three = again + again[: again.index("\n\n")].replace('"fourth"', '"fifth"') + "\n"
    result = added("add", "-f", "-", stdin=three)
    assert result.code == 1 and '"fifth" was refused' in result.err
    assert "1 pipelines wanted, 0 free" in result.err
    (device,) = added.good("list", "--json").json
    assert [t["name"] for t in device["telemetries"]] == ["hotness", "skew"]
    assert device["pipelines_free"] == 2
    taken = added("add", "-f", "-", stdin=RULES)
    assert taken.code == 2 and 'rule 1: name is "hotness"; allowed: one that is not' in taken.err


def test_first_add_refused_leaves_nothing(tool: Tool) -> None:
    result = tool(
        "add", "-f", "-", stdin=RULES.replace("0x1F_F000", "0x3FFF_F000").replace(", [83, 512]", "")
    )
    assert result.code == 1 and "a region is larger than a pipeline" in result.err
    assert gone(tool)


def test_the_devices_own_limits(tool: Tool) -> None:
    result = tool("add", "-f", "-", stdin=RULES.replace("[17, 0]", "[512, 0]"))
    assert result.code == 2 and "a key of 0 to 511\n" in result.err
    result = tool("add", "-f", "-", stdin=RULES.replace('"RW"', '"RW"\nnear = "miss"'))
    assert result.code == 2 and "flat memory mode" in result.err
    assert gone(tool)


def test_read_every_is_told(tool: Tool) -> None:
    result = tool.good("add", "-f", "-", stdin=RULES + "read_every = 5\n")
    assert result.err.count("\n") == 1 and "read_every is ignored" in result.err


def test_a_killed_holder(added: Tool) -> None:
    (holder,) = holders(added)
    os.kill(holder, signal.SIGKILL)
    time.sleep(0.2)
    assert added("read", "hotness").code == 2
    added.good("add", "-f", "-", stdin=RULES)
    assert added.good("list", "--json").json[0]["pipelines_free"] == 2


def test_the_holder_survives_nonsense(added: Tool) -> None:
    path = str(added.runtime / "anemone/anemone0.sock")
    for data in (b"", b"x", b"\xff" * 64, b"\2\0\0\0\2\0\0\0" + b"\0" * 8 + b"\xff" * 5000):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(data)
    assert counters(added, "hotness") == {}


def test_a_place_that_others_can_write_is_not_used(tool: Tool) -> None:
    (tool.runtime / "anemone").mkdir(mode=0o700)
    (tool.runtime / "anemone").chmod(0o777)
    result = tool("add", "-f", "-", stdin=RULES)
    assert result.code == 1 and "XDG_RUNTIME_DIR" in result.err
    (tool.runtime / "anemone").chmod(0o700)


def test_nothing_of_the_callers_stays_open(tool: Tool) -> None:
    read, write = os.pipe()
    tool.write("rules.toml", RULES)
    add = start(tool, "add", "-f", "rules.toml", pass_fds=[write], stdout=write)
    assert add.wait(30) == 0
    os.close(write)
    with os.fdopen(read) as pipe:
        assert "hotness" in pipe.read()  # removed at the end: the holder does not keep it


# --- Keys ---------------------------------------------------------------------------------------


def test_map(added: Tool) -> None:
    added.device("R", 5 << 21, 3)
    assert counters(added, "skew") == {}
    assert "3 mapped" in added.good("map", "skew", "5", "1").out
    added.device("R", (5 << 21) + 0x3000, 4)
    shown = added.good("read", "skew", "--json").json["counters"]
    assert shown == [{"region": 1, "offset": 3, "value": 4, "keys": 2, "addresses":
                      [(5 << 21) + 0x3000, (5 << 21) + 0x3FFF]}]  # fmt: skip
    assert "+1 key\n" in added.good("read", "skew", "--all").out
    added.good("map", "skew", "--unmap", "0x5")
    added.device("R", (5 << 21) + 0x3000, 4)
    assert counters(added, "skew") == {}
    status = added.good("status", "skew", "--json").json
    assert (status["matched"], status["unmapped"], status["mapped"]) == (4, 7, 2)
    assert "unmapped" in added.good("status", "skew").out


def test_keys_that_nothing_reaches(tool: Tool) -> None:
    half = RULES.replace("0x4000_0000", "0x2000_0000").replace("[83, 512]", "[500, 512]")
    result = tool.good("add", "-f", "-", "--json", stdin=half)
    assert [t["mapped"] for t in result.json] == [256, 1]
    assert 'rule "skew": 1 keys of the map are left out' in result.err
    assert "no address of it passes the rule's range" in tool("map", "skew", "500", "1").err
    assert "key 0x1 is not mapped" in tool("map", "skew", "--unmap", "1").err


def test_map_of_a_file(added: Tool) -> None:
    file = added.write("keys", "# key region\n0x10 0\n 17 1\t# the same\n\n18, 1\n")
    assert "3 keys set, 4 mapped" in added.good("map", "skew", "-f", file).out
    added.device("W", 0x11 << 21, 2)
    assert counters(added, "skew") == {(1, 0): 2}
    done = added.good("map", "skew", "-f", "-", "--unmap", "--json", stdin="16\n17\n").json
    assert done == {"name": "skew", "unmapped": 2, "mapped": 2}


@pytest.mark.parametrize(("text", "message"), [
    ("1\n", "line 1: region is missing"), ("\n1 x", 'line 2: region is "x"'),
    ("1 1 1", 'word 3 is "1"'), ("-1 1", 'key is "-1"'), ("1 2", "allowed: a region of 0 to 1"),
    ("1 99999999999999999999", "a whole number"), ("\0", "binary"), ("0x 1", 'key is "0x"'),
])  # fmt: skip
def test_map_of_a_bad_file(added: Tool, text: str, message: str) -> None:
    result = added("map", "skew", "-f", "-", stdin=text)
    assert result.code == 2 and message in result.err and "; allowed: " in result.err


def test_map_all_or_none(added: Tool) -> None:
    result = added("map", "skew", "-f", "-", stdin="17 1\n3 0\n512 0\n4 1\n")
    assert result.code == 1 and "key 0x200 is past the table's 512" in result.err
    added.device("R", 3 << 21, 1)
    added.device("R", 17 << 21, 1)
    assert counters(added, "skew") == {(0, 0): 1}
    assert added.good("status", "skew", "--json").json["mapped"] == 2


# --- Reading ------------------------------------------------------------------------------------


def test_read(added: Tool) -> None:
    added.device("R", (17 << 21) + 0x1000, 7)
    added.device("W", (17 << 21) + 0x1040, 20)
    channels = added.good("read", "skew", "--snapshot", "--channels", "--json").json["counters"]
    assert [one["channels"] for one in channels] == [[7, 20]]
    text = added.good("read", "skew", "--snapshot").out
    assert re.search(r"^ +0 +1 +27  0x2201000-0x2201fff$", text, re.M)
    text = added.good("read", "skew", "--snapshot", "--channels").out
    assert re.search(r"^ +0 +1 +7 +20  ", text, re.M)
    assert counters(added, "skew") == {(0, 1): 27}
    assert counters(added, "skew") == {}
    assert "all counters are 0" in added.good("read", "skew").out
    assert len(counters(added, "skew", "--all")) == 1024
    assert len(added.good("read", "skew", "--all").out.splitlines()) == 1025


def test_names_of_other_scripts(tool: Tool) -> None:
    name = 'größe "海" ' + "x" * 60
    text = RULES.replace('"hotness"', "'" + name + "'")
    tool.good("add", "-f", "-", stdin=text)
    assert tool.good("read", name, "--json").json["name"] == name


def test_watch_once(added: Tool) -> None:
    added.device("R", 5 << 21, 1000)  # before the first look
    watch = start(added, "watch", "hotness", "--interval", "1", "--once", "--json")
    time.sleep(0.4)
    added.device("R", 17 << 21, 30)
    added.device("R", 18 << 21, 70)
    seen = json.loads(watch.communicate(timeout=20)[0])
    assert watch.returncode == 0 and (seen["of"], seen["total"]) == ("interval", 100)
    assert [(r["region"], r["count"], r["share"]) for r in seen["rows"]] == [
        (18, 70, 0.7), (17, 30, 0.3)]  # fmt: skip
    assert seen["rows"][0]["addresses"] == [18 << 21, (19 << 21) - 1]
    # Watching does not count as reading.
    assert counters(added, "hotness")[5, 0] == 1000


def test_watch_goes_on(added: Tool) -> None:
    watch = start(added, "watch", "skew", "-i", "0.2", "--counters", "-n", "1", "--json",
                  stderr=subprocess.PIPE)  # fmt: skip
    assert watch.stdout and watch.stderr
    added.device("R", (17 << 21) + 0x5000, 1)
    seen = [json.loads(watch.stdout.readline()) for _ in range(3)]
    assert all(one["name"] == "skew" and len(one["rows"]) <= 1 for one in seen)
    # A reset by another reader does not make a difference negative.
    added.device("R", (17 << 21) + 0x5000, 9)
    counters(added, "skew")
    assert all(json.loads(watch.stdout.readline())["total"] < 100 for _ in range(3))
    added.good("rm", "skew")
    assert watch.wait(20) == 0 and b"was removed" in watch.stderr.read()


def test_watch_on_a_terminal(added: Tool) -> None:
    ours, theirs = pty.openpty()
    watch = start(added, "watch", "hotness", "-i", "0.2", stdout=theirs)
    os.close(theirs)
    time.sleep(0.3)
    added.device("R", 17 << 21, 30)
    shown = b""
    while shown.count(b"\033[H") < 4:
        shown += os.read(ours, 4096)
    watch.send_signal(signal.SIGINT)
    assert watch.wait(20) == 0
    while not shown.endswith(b"\033[?25h"):
        shown += os.read(ours, 4096)
    assert b"Ctrl-C ends" in shown and b"0x2200000-0x23fffff" in shown and b"####" in shown
    os.close(ours)


def test_watch_plain(added: Tool) -> None:
    added.device("R", 1 << 21, 1)
    watch = start(added, "watch", "hotness", "-i", "0.1", "--top", "1")
    time.sleep(0.6)
    watch.send_signal(signal.SIGTERM)
    out = watch.communicate(timeout=20)[0].decode()
    assert watch.returncode == 0 and "\033" not in out and "0 counted in 0." in out


# --- Turns --------------------------------------------------------------------------------------


def test_rotate(added: Tool) -> None:
    shown = added.good("rotate", "skew", "--period", "500", "-f", "-", stdin="1\n2\n0x3\n").out
    assert "3 keys take turns of 500 ms, 2 at a time; all have had one after 1.0 s" in shown
    assert "no turn yet" in added.good("read", "skew").out
    added.device("R", (3 << 21) + 0x2000, 6)
    added.device("turn")
    shown = added.good("read", "skew", "--json").json
    assert shown["period_ms"] == 500 and [t["key"] for t in shown["turns"]] == [1, 2, 3]
    address = (3 << 21) + 0x2000
    assert shown["turns"][2]["counters"] == [
        {"offset": 2, "value": 6, "addresses": [address, address + 0xFFF]}]  # fmt: skip
    assert re.search(r"^ +0x3 +2 +6 +1  0x602000-0x602fff$", added.good("read", "skew").out, re.M)
    seen = added.good("watch", "skew", "--once", "-i", "0.1", "--json").json
    assert seen["of"] == "turns" and seen["rows"][0]["key"] == 3
    assert "0x3" in added.good("watch", "skew", "--once", "-i", "0.1", "--counters").out
    assert "is rotated" in added("map", "skew", "1", "1").err
    assert added.good("status", "skew", "--json").json["rotated"] == 3
    # Other keys replace them.
    assert (
        "1 keys take turns"
        in added.good("rotate", "skew", "--period", "9", "-f", "-", stdin="7").out
    )
    assert "rotation ended" in added.good("rotate", "skew", "--stop").out
    added.good("map", "skew", "1", "1")
    for words in (["--period", "0", "-f", "-"], ["--period", "5"], ["--stop", "-f", "-"]):
        assert added("rotate", "skew", *words).code == 2
    assert "keys are missing" in added("rotate", "skew", "--period", "5", "-f", "-").err


# --- Running ------------------------------------------------------------------------------------


def test_run(tool: Tool) -> None:
    file = tool.write("rules.toml", RULES)
    access = [tool.build / "fake-access", tool.devices / "anemone0", "R", 17 << 21, 12]
    shown = tool.good("run", "-f", file, "--json", "--", *access).json
    assert [one["name"] for one in shown] == ["hotness", "skew"]
    assert shown[0]["counters"][0]["value"] == 12
    result = tool("run", "-f", file, "-o", "counts", "sh", "-c", "echo out; exit 7")
    assert (result.code, result.out) == (7, "out\n")
    assert "hotness: 0 matched" in (tool.folder / "counts").read_text()
    assert tool("run", "-f", file, "--", "sh", "-c", "kill -9 $$").code == 137
    assert tool("run", "-f", file, "--", "no-such-command").code == 127
    assert gone(tool)


def test_run_that_is_ended(tool: Tool) -> None:
    tool.write("rules.toml", RULES)
    run = start(tool, "run", "-f", "rules.toml", "--", "sleep", "60")
    time.sleep(0.5)
    run.send_signal(signal.SIGTERM)
    out = run.communicate(timeout=20)[0].decode()
    assert run.returncode == 128 + signal.SIGTERM and "hotness: 0 matched" in out


def test_a_full_disk_is_no_success(added: Tool) -> None:
    with Path("/dev/full").open("w") as full:
        watch = start(added, "read", "hotness", "--all", stdout=full, stderr=subprocess.PIPE)
        assert watch.wait(20) == 1
    assert watch.stderr and b"could not be written" in watch.stderr.read()


# --- The build ----------------------------------------------------------------------------------


def test_builds_static_and_installs(tmp_path: Path) -> None:
    make = ["make", "-s", "-C", ROOT / "driver/tools", f"BUILD={tmp_path}/b", "CXXFLAGS=-O1"]
    subprocess.run([*make, "LDFLAGS=-static", "install", f"DESTDIR={tmp_path}/d", "PREFIX=/usr"],
                   check=True, timeout=900)  # fmt: skip
    installed = {str(p.relative_to(tmp_path / "d")) for p in (tmp_path / "d").rglob("*")
                 if p.is_file()}  # fmt: skip
    assert installed == {"usr/bin/anemonectl", "usr/share/man/man8/anemonectl.8",
                         "usr/share/man/man4/anemone.4",
                         "usr/lib/udev/rules.d/99-anemone.rules"}  # fmt: skip
    output = subprocess.run([tmp_path / "d/usr/bin/anemonectl", "list", "--json"],
                          capture_output=True, text=True, check=True, timeout=30)  # fmt: skip
    assert output.stdout.startswith("[")
