# SPDX-License-Identifier: Apache-2.0
"""Which machines lose more than 5 %, by what perf counts of their cores (Memstrata §4.2).

Misses of near memory are not counted by core: their ratio is a line over the L3 miss latency of
demand loads. It and four more metrics are what a random forest decides by.
"""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from anemone.io.errors import Bare, InputError

ROOT = Path(__file__).resolve().parents[3]
LOCK = Path(__file__).with_name("forest.lock")
SLOW = 0.05  # an outlier loses more (§3.2)
TREES = 100  # §4.2
EWMA = 0.2  # §4.3
# What is measured of a machine: ns of demand loads that miss, L2 misses and requests of memory in a
# thousand instructions.
METRICS = ("l3_ns", "l2_ns", "tlb_ns", "l2_mpki", "requests")
FEATURES = ("mpki", "l3_ns", "l2_ns", "tlb_ns", "l2_mpki")  # mpki: estimated
CAPTURED = "forest, captured programs"  # a score
_DRAWS = 1000  # of the bootstrap
# Called with what forest.py takes; what it says.
Ask = Callable[[dict[str, Any]], list[list[float]]]


@dataclass(frozen=True)
class Sample:
    """What a program did at one place. miss_ratio: of near memory; slowdown: over local memory.
    captured: a real one, which scores tell apart."""

    program: str
    metrics: dict[str, float]
    miss_ratio: float
    slowdown: float
    captured: bool = False

    @property
    def outlier(self) -> bool:
        return self.slowdown > SLOW

    @property
    def has_latency(self) -> bool:
        """Whether a demand load missed the L3."""
        return self.metrics["l3_ns"] > 0


@dataclass(frozen=True)
class Line:
    """The miss ratio by the L3 miss latency."""

    slope: float
    intercept: float

    @staticmethod
    def through(samples: Sequence[Sample]) -> Line:
        """By least squares, of those that have a latency; level where all have one."""
        some = [s for s in samples if s.has_latency] or samples
        at = np.array([s.metrics["l3_ns"] for s in some])
        ratio = np.array([s.miss_ratio for s in some])
        spread = at.var()
        slope = float(np.mean((at - at.mean()) * (ratio - ratio.mean())) / spread) if spread else 0
        return Line(slope, float(ratio.mean() - slope * at.mean()))

    def ratio(self, l3_ns: float) -> float:
        return min(1.0, max(0.0, self.slope * l3_ns + self.intercept))


@dataclass(frozen=True)
class Score:
    """On samples of programs that were not trained on; fractions. low, high: of the accuracy, 95 %
    by a bootstrap over programs. precision, recall: None where nothing is (called) an outlier."""

    accuracy: float
    low: float
    high: float
    precision: float | None
    recall: float | None


@dataclass(frozen=True)
class Trained:
    """scores: of the forest, of one on mpki alone, of the class that most have; and of the forest
    on captured programs, where there are some. r2: Figure 9."""

    line: Line
    scores: dict[str, Score]
    r2: dict[str, float]
    training: tuple[str, ...]
    validation: tuple[str, ...]


def features(metrics: dict[str, float], miss_ratio: float) -> list[float]:
    """In the order of FEATURES. miss_ratio: by a line, or as it is."""
    return [miss_ratio * metrics["requests"], *(metrics[name] for name in FEATURES[1:])]


def smoothed(rows: Sequence[Sequence[float]], alpha: float = EWMA) -> list[list[float]]:
    """The moving average of each column, which begins with the first row."""
    found: list[list[float]] = []
    for row in rows:
        before = found[-1] if found else row
        found.append(
            [alpha * new + (1 - alpha) * old for new, old in zip(row, before, strict=True)]
        )
    return found


