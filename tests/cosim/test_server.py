# SPDX-License-Identifier: Apache-2.0
"""The server without a guest: its command line, its control socket, and that it sleeps."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from anemone.cosim import CosimError, Server, rows
from anemone.cosim.function import CONTROL, TELEMETRY, Function
from anemone.cosim.server import build_server
from anemone.hardware import registers
from anemone.hardware.geometry import Geometry


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "--socket and --control are needed"),
        ("--socket a --control", "--control has no value"),
        ("--socket a --control b --speed 3", "no option --speed"),
        (
            "--socket a --control b --host-base 0x1000",
            '--host-base is "0x1000", not a multiple of 256 MiB',
        ),
        ("--socket a --control b --host-size much", '--host-size is "much", not a'),
    ],
)
def test_a_wrong_command_line_ends_with_2(words: str, says: str) -> None:
    program = build_server(Geometry())
    done = subprocess.run([program, *words.split()], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and says in done.stderr


def test_a_socket_that_cannot_be_made(tmp_path: Path) -> None:
    path = tmp_path / "none" / "socket"
    command = [build_server(Geometry()), "--socket", path, "--control", tmp_path / "control"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and str(path) in done.stderr


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", 'no command ""; there are access,'),
        ("acces 1 0", "no command"),
        ("access x 0", '"x", not a number'),
        ("access -1 0", '"-1", not a number'),
        ("access 0x400000000 0", "the device has 17179869184 bytes"),
        ("access 0 2", "write is 0 or 1"),
        ("trace /no/such/trace", "/no/such/trace: No such file"),
        ("fault some", 'no fault "some"; there are none,'),
        ("fault spurious 9", "there is no vector 9"),
        ("fault spurious", "not a number"),
        ("fault sideband 0x400000000", "the device has 17179869184 bytes"),
        ("fault sideband 0", "there is no near memory"),
    ],
)
def test_a_wrong_command_is_answered_so(running: Server, line: str, says: str) -> None:
    with pytest.raises(CosimError) as caught:
        running.command(line)
    assert says in str(caught.value)
    assert running.status()["events"] == 0


def test_a_trace_past_the_end_is_refused_whole(running: Server) -> None:
    addresses = np.array([0, 64, 1 << 34], dtype=np.uint64)
    with pytest.raises(CosimError, match="row 2 is past the device's end"):
        running.inject(rows(addresses))
    assert running.status()["events"] == 0


def test_accesses_are_counted_and_a_reset_keeps_count() -> None:
    with Server() as server:
        server.command("access 0x40 1")
        server.inject(rows(np.arange(0, 64 * 5000, 64), 1))
        server.inject(rows(np.array([], dtype=np.uint64)))
        server.start(rows(np.arange(0, 64 * 5000, 64)))
        server.command("reset")  # A reset during accesses: they continue after it.
        server.wait()
        server.command("settle")
        status = server.status()
    assert status["events"] == 10_001
    assert (status["delivered"], status["pending"]) == (0, [])


def test_a_write_beside_the_guests_own() -> None:
    # AXI allows the address of a write to be accepted a cycle before its data.
    accesses = np.arange(0, 64 * 200, 64)
    with Server() as server:
        function = Function(server)
        for turn in range(50):
            server.start(rows(accesses, 1))
            if turn % 4 == 3:  # what was not accepted before the reset is accepted after it
                function.write(CONTROL, registers.QUIESCE.offset, [1])
            if turn % 2:
                server.command("reset")
            window = int(function.read(CONTROL, registers.WINDOW.offset, 1)[0])
            region = max(server.geometry.device_bytes, 4 * window)
            function.write(CONTROL, registers.EFFECT_WINDOW.offset, [region | 1])
            function.write(TELEMETRY, 64 * turn, [0] * 8)  # no window accepts this write: dropped
            server.wait()
        function.close()
        assert server.status()["events"] == 50 * len(accesses)


@pytest.mark.parametrize("ring", [False, True])
def test_it_sleeps_when_there_is_nothing_to_do(ring: bool) -> None:
    with Server(ring=ring) as server:
        server.command("access 0 0")
        before, after = 0, 1
        deadline = time.monotonic() + 60
        while before != after and time.monotonic() < deadline:
            before = server.status()["cycles"]
            time.sleep(0.5)
            after = server.status()["cycles"]
    # It has run for as long as a clear takes, and no longer.
    assert before == after and 30_000 < after < 100_000
