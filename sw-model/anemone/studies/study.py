# SPDX-License-Identifier: Apache-2.0
"""The base of studies: points that run independently, and an evaluation of their answers.

Points and answers are JSON. Each answer is kept in a file named by a hash of its point, so that an
interrupted study continues where it stopped.
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
# Progress callback: (points done, all points, estimated seconds left).
ReportProgress = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Row:
    """A row of the table: the paper's number (None without one), ours, and why they differ."""

    what: str
    unit: str
    paper: float | None
    here: float
    why: str = ""


@dataclass(frozen=True)
class Found:
    """A study's results. pictures: by file name without suffix. notes: paragraphs of the page."""

    rows: list[Row]
    pictures: dict[str, Markup] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)


class Study(ABC):
    """One experiment. title, about: heading and description of its page.

    If NEMO counts in a point, its field `engine` is "model" or "rtl".
    """

    title = ""
    about = ""

    @abstractmethod
    def points(self, quick: bool, seed: int) -> list[Point]:
        """The points to run."""

    @abstractmethod
    def run(self, point: Point) -> dict[str, Any]:
        """The answer of a point; may be called in another process."""

    @abstractmethod
    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        """Evaluate all answers, which are in the points' order."""


def answers(
    study: Study,
    points: list[Point],
    folder: Path,
    workers: int,
    progress: ReportProgress | None = None,
    scheduler: str | None = None,
) -> list[tuple[Point, dict[str, Any]]]:
    """All answers. Points without an answer in `folder` are run, and each answer is kept at once.

    workers: number of local processes; with one and no scheduler, points run in this process.
    scheduler: address of a cluster (cluster.spread). progress: called after each answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [kept_at(folder, type(study).__module__, point) for point in points]
    todo = {i: points[i] for i, path in enumerate(paths) if not path.exists()}
    started = time.perf_counter()
    for done, (i, answer) in enumerate(_run(study, todo, workers, scheduler), 1):
        keep(paths[i], answer)
        if progress:
            left = (time.perf_counter() - started) / done * (len(todo) - done)
            progress(len(points) - len(todo) + done, len(points), left)
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
    """The file of an answer, named by a hash of the point and the study's source."""
    source = Path(import_module(module).__file__ or "").read_bytes()
    asked = source + b"\0" + json.dumps(point, sort_keys=True).encode()
    return folder / f"{hashlib.sha256(asked).hexdigest()[:24]}.json"


def keep(path: Path, answer: dict[str, Any]) -> None:
    """Write an answer atomically, also if several processes write it at the same time."""
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(answer), encoding="utf-8")
    temporary.replace(path)


def read_kept(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def result(name: str, seed: int, quick: bool, found: Found) -> dict[str, Any]:
    """The content of result.json."""
    return {
        "study": name,
        "seed": seed,
        "quick": quick,
        "rows": [asdict(row) for row in found.rows],
        "constants": found.constants,
    }
