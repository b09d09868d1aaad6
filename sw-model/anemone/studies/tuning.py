# SPDX-License-Identifier: Apache-2.0
"""Each policy as published and at its best setting; all policies get the same number of tries."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from anemone.hardware.geometry import Geometry
from anemone.studies.hemem import FAST_PAGES, PAGES, VALUE_LINES, rate, store
from anemone.studies.prototype import constants
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering import Tier, TierConfig, simulate
from anemone.tiering.compare import PUBLISHED
from anemone.tiering.config import HUGE_PAGE, made
from anemone.tiering.devices import devices
from anemone.tiering.parameters import POLICIES, SOURCES, load
from anemone.tiering.scaling import scaled

_PAIRS = (
    ("hemem", "pebs"), ("hemem", "nemo"), ("memtis", "pebs"), ("memtis", "nemo"),
    ("tpp", "hint-faults"), ("numa-balancing", "hint-faults"), ("damos", "scan"),
    ("colloid", "pebs"),
)  # fmt: skip
# The parameters of a source that software chooses; the others are hardware or costs.
_CHOSEN = {"period", "scan_mib", "sample_ms", "least_regions", "most_regions"}
_FACTOR = 4.0  # parameters vary up to this factor above and below their published values


class Tuning(Study):
    title = "Policies as published, and at their best"
    about = (
        "The key-value store of the study hemem, whose hot set shifts in the middle, in huge "
        "pages, 1:2. Each policy runs with its published constants, and with settings drawn at "
        "random: every number that it or software behind its source may choose, and the interval, "
        "between a quarter and four times as published. All get the same number of settings. The "
        "best is chosen with one seed of the store, and told with another."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        settings, k, seconds = (3, 512, 12) if quick else (20, 128, 120)
        return [
            {"pair": list(pair), "setting": setting, "timing": timing, "use": use, "k": k,
             "seconds": seconds, "seed": seed,
             **({"engine": "model"} if pair[1] == "nemo" else {})}
            for pair in _PAIRS
            for timing in ("queue", "dram")
            for setting in range(settings)
            for use in ("tune", "tell")
        ]  # fmt: skip

    def run(self, point: Point) -> dict[str, Any]:
        one, k = devices()["nemo"], point["k"]
        policy, source = point["pair"]
        drawn = drawn_settings(policy, source, point["setting"], point["seed"])
        interval = drawn.pop("interval_ms")
        names = {field.name for field in fields(load(source, SOURCES))}
        chosen = {name: value for name, value in drawn.items() if name in names}
        for_policy = {name: value for name, value in drawn.items() if name not in names}
        # Settings are chosen with one store and reported with another.
        seed = point["seed"] + (0 if point["use"] == "tune" else 1000)
        whole = TierConfig(
            HUGE_PAGE, 10, Tier(FAST_PAGES, *one.fast), Tier(PAGES, *one.slow), posted=48,
            policy=policy, policy_with=for_policy, telemetry=source, telemetry_with=chosen,
            interval_ns=interval * 1e6, seed=seed, timing=point["timing"],
        )  # fmt: skip
        if source == "nemo":
            # A pipeline has to hold the frames of at least one page.
            small = {"pipelines": 1 + (policy == "memtis"), "states": 512,
                     "engine": point["engine"]}  # fmt: skip
            config = scaled(replace(whole, telemetry="none", telemetry_with={}), k)
            config = replace(config, telemetry=source, telemetry_with={**chosen, **small})
        else:
            config = scaled(whole, k)
        half = int(rate() / k * point["seconds"] / 2)
        trace = partial(store, PAGES // k, (half, half), k, seed)
        done = simulate(config, trace, *made(config), Geometry(device_gib=1))
        return {"requests_per_second": 2 * half * k / done.time_ns * 1e9, "setting": drawn,
                "interval_ms": interval}  # fmt: skip

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows, notes, tried = [], [], 0
        for timing in ("queue", "dram"):
            published, best = {}, {}
            for pair in _PAIRS:
                of = {
                    (p["setting"], p["use"]): a["requests_per_second"]
                    for p, a in answers
                    if (tuple(p["pair"]), p["timing"]) == (pair, timing)
                }
                settings = sorted({setting for setting, _ in of})
                tried = len(settings)
                chosen = max(settings, key=lambda setting: of[setting, "tune"])
                name = "+".join(pair)
                published[name], best[name] = of[0, "tell"], of[chosen, "tell"]
                rows.append(Row(f"{name}, {timing}: as published", "million requests/s", None,
                                published[name] / 1e6))  # fmt: skip
                rows.append(Row(f"{name}, {timing}: best setting ({chosen})", "million requests/s",
                                None, best[name] / 1e6))  # fmt: skip
            for words, found in (("as published", published), ("at their best", best)):
                order = sorted(found, key=lambda name: -found[name])
                notes.append(f"Ranking {words}, {timing}: {', '.join(order)}.")
        first = answers[0][0]
        return Found(rows, notes=notes, constants=constants(first, {
            "settings of each, with the published one, number 0": tried,
            "simulated": f"{first['seconds']} s",
            "lines of a value": VALUE_LINES,
        }))  # fmt: skip


def drawn_settings(policy: str, source: str, number: int, seed: int) -> dict[str, Any]:
    """Parameters by name, and interval_ms. Number 0 is the published setting."""
    kind = load(policy, POLICIES)
    found: dict[str, Any] = dict(PUBLISHED.get((policy, source), {}))
    found["interval_ms"] = kind.interval_ms
    period = load(source, SOURCES).__dataclass_fields__.get("period")
    if number:
        rng = np.random.default_rng([seed, number])
        for one in (*fields(kind), *fields(load(source, SOURCES))):
            value = found.get(one.name, one.default)
            wanted = one.name in _CHOSEN or one in fields(kind)
            if not (wanted and one.init and type(value) in (int, float)):
                continue
            metadata = one.metadata
            drawn = value * _FACTOR ** rng.uniform(-1, 1)
            drawn = min(max(drawn, metadata["minimum"]), metadata["maximum"])
            found[one.name] = round(drawn) if isinstance(value, int) else drawn
        found["interval_ms"] *= _FACTOR ** rng.uniform(-1, 1)
        # Heat is scaled by the sampling period.
        if source == "pebs" and "samples_per_access" in found:
            found["samples_per_access"] = 1 / found.get("period", period.default)
    return found


STUDY = Tuning()
