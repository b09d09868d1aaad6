# SPDX-License-Identifier: Apache-2.0
"""What a study is: points that are run one by one, and what is made of their answers.

A point is plain JSON, and so is its answer. Each answer is kept in a file when it is there, by what
was asked, so that a study that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

Point = dict[str, Any]
# Called with the points done, those there are, and the seconds that are left.
Told = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Row:
    """A number: of a paper, None where it has none, and here; why they differ, where they do."""

    what: str
    unit: str
    paper: float | None
    here: float
    why: str = ""


@dataclass(frozen=True)
class Found:
    """What a study found. pictures: by the file's name without its suffix. notes: for its page."""

    rows: list[Row]
    pictures: dict[str, Markup] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)


class Study(ABC):
    """One experiment. title: of its page. about: what it does, where the paper has it.

    A point in which NEMO counts has `engine`, "model" or "rtl": whose pipelines do.
    """

    title = ""
    about = ""

    @abstractmethod
    def points(self, quick: bool, seed: int) -> list[Point]:
        """What is to be run."""

    @abstractmethod
    def run(self, point: Point) -> dict[str, Any]:
        """The answer of a point; called in another process."""

    @abstractmethod
    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        """What all answers say, in the points' order."""


def answers(
    study: Study,
    points: list[Point],
    folder: Path,
    workers: int,
    told: Told | None = None,
    scheduler: str | None = None,
) -> list[tuple[Point, dict[str, Any]]]:
    """Run the points whose answers are not in `folder` yet, and put them there, each at once.

    workers: processes at a time, here; with one and no scheduler, this process. scheduler: of a
    cluster (cluster.spread). A worker that dies loses nothing that was answered.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [kept_at(folder, type(study).__module__, point) for point in points]
    todo = {i: points[i] for i, path in enumerate(paths) if not path.exists()}
    started = time.perf_counter()
    for done, (i, answer) in enumerate(_run(study, todo, workers, scheduler), 1):
        keep(paths[i], answer)
        if told:
            left = (time.perf_counter() - started) / done * (len(todo) - done)
            told(len(points) - len(todo) + done, len(points), left)
    return [(point, read_kept(path)) for point, path in zip(points, paths, strict=True)]


def _run(
    study: Study, todo: dict[int, Point], workers: int, scheduler: str | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    if todo and (workers > 1 or scheduler):
        from anemone.studies.cluster import spread

        yield from spread(study, todo, workers, scheduler)
        return
    for i, point in todo.items():
        yield i, study.run(point)


def kept_at(folder: Path, module: str, point: Point) -> Path:
    """Where an answer is kept: by what is asked, and by which module's program."""
    source = Path(import_module(module).__file__ or "").read_bytes()
    asked = source + b"\0" + json.dumps(point, sort_keys=True).encode()
    return folder / f"{hashlib.sha256(asked).hexdigest()[:24]}.json"


def keep(path: Path, answer: dict[str, Any]) -> None:
    """All of an answer or nothing is there, whoever else keeps it at the same time."""
    aside = path.with_suffix(f".{os.getpid()}")
    aside.write_text(json.dumps(answer), encoding="utf-8")
    aside.replace(path)


def read_kept(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def result(name: str, seed: int, quick: bool, found: Found) -> dict[str, Any]:
    """The contents of result.json."""
    return {
        "study": name,
        "seed": seed,
        "quick": quick,
        "rows": [asdict(row) for row in found.rows],
        "constants": found.constants,
    }
