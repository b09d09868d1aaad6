# SPDX-License-Identifier: Apache-2.0
"""The README has the numbers of docs/results, and docs/ has the last pictures of the report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.sim.pictures import DOCS, MANIFEST, TAKEN, file_digest

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())

# Sentences of the README, with the study and the rows of their numbers.
SENTENCES = {
    "HeMem recovers in {:.0f} s on NEMO's counters; on samples in {:.0f} s (0.02 %), {:.0f} s "
    "(0.005 %) or {:.0f} s (0.1 %)": ("hemem", [
        f"recovery, {who}, queue"
        for who in ("NEMO", "PEBS at 0.02 %", "PEBS at 0.005 %", "PEBS at 0.1 %")
    ]),
    "is watched once in {:.1f} s": (
        "sweep", ["sweep, gib 16, pipelines 7, states 8192, width 64"]
    ),
    "for {:.3f} % of a processor by notifications; polling at 1 ms takes {:.0f} %": (
        "noisy-neighbour", ["store, queue, NEMO, interrupts: CPU", "store, queue, MBM, 1 ms: CPU"]
    ),
    "p99 is {:.1f} and {:.1f} % above that without a neighbour, unthrottled {:.1f} %": (
        "noisy-neighbour", [
            f"store, queue, {who}: p99 more than alone"
            for who in ("NEMO, interrupts", "MBM, 1 ms", "not throttled")
        ]
    ),
    "its p95 {:.1f} and {:.1f} %, unthrottled {:.1f} %": (
        "noisy-neighbour", [
            f"store, queue, {who}: p95 more than alone"
            for who in ("NEMO, interrupts", "MBM, 1 ms", "not throttled")
        ]
    ),
    "from {:.1f} to {:.1f} % in common mixes": ("memstrata", [
        f"Figure 10, the common mixes: the worst, {who}" for who in ("no software", "Memstrata")
    ]),
    "from {:.1f} to {:.1f} % with four outliers; with miss counters by tenant to {:.1f} %": (
        "memstrata", [
            f"Figure 12, four outliers: the worst, {who}"
            for who in ("no software", "Memstrata", "miss counters")
        ]
    ),
    "it is {:.1f} % without miss counters and {:.1f} % with them": ("memstrata", [
        f"Figure 13, machines that come and go: the worst, {who}"
        for who in ("Memstrata", "miss counters")
    ]),
}  # fmt: skip


def result(study: str) -> dict:
    text = (DOCS / "results" / study / "result.json").read_text(encoding="utf-8")
    return json.loads(text)


def rows(study: str) -> dict[str, dict]:
    return {row["what"]: row for row in result(study)["rows"]}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_results_are_the_studies(sentence: str) -> None:
    study, names = SENTENCES[sentence]
    found = rows(study)
    assert sentence.format(*(found[name]["here"] for name in names)) in README


def test_the_papers_numbers() -> None:
    found = [
        rows("hemem")[f"recovery, {who}, queue"]["paper"] for who in ("NEMO", "PEBS at 0.02 %")
    ]
    words = "The paper has {:.0f} s on NEMO's counters and {:.0f} s on samples of 0.02 %"
    assert words.format(*found) in README


def test_quick_runs_are_called_so() -> None:
    studies = {study for study, _ in SENTENCES.values()}
    quick = {study for study in studies if result(study)["quick"]}
    named = re.findall(r"of the simulator; (.*?) are quick runs", README)
    assert {name for names in named for name in re.split(", | and ", names)} == quick
    assert ("of the simulator, in full runs." in README) == (not quick)


def test_every_missed_bar_is_said() -> None:
    for page in ("performance.md", "cost.md"):
        lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
        for line in (line for line in lines if "**missed**" in line):
            for number in re.findall(r"\d+[,.]\d+|\d{3}", line.split("|", 2)[2]):
                assert number in README, line
    gain = rows("memtis")["silo, 1:8, queue: NEMO over PEBS"]
    bar = f"against sampling | wins {gain['here']:.0f} % | wins {gain['paper']:.0f} % |"
    assert bar in README


def test_full_rate() -> None:
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert re.search(r"^\| slots a cycle a channel: .*\| 1\.000 each, nothing lost \|", text, re.M)
    assert re.search(
        r"^\| latency added to a memory request, .*\| 2 cycles, 2 cycles \|", text, re.M
    )
    assert "one access a channel a cycle, nothing lost; a memory request waits 2 cycles" in README


def test_the_reports_pictures_are_those_taken() -> None:
    pictures = json.loads(MANIFEST.read_text(encoding="utf-8"))["pictures"]
    assert pictures == {name: file_digest(DOCS / name) for name in TAKEN}
    shown = README + (DOCS / "simulation.md").read_text(encoding="utf-8")
    assert all(f"{name})" in shown for name in TAKEN)
