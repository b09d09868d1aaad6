# SPDX-License-Identifier: Apache-2.0
"""M.toml: the coefficients of Equation 1 and the constants of M3."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path

from anemone.caption.algorithm import Tuning
from anemone.io.errors import InputError
from anemone.io.tables import Table, parse_toml, read_text, toml_place

TABLE_4 = ("l1_miss_latency_ns", "ddr_read_latency_ns", "ipc")
# The counters that M1 can sample: Table 4, and bandwidth that NEMO counts on an expander.
COUNTERS = (*TABLE_4, "cxl_gb_per_s")
LONGEST = 3600  # most samples in a window
LARGEST = 1e100  # largest weight and sample, so that estimates do not overflow a double


@dataclass(frozen=True)
class Live:
    """Parameters that Algorithm 1 leaves open (§6.1, "very small or sudden large changes").

    hysteresis: if the estimate changed by less than this fraction since the last kept period, the
    ratio holds. restart, restart_samples: if so many consecutive samples have an estimate that
    differs by more than this fraction, the phase has changed.
    """

    hysteresis: float = 0.0
    restart: float = math.inf
    restart_samples: int = 2


# The values that `caption fit` writes; the paper gives no numbers.
FITTED = Live(hysteresis=0.01, restart=0.25)


@dataclass(frozen=True)
class Model:
    """counters: names of X1, X2, ...; beta: b0 and a weight for each counter."""

    beta: tuple[float, ...]
    counters: tuple[str, ...] = TABLE_4
    window: int = 5
    tuning: Tuning = field(default_factory=Tuning)
    live: Live = field(default_factory=Live)


def read(path: str | os.PathLike) -> Model:
    """Read M.toml. Raises InputError."""
    text = read_text(Path(path))
    content = parse_toml(text, path)
    table = Table(path, "", content, line=lambda name: toml_place(text, name))
    table.only("beta", "window", "step", "min_step", "start", optional=("counters", "live"))
    counters = _counters(table)
    tuning = Tuning(
        table.real("step", minimum=-100, maximum=100),
        table.real("min_step", minimum=0, maximum=100),
        table.real("start", minimum=0, maximum=100),
    )
    window = table.number("window", minimum=1, maximum=LONGEST)
    return Model(_beta(table, counters), counters, window, tuning, _live(table))


def _counters(table: Table) -> tuple[str, ...]:
    names = table.content.get("counters", list(TABLE_4))
    known = isinstance(names, list) and all(isinstance(n, str) and n in COUNTERS for n in names)
    if not known or not names or len(set(names)) < len(names):
        raise table.wrong("counters", "a list of some of " + ", ".join(COUNTERS) + ", each once")
    return tuple(names)


def _beta(table: Table, counters: tuple[str, ...]) -> tuple[float, ...]:
    wanted = len(counters) + 1
    allowed = f"{wanted} finite numbers of at most {LARGEST:g} in size: "
    allowed += "a constant, and one for each of " + ", ".join(counters)
    given = table.content["beta"]
    if not isinstance(given, list) or len(given) != wanted:
        raise table.wrong("beta", allowed)
    found = []
    for value in given:
        one = Table(table.file, table.place, {"beta": value}, table.line)
        try:
            found.append(one.real("beta", minimum=-LARGEST, maximum=LARGEST))
        except InputError as e:
            raise table.wrong("beta", allowed) from e
    return tuple(found)


def _live(table: Table) -> Live:
    part = table.table("live")
    if part is None:
        return Live()
    known = Live()
    part.only(optional=("hysteresis", "restart", "restart_samples"))
    given = part.content
    return Live(
        part.real("hysteresis", minimum=0, maximum=1)
        if "hysteresis" in given
        else known.hysteresis,
        part.real("restart", minimum=0, above=True) if "restart" in given else known.restart,
        part.number("restart_samples", minimum=1, maximum=LONGEST)
        if "restart_samples" in given
        else known.restart_samples,
    )


def toml(model: Model, comment: str = "") -> str:
    """A model in the format that `read` takes."""
    t, live = model.tuning, model.live
    lines = [*(f"# {line}" for line in comment.splitlines())]
    lines += [f"beta = [{', '.join(repr(b) for b in model.beta)}]"]
    if model.counters != TABLE_4:
        lines += ["counters = [" + ", ".join(f'"{name}"' for name in model.counters) + "]"]
    lines += [f"window = {model.window}", f"step = {t.step!r}", f"min_step = {t.min_step!r}"]
    lines += [f"start = {t.start!r}", "", "[live]", f"hysteresis = {live.hysteresis!r}"]
    if math.isfinite(live.restart):
        lines += [f"restart = {live.restart!r}"]
    lines += [f"restart_samples = {live.restart_samples}"]
    return "\n".join(lines) + "\n"
