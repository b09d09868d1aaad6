# SPDX-License-Identifier: Apache-2.0
"""Every policy on captured third-party programs, with both timings: does the ranking hold?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

from anemone.hardware.geometry import Geometry
from anemone.studies.captured import ROOT
from anemone.studies.study import Found, Point, Row, Study
from anemone.tiering.compare import PAIRS, compare, sized
from anemone.trace import batches

_TRACES = ("redis", "gcc")
_DEVICES = ("nemo", "camp-cxl-a")
_INTERVAL_NS = 2e6  # the traces last some tens of ms
_SAME = 0.005  # times with a smaller relative difference count as equal


class Ranking(Study):
    title = "Ranking of the policies, in both timings"
    about = (
        "Debian's redis-server and cc1, as captured in sim/traces, under every policy with its "
        "published constants, but for an interval of 2 ms, as the traces are short; pages of "
        "4 KiB, of which the fast tier holds a third. Numbers are speed-ups over no policy. A "
        "pair of policies whose order the second timing turns round, where both say that they "
        "differ by more than 0.5 %, is not to be told apart."
    )

    def points(self, quick: bool, seed: int) -> list[Point]:
        pairs = [list(pair) for pair in PAIRS]
        some = [(trace, device) for trace in _TRACES for device in _DEVICES]
        return [
            {"trace": trace, "device": device, "pair": pair, "timing": timing, "seed": seed,
             **({"engine": "model"} if pair[1] == "nemo" else {})}
            for trace, device in (some[:1] if quick else some)
            for timing in ("queue", "dram")
            for pair in pairs
        ]  # fmt: skip

    def run(self, point: Point) -> dict[str, Any]:
        geometry = Geometry()
        path = ROOT / "sim" / "traces" / f"{point['trace']}.parquet"
        again = partial(batches, path, geometry)
        base = sized(again, 4096, 1 / 3, point["device"])
        base = replace(base, timing=point["timing"], interval_ns=_INTERVAL_NS, seed=point["seed"])
        if "engine" in point:
            base = replace(base, telemetry="nemo", telemetry_with={"engine": point["engine"]})
        report = next(compare(base, again, [tuple(point["pair"])], geometry)).report
        return {"time_ns": report["time_ns"], "accesses": report["accesses"]}

    def finish(self, answers: list[tuple[Point, dict[str, Any]]]) -> Found:
        rows, notes = [], []
        for trace, device in dict.fromkeys((p["trace"], p["device"]) for p, _ in answers):
            times: dict[str, dict[str, float]] = {}
            for p, a in answers:
                if (p["trace"], p["device"]) == (trace, device):
                    times.setdefault(p["timing"], {})["+".join(p["pair"])] = a["time_ns"]
            for timing, of in times.items():
                none = of["none+none"]
                for pair, time in of.items():
                    words = f"{trace}, {device}, {timing}: {pair}"
                    rows.append(Row(words, "speed-up", None, none / time))
            swapped = [
                f"{a} and {b}"
                for a, b in combinations(times["queue"], 2)
                if _order(times["queue"], a, b) * _order(times["dram"], a, b) < 0
            ]
            changed = "; ".join(swapped) or "none"
            notes.append(
                f"{trace} on {device}, pairs that do not survive the second timing: {changed}."
            )
        return Found(rows, notes=notes, constants={"interval": "2 ms", "fast tier": "1/3"})


def _order(times: dict[str, float], a: str, b: str) -> int:
    """1 if b is faster, -1 if a is faster, 0 if they count as equal."""
    ratio = times[a] / times[b]
    return 0 if abs(ratio - 1) < _SAME else (1 if ratio > 1 else -1)


STUDY = Ranking()
