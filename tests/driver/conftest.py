# SPDX-License-Identifier: Apache-2.0
"""Builds anemonectl with sanitizers, for devices that are files (driver/tools/test)."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from anemone.io.build_cache import locked

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "anemonectl-test"
SANITIZERS = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"

RULES = """\
[[rule]]
name = "hotness"
type = "RW"
range = [0x0, 0x4000_0000]
primary = { mask = "0xFFFFFFFFFFFFFFFF", shift = 21 }
update = { op = "add", operand = 1 }
read_effect = { op = "reset", value = 0 }
map = "identity"

[[rule]]
name = "skew"
type = "RW"
range = [0x0, 0x4000_0000]
primary = { mask = "0xFFFFFFFFFFFFFFFF", shift = 21 }
sub = { mask = 0x1F_F000, shift = 12 }
update = { op = "add", operand = 1 }
read_effect = { op = "reset", value = 0 }
map = [[17, 0], [83, 512]]
"""


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder of anemonectl-fake and fake-access."""
    with locked(BUILD):  # two workers of pytest may build at once
        BUILD.mkdir(exist_ok=True)
        command = ["make", "-s", "-C", ROOT / "driver/tools", "test-device", f"BUILD={BUILD}"]
        subprocess.run([*command, f"CXXFLAGS={SANITIZERS}"], check=True, timeout=900)
    return BUILD


@dataclass
class Result:
    """Output and exit status of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@dataclass
class Tool:
    """anemonectl for a user with devices in a folder."""

    build: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.devices = self.folder / "dev"
        self.runtime = self.folder / "run"
        for folder in (self.devices, self.runtime):
            folder.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "ANEMONE_FAKE": str(self.devices),
            "XDG_RUNTIME_DIR": str(self.runtime),
            # The system frees a process's memory at its end, so leaks do not matter.
            "ASAN_OPTIONS": "detect_leaks=0:exitcode=99",
            "UBSAN_OPTIONS": "exitcode=99",
        }

    def __call__(self, *words: object, stdin: str | bytes = "", **more: str) -> Result:
        done = subprocess.run(
            [self.build / "anemonectl-fake", *map(str, words)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True, timeout=60, check=False, cwd=self.folder,
            env=self.environment | more,
        )  # fmt: skip
        assert done.returncode != 99, done.stderr.decode()
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def good(self, *words: object, stdin: str | bytes = "") -> Result:
        """Run a command that must succeed."""
        result = self(*words, stdin=stdin)
        assert result.code == 0, result.err
        return result

    def device(self, *words: object, number: int = 0) -> None:
        """Runs fake-access: `new`, or accesses to a device's memory."""
        command = [self.build / "fake-access", self.devices / f"anemone{number}", *map(str, words)]
        subprocess.run(command, check=True, timeout=60, env=self.environment)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def tool(build: Path, tmp_path: Path):
    """The tool with one device; its holder process ends with the test."""
    tool = Tool(build, tmp_path)
    tool.device("new")
    yield tool
    tool("rm", "--all")


@pytest.fixture
def added(tool: Tool) -> Tool:
    """The tool with the rules above added."""
    tool.good("add", "-f", tool.write("rules.toml", RULES))
    return tool


def start(tool: Tool, *words: str, **more) -> subprocess.Popen:
    return subprocess.Popen([tool.build / "anemonectl-fake", *words], env=tool.environment,
                            cwd=tool.folder, **({"stdout": subprocess.PIPE} | more))  # fmt: skip
