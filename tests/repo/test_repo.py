# SPDX-License-Identifier: Apache-2.0
"""Rules for every file of the repository."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from mk.regs import generated

ROOT = Path(__file__).resolve().parents[2]

# Program and build files that people write: no data, prose or generated files.
SOURCE = {
    ".awk", ".c", ".cc", ".cpp", ".css", ".h", ".hpp", ".html", ".js", ".mk", ".py", ".rdl", ".sc",
    ".scala", ".sh", ".sv", ".toml", ".v", ".vlt",
}  # fmt: skip
SOURCE_NAMES = {"Makefile", "mill", "run", ".clang-format", ".scalafmt.conf"}
DATA = {".lock", ".parquet", ".png", ".svg", ".csv"}
MAX_LINES = 500

# With ~ inside, so that this file does not contain the text that it searches for.
HOSTS = ["pypi.~org", "python~hosted.org", "repo.~maven", "repo1.~maven", "npm~js.", "crates.~io"]
HOSTS += ["deb.debian.~org", "archive.ubuntu.~com", "-index~-url", "-find~-links", "trusted~-host"]
REGISTRIES = re.compile("|".join(re.escape(host.replace("~", "")) for host in HOSTS))


@cache
def files() -> list[Path]:
    """Files that git tracks, and new ones that it does not ignore."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


@cache
def texts() -> dict[str, str]:
    """Text of every file that is not data, by its path from the root."""
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in files()
        if path.suffix not in DATA - {".lock"}
    }


def test_sources_say_their_licence() -> None:
    without = [
        name
        for name, text in texts().items()
        if (Path(name).suffix in SOURCE or Path(name).name in SOURCE_NAMES)
        and not re.search(r"SPDX-License-Identifier: \S", "\n".join(text.splitlines()[:3]))
    ]
    assert not without


def test_no_file_is_long() -> None:
    """Except files generated from the register map, which grow with it, and those of studies."""
    generated_ones = {*generated(), *(n for n in texts() if n.endswith("/result.json"))}
    lengths = {n: text.count("\n") for n, text in texts().items() if n not in generated_ones}
    written = {n: k for n, k in lengths.items() if Path(n).suffix not in DATA and n != "LICENSE"}
    assert {n: k for n, k in written.items() if k > MAX_LINES} == {}


def test_no_registry_is_named() -> None:
    named = {
        f"{name}:{number}": line
        for name, text in texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if REGISTRIES.search(line)
    }
    assert not named


def test_links_lead_somewhere() -> None:
    broken = []
    for name, text in texts().items():
        if not name.endswith(".md"):
            continue
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            path, _, anchor = target.partition("#")
            if "://" in path:
                continue
            there = (ROOT / name).parent / path if path else ROOT / name
            known = anchors(there) if there.suffix == ".md" and there.exists() else {anchor}
            if not there.exists() or (anchor and anchor not in known):
                broken.append(f"{name}: {target}")
    assert not broken


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def requirements() -> list[str]:
    """Names in requirements.in."""
    lines = (line.split("#")[0].strip() for line in texts()["requirements.in"].splitlines())
    return [re.split(r"[=<>~!\[; ]", line)[0] for line in lines if line]


def test_lock_is_of_the_requirements() -> None:
    entries = re.split(r"\n(?=\S)", texts()["requirements.lock"].strip())
    pins = {entry.split("==")[0]: entry for entry in entries if not entry.startswith("#")}
    assert set(requirements()) <= set(pins)
    assert [name for name, pin in pins.items() if "--hash=sha256:" not in pin] == []


@pytest.mark.parametrize("name", requirements())
def test_dependencies_are_explained(name: str) -> None:
    assert re.search(rf"\b{re.escape(name)}\b", texts()["docs/dependencies.md"])


def test_the_update_stage_is_drawn_with_its_names() -> None:
    """Names in docs/update-stage.svg, those with a capital inside, exist in the sources."""
    picture = (ROOT / "docs" / "update-stage.svg").read_text()
    drawn = re.findall(r'<text class="(\w+)"[^>]*>([^<]*)<', picture)
    named = {name for _, text in drawn for name in re.findall(r"\b\w+[A-Z]\w*|\bforward\d", text)}
    sources = " ".join(t for name, t in texts().items() if name.startswith("hw/src/nemo/"))
    assert {f"forward{n}" for n in range(1, 5)} < named
    assert not named - set(re.findall(r"\w+", sources))
