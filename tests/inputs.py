# SPDX-License-Identifier: Apache-2.0
"""The inputs of a test's verdict: the Python that it imports, and files that it names."""

from __future__ import annotations

import ast
import hashlib
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Where our packages are, by the first part of their names.
PACKAGES = {"anemone": ROOT / "sw-model", "tests": ROOT, "fpga": ROOT, "mk": ROOT,
            "examples": ROOT}  # fmt: skip
# For so long a list of files is good; what is in them is looked at each time.
FRESH_NS = 10 * 10**9
# Pins of every tool that is not the system's.
TOOLS = ("requirements.lock", "mk/verilator.sh", "mk/packages.txt", "pyproject.toml")


def imported(module: Path) -> frozenset[Path]:
    """A test module, all of ours that it imports, however deep, and what else is in its folder or
    beside the packages' modules: benches, which a simulator imports by their names, templates,
    scripts and programs of a guest. Not the other test modules."""
    below = [path for path in module.parent.rglob("*") if path.is_file()]
    found = {path for path in below if _is_data(path)}
    todo = [path for path in below if path.suffix == ".py" and not path.name.startswith("test_")]
    todo += [module, *_above(module, "conftest.py")]
    while todo:
        path = todo.pop()
        if path not in found and path.is_file():
            found.add(path)
            todo += _named(path, _state(path))
            if path.name == "__init__.py":
                found.update(p for p in path.parent.iterdir() if p.is_file() and _is_data(p))
    return frozenset(found)


def _is_data(path: Path) -> bool:
    return path.suffix not in (".py", ".pyc") and not path.name.startswith(".")


def _above(module: Path, name: str) -> Iterator[Path]:
    for folder in module.parents:
        if ROOT in (folder, *folder.parents):
            yield folder / name


def _state(path: Path) -> tuple[int, int]:
    """Differs when the file has been written: what is known of it is asked anew then."""
    now = path.stat()
    return now.st_mtime_ns, now.st_size


@cache
def _named(path: Path, state: tuple[int, int]) -> tuple[Path, ...]:
    """The files that a module's imports may mean; not all of them need exist."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(file for name in sorted(names) for file in _files(name))


def _files(name: str) -> Iterator[Path]:
    parts = name.split(".")
    base = PACKAGES.get(parts[0])
    if base is None:
        return
    for i in range(1, len(parts) + 1):
        place = base.joinpath(*parts[:i])
        yield place / "__init__.py"
        yield place.with_suffix(".py")


@cache
def _content(path: Path, state: tuple[int, int]) -> str:
    return f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def digest(module: Path, patterns: Iterable[str], words: Iterable[str]) -> str:
    """Of a test module and all that it imports, files by patterns from the root, and words."""
    files = _files_of(module, tuple(patterns), time.monotonic_ns() // FRESH_NS)
    lines = sorted(_content(path, _state(path)) for path in files if path.is_file())
    return hashlib.sha256("\n".join([*lines, *words]).encode()).hexdigest()


@cache
def _files_of(module: Path, patterns: tuple[str, ...], now: int) -> frozenset[Path]:
    found = set(imported(module)) | {ROOT / name for name in TOOLS}
    for pattern in patterns:
        found.update(path for path in ROOT.glob(pattern) if path.is_file())
    return frozenset(found)
