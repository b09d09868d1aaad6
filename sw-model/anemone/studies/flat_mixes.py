# SPDX-License-Identifier: Apache-2.0
"""The workloads and policies of mixes of six machines (Memstrata §6.1).

Workloads are drawn from those that no forest was trained on. Outliers are classified by profiles
alone, with a third dedicated; the allocator's results were not used for any choice.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from operator import itemgetter
from pathlib import Path

import numpy as np

from anemone.io.build_cache import locked
from anemone.memstrata.judges import Forest
from anemone.memstrata.outliers import METRICS, SLOW, Line, Sample, ask, halves, train
from anemone.studies.flat_samples import grid, samples
from anemone.studies.flat_slowdown import STUDY
from anemone.studies.flat_workloads import PROGRAM
from anemone.studies.mixes import Job, Policy
from anemone.studies.profiles import LOCAL_ONLY, MIXED, PAGE_BITS, profile, slowdown
from anemone.studies.study import Point, keep, read_kept
from anemone.studies.surfaces import Surface, surface

FORESTS = Path("build/studies/forests")
# §6.1's kinds. "Data" is big data there; databases and key-value stores are data here, too.
KINDS = {
    "web": ("web",),
    "data": ("database", "big data", "key-value"),
    "others": ("machine learning", "graph", "science"),
}
OUTLIER, CHANGING = "outlier", "changing"
MIXES = {  # §6.1; the machines of Figure 12 that it does not name are web and data in turn
    "web-heavy": ("web",) * 4 + ("data", OUTLIER),
    "data-heavy": ("web",) + ("data",) * 4 + (OUTLIER,),
    "balanced": ("web",) * 2 + ("data",) * 2 + ("others", OUTLIER),
    "two outliers": ("web", "data") * 2 + (OUTLIER,) * 2,
    "four outliers": ("web", "data") + (OUTLIER,) * 4,
    # Not in the paper: two machines alternate between an outlier's workload and a calm one.
    "changing": ("web", "data") * 2 + (CHANGING,) * 2,
}
_DRAWS = 8  # most draws of a mix
_TURN = 100.0  # seconds of each of their phases on local memory
_WORK = (60.0, 240.0)  # seconds of a job on local memory if machines come and go; an assumption
COUNTED = "miss counters"
POLICIES = ("no software", "Memstrata", COUNTED, "oracle")


def forest(counted: bool, quick: bool, seed: int) -> Forest:
    """Trained once on half of the programs; counted: on misses as NEMO counts them."""
    known = _samples(quick, seed)
    text = json.dumps([[asdict(s) for s in known], counted, seed], sort_keys=True)
    folder = FORESTS / hashlib.sha256(text.encode()).hexdigest()[:24]
    line = folder / "line.json"
    with locked(folder):  # two workers of a study may train at once
        if not line.exists():
            folder.mkdir(exist_ok=True)
            keep(line, asdict(train(known, folder, seed, ask, "profiles", counted).line))
    model = (folder / "model.onnx").resolve()
    return Forest(model, None if counted else Line(**read_kept(line)), ask)


@functools.cache
def _samples(quick: bool, seed: int) -> tuple[Sample, ...]:
    return tuple(
        Sample(
            s["program"], {m: s[m] for m in METRICS}, s["miss_ratio"], s["slowdown"], s["captured"]
        )
        for s in samples(quick, seed)
    )


def policy(name: str, quick: bool, seed: int, **changed: float) -> Policy:
    """One of POLICIES; changed: parameters of the loop."""
    if name == "no software":
        return Policy()
    if name == "oracle":
        return Policy(oracle=True, **changed)
    return Policy(judge=forest(name == COUNTED, quick, seed), **changed)


@functools.cache
def choice(quick: bool, seed: int) -> dict[str, list[Point]]:
    """The workloads for mixes by kind; those that are slowed are outliers. They are of the programs
    for validation; a quick run has too few of these, and takes all."""
    _, unseen = halves(_samples(quick, seed), seed)
    some = [
        workload
        for i, workload in enumerate(STUDY.points(quick, seed))
        if workload["category"] != PROGRAM and (quick or f"{workload['category']} {i}" in unseen)
    ]
    slowed = [(slowdown(*profile(w, [MIXED, LOCAL_ONLY])), w) for w in some]
    by = itemgetter(0)
    found = {OUTLIER: [w for s, w in slowed if s > SLOW] or [max(slowed, key=by)[1]]}
    for kind, of in KINDS.items():
        alike = [(s, w) for s, w in slowed if w["category"] in of]
        found[kind] = [w for s, w in alike if s <= SLOW] or [min(alike, key=by)[1]]
    return found


class Draw:
    """The jobs of a mix, and the successors of each, which do not depend on time. ends: whether
    jobs end."""

    def __init__(self, kinds: Sequence[str], quick: bool, seed: int, number: int, ends: bool):
        self._of, self._ends = choice(quick, seed), ends
        self._places = [place for places in grid(quick) for place in places]
        self._seeds, self._kinds = [seed, number], kinds
        self._drawn: dict[str, tuple[int, int]] = {}  # by name: place, and number at this place
        self._surfaces: dict[str, Surface] = {}
        self.workloads: dict[str, list[Point]] = {}  # by name of the job
        self.jobs = [self._job(place, 0) for place in range(len(kinds))]

    def next_job(self, before: Job) -> Job:
        """The successor of a job, of the same kind (§6.1, dynamic arrivals)."""
        place, number = self._drawn[before.name]
        return self._job(place, number + 1)

    def _job(self, place: int, number: int) -> Job:
        rng = np.random.default_rng([*self._seeds, place, number])
        kind = self._kinds[place]
        kinds = (OUTLIER, "data") if kind == CHANGING else (kind,)
        some = [self._of[k][int(rng.integers(len(self._of[k])))] for k in kinds]
        name = f"{place + 1}.{number + 1} {kind}: {' and '.join(w['kernel'] for w in some)}"
        self._drawn[name], self.workloads[name] = (place, number), some
        largest = max(some, key=lambda workload: workload["vm_bytes"])
        phases = tuple((self._surface(workload), _TURN) for workload in some)
        job = Job(name, largest["vm_bytes"] >> PAGE_BITS, largest["cores"], phases)
        work = float(np.exp(rng.uniform(*np.log(_WORK))))
        return replace(job, work=work) if self._ends else job

    def _surface(self, workload: Point) -> Surface:
        text = json.dumps(workload)
        if text not in self._surfaces:
            self._surfaces[text] = surface(workload, self._places)
        return self._surfaces[text]


def served(jobs: Sequence[Job]) -> bool:
    """Whether the loop can help a machine: alone it is slowed by more than 5 % with a third
    dedicated, and by 5 points less with two thirds."""

    def slowed(job: Job, share: float) -> float:
        of = job.phases[0][0]
        return of.at(share).seconds / of.at(1.0).seconds - 1

    return any(slowed(j, 0.33) > SLOW and slowed(j, 0.33) - slowed(j, 0.67) > SLOW for j in jobs)


@functools.cache
def first_served(mix: str, quick: bool, seed: int) -> int:
    """The first draw of a mix in which a machine is served, or 0 if none is. The rule uses only
    profiles, so that parameters are not chosen by results."""
    for number in range(_DRAWS):
        if served(Draw(MIXES[mix], quick, seed, drawn(mix, number), False).jobs):
            return number
    return 0


def drawn(mix: str, number: int) -> int:
    """The seed of a mix's draw; each of MIXES has different ones."""
    return _DRAWS * list(MIXES).index(mix) + number
