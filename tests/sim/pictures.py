# SPDX-License-Identifier: Apache-2.0
"""python -m tests.sim.pictures: makes the pictures of `anemone sim`'s report in docs/.

It takes them from build/sim/report.html in headless Chromium. docs/pictures.json has the digests of
the files, and of the report of the same traces on the golden model alone, which takes seconds. RTL
and model are equal, so the pictures change only if that report does.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from pathlib import Path

import pytest

from anemone.cli import main as anemone
from tests.sim.browser import Browser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SAMPLES = ROOT / "sim" / "traces"
MANIFEST = DOCS / "pictures.json"
REPORT = ROOT / "build" / "sim" / "report.html"
TAKEN = ("report.png", "simulation.png", "simulation-dark.png")

# Hides everything but one trace's section, and in it all pictures but the named ones, if any.
ONLY = """
(() => {
  const [trace, head, ...names] = %s;
  if (!head) document.querySelectorAll("header, footer").forEach((e) => e.remove());
  document.querySelectorAll("section").forEach((e) => { if (e.id !== trace) e.remove(); });
  if (names.length) {
    document.querySelectorAll(".pics > *").forEach((e) => {
      if (!names.some((name) => e.matches(`[data-picture$="-${name}"]`))) e.remove();
    });
    document.querySelectorAll("footer").forEach((e) => e.remove());
  }
  if (head === "short") {
    const flat = document.querySelector("header h2");
    while (flat.nextElementSibling) flat.nextElementSibling.remove();
    flat.remove();
  }
})()
"""
HOTTEST = """
(() => {
  const box = document.querySelector('[data-picture$="-hotness"] svg').getBoundingClientRect();
  return [box.left + box.width * 0.45, box.top + box.height * 0.183];
})()
"""


def digest(page: str) -> str:
    """A digest of a report without speeds, which depend on the machine."""
    return hashlib.sha256(re.sub(r">[\d.]+(?: [kMG])?<", "><", page).encode()).hexdigest()


def report(out: Path, traces: Path, *options: str) -> Path:
    """The report of `anemone sim` on these traces."""
    with pytest.raises(SystemExit) as stop:
        anemone(["sim", *options, "--traces", str(traces), "--out", str(out)])
    assert stop.value.code == 0, "RTL, model and a plain count of the trace are not equal"
    return out / "report.html"


def model_page(out: Path) -> Path:
    """The report of the samples on the golden model."""
    return report(out, SAMPLES, "--engine", "model")


def file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def take(page: Path) -> None:
    """Take the pictures from the report of the samples on both engines."""
    shots = (
        (TAKEN[0], False, ["kvstore", "short", "hotness", "hotset"]),
        (TAKEN[1], False, ["kvstore", "all"]),
        (TAKEN[2], True, ["stream", "", "hotness", "bandwidth"]),
    )
    for name, dark, what in shots:
        with tempfile.TemporaryDirectory() as profile, Browser(Path(profile), dark) as tab:
            tab.open(page, 1240, 1150)  # resizing would hide the tooltip
            tab.run(ONLY % json.dumps(what))
            if dark:
                tab.move_to(*tab.run(HOTTEST))
            tab.screenshot(DOCS / name)


def main() -> None:
    take(REPORT)
    with tempfile.TemporaryDirectory() as folder:
        page = model_page(Path(folder)).read_text(encoding="utf-8")
    manifest = {
        "page": digest(page),
        "pictures": {name: file_digest(DOCS / name) for name in TAKEN},
    }
    MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