def halves(samples: Sequence[Sample], seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Programs to train on, and to validate with: all samples of one are in the same half."""
    programs = sorted({s.program for s in samples})
    order = np.random.default_rng(seed).permutation(len(programs))
    split = len(programs) // 2
    mixed = [programs[i] for i in order]
    return tuple(sorted(mixed[:split])), tuple(sorted(mixed[split:]))


def train(
    samples: Sequence[Sample], folder: Path, seed: int, ask: Ask, file: object,
    counted: bool = False,
) -> Trained:  # fmt: skip
    """A forest in `folder`/model.onnx. Raises InputError where the samples do not do.

    counted: its miss ratio is the samples', as where NEMO counts it; else a line's.
    """
    training, validation = halves(samples, seed)
    known = [s for s in samples if s.program in training]
    new = [s for s in samples if s.program in validation]
    if len({s.outlier for s in known}) < 2:
        what = Bare(f"all {'above' if known and known[0].outlier else 'at most'} {SLOW:g}")
        allowed = "some above it and some not, in the half that is trained on (--seed draws it)"
        raise InputError(file, "samples", "slowdown", what, allowed)
    line = Line.through(known)

    def row(s: Sample) -> list[float]:
        return features(s.metrics, s.miss_ratio if counted else line.ratio(s.metrics["l3_ns"]))

    rows, asked = ([row(s) for s in some] for some in (known, new))
    outlier = [s.outlier for s in known]
    whole, alone = str(folder / "model.onnx"), str(folder / "mpki.onnx")
    request = {
        "trees": TREES,
        "seed": seed,
        "train": [
            {"out": whole, "rows": rows, "outlier": outlier},
            {"out": alone, "rows": [row[:1] for row in rows], "outlier": outlier},
        ],
        "ask": [
            {"model": whole, "rows": asked},
            {"model": alone, "rows": [row[:1] for row in asked]},
        ],
    }
    by_all, by_mpki = ask(request)
    Path(alone).unlink(missing_ok=True)
    majority = 2 * sum(outlier) > len(outlier)
    predictions = {
        "forest": [share > 0.5 for share in by_all],
        "mpki alone": [share > 0.5 for share in by_mpki],
        "majority": [majority] * len(new),
    }
    scores = {name: score(new, called, seed) for name, called in predictions.items()}
    apart = [
        (s, called) for s, called in zip(new, predictions["forest"], strict=True) if s.captured
    ]
    if apart:
        scores[CAPTURED] = score([s for s, _ in apart], [called for _, called in apart], seed)
    return Trained(line, scores, _figure_9(samples), training, validation)


def score(samples: Sequence[Sample], predicted_outlier: Sequence[bool], seed: int) -> Score:
    """How well `predicted_outlier` agrees with the measured slowdowns."""
    truth = np.array([s.outlier for s in samples])
    predicted = np.array(predicted_outlier)
    right = truth == predicted
    hit = int(np.sum(truth & predicted))
    programs = {p: i for i, p in enumerate(sorted({s.program for s in samples}))}
    at = np.array([programs[s.program] for s in samples])
    counts = np.bincount(at, minlength=len(programs))
    correct = np.bincount(at, weights=right, minlength=len(programs))
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(programs), (_DRAWS, len(programs)))
    low, high = np.percentile(correct[drawn].sum(1) / counts[drawn].sum(1), [2.5, 97.5])
    return Score(
        float(right.mean()), float(low), float(high),
        hit / int(predicted.sum()) if predicted.any() else None,
        hit / int(truth.sum()) if truth.any() else None,
    )  # fmt: skip


def _figure_9(samples: Sequence[Sample]) -> dict[str, float]:
    """r² of slowdown over MPKI as it is, and of the miss ratio over the L3 miss latency."""

    def r2(a: list[float], b: list[float]) -> float:
        return float(np.corrcoef(a, b)[0, 1] ** 2) if a and np.std(a) and np.std(b) else 0.0

    def of_latency(some: Sequence[Sample]) -> float:
        return r2([s.metrics["l3_ns"] for s in some], [s.miss_ratio for s in some])

    return {
        "mpki and slowdown": r2(
            [s.miss_ratio * s.metrics["requests"] for s in samples], [s.slowdown for s in samples]
        ),
        "L3 miss latency and miss ratio": of_latency(samples),
        "the same, where demand loads miss": of_latency([s for s in samples if s.has_latency]),
    }


def classify(model: Path, rows: Sequence[Sequence[float]], ask: Ask) -> list[float]:
    """The share of the forest's trees that take each row of FEATURES for an outlier."""
    request = {"trees": TREES, "seed": 0, "train": [], "ask": [{"model": str(model), "rows": rows}]}
    return ask(request)[0]


class ForestError(RuntimeError):
    """The packages cannot be installed, or a model cannot be read."""


def ask(request: dict[str, Any]) -> list[list[float]]:
    """forest.py, in its own environment, which is made at first; it stays for the next request.

    Raises ForestError.
    """
    process, errors = _forests()
    assert process.stdin and process.stdout
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
    if answer := process.stdout.readline():
        return json.loads(answer)
    _forests.cache_clear()
    status = process.wait()
    errors.seek(0)
    raise ForestError(f"forest.py: {_last(errors.read(), status)}")


@functools.cache
def _forests() -> tuple[subprocess.Popen[str], IO[str]]:
    """It ends when its input does, with this process. Beside it what it complains of."""
    words = [str(ROOT / "mk/synth-tools.sh"), "memstrata", str(LOCK.relative_to(ROOT))]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ForestError(f"synth-tools.sh: {_last(done.stderr, done.returncode)}")
    python = ROOT / ".venv-synth/memstrata/bin/python"
    errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
    process = subprocess.Popen(
        [str(python), str(Path(__file__).with_name("forest.py"))],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
    )  # fmt: skip
    return process, errors


def _last(errors: str, status: int) -> str:
    return (errors.strip().splitlines() or [f"status {status}"])[-1]
