# SPDX-License-Identifier: Apache-2.0
"""The command line of the vfio-user server, without the hardware."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from anemone.backends.rtl.simulators import VFIO

_MAIN = r"""
#include "options.h"
#include <iostream>
int main(int argc, char** argv) {
    const auto o = anemone::parseOptions(argc, argv, 1 << 30);
    std::cout << o.socket << "|" << o.control << "|" << o.ring << "|" << o.memory.base << "|"
              << o.memory.bytes << "\n";
}
"""
BOTH = "--socket a --control b"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options")
    (folder / "main.cpp").write_text(_MAIN)
    command = ["g++", "-std=c++17", f"-I{VFIO}", folder / "main.cpp", VFIO / "options.cpp"]
    subprocess.run([*command, "-o", folder / "options"], check=True)
    return folder / "options"


def run(program: Path, words: str) -> tuple[int, str, str]:
    done = subprocess.run([program, *words.split()], capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (BOTH, f"a|b||{0x40_8000_0000}|{1 << 30}"),
        ("--ring=c --control=b --socket=a", f"a|b|c|{0x40_8000_0000}|{1 << 30}"),
        (f"{BOTH} --memory decoder --ways 2", f"a|b||{0x40_8000_0000}|{2 << 30}"),
        (f"--host-base 0x10000000 --host-size 536870912 {BOTH}", f"a|b||{1 << 28}|{1 << 29}"),
    ],
)
def test_options(program: Path, words: str, options: str) -> None:
    assert run(program, words) == (0, options + "\n", "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "--socket and --control are needed"),
        ("--socket a", "--socket and --control are needed"),
        ("--socket a --control", "--control has no value"),
        (f"{BOTH} --speed 3", "no option --speed"),
        (f"{BOTH} --speed=3", "no option --speed=3"),
        (f"{BOTH} --host 3", "no option --host"),
        (f"{BOTH} --help=3", "no option --help=3"),
        (f"{BOTH} -xy", "no option -x"),
        (f"{BOTH} more", "no option more"),
        (f"{BOTH} --host-base 0x1000", '--host-base is "0x1000", not a multiple of 256 MiB'),
        (f"{BOTH} --host-base -268435456", '--host-base is "-268435456", not a multiple of 256'),
        (f"{BOTH} --memory all", '--memory is "all"; range, invalid, off, decoder'),
        (f"{BOTH} --ways 3", '--ways is "3", not a power of two from 1 to 16'),
        (f"{BOTH} --ways 2x", '--ways is "2x", not a power of two from 1 to 16'),
        (f"{BOTH} --granularity 128", '--granularity is "128", not a power of two from 256'),
        (f"{BOTH} --host-size much", '--host-size is "much", not a multiple of 256 MiB'),
        (f"{BOTH} --host-size 0x1000000000000000000", '000", not a multiple of 256 MiB'),
    ],
)
def test_what_is_wrong_ends_with_2(program: Path, words: str, says: str) -> None:
    status, out, error = run(program, words)
    assert (status, out) == (2, "")
    assert error.startswith("vfio: ") and says in error and error.count("\n") == 1


def test_help(program: Path) -> None:
    status, out, error = run(program, "--help")
    assert (status, error) == (0, "")
    for option in (
        "--socket", "--control", "--ring", "--host-base", "--host-size", "--memory", "--ways",
        "--granularity", "--telemetry-in-memory",
    ):  # fmt: skip
        assert option in out
