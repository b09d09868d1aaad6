# SPDX-License-Identifier: Apache-2.0
"""Evaluates the study of memo's devices: §4's numbers and the model's."""

from __future__ import annotations

from typing import Any

import altair as alt

from anemone.report.charts import HALF, Frame, data, svg, table
from anemone.studies.curves import by_name
from anemone.studies.study import Found, Point, Row
from anemone.tiering.devices import devices

# Theoretical bandwidth of each device, GB/s (Table 1).
PEAKS = {"DDR5-R": 38.4, "CXL-A": 38.4, "CXL-B": 2 * 19.2, "CXL-C": 25.6}
ALL_READ = {"DDR5-R": 70.0, "CXL-A": 46.0, "CXL-B": 47.0, "CXL-C": 20.0}  # O4
_ST_BELOW_LD = {"DDR5-R": 74.0, "CXL-A": 31.0, "CXL-B": 59.0, "CXL-C": 15.0}  # O5
_LONGER = {
    "CXL-A": 1.35,
    "CXL-B": 2.0,
    "CXL-C": 3.0,
}  # O2: latency of ld over DDR5-R's; the last two are "almost" this
# Percentage points of theoretical bandwidth by which one device is above another (O4, O5).
_ABOVE = (
    ("CXL-A", "DDR5-R", {"2:1-RW": 23.0, "st": 12.0}),
    ("CXL-B", "DDR5-R", {"st": 1.0}),
    ("CXL-B", "CXL-A", {"ld": 1.0, "nt-ld": 1.0, "nt-st": 6.0}),
    ("CXL-B", "CXL-C", {"ld": 26.0, "nt-ld": 26.0, "st": 3.0, "nt-st": 20.0}),
    ("DDR5-R", "CXL-A", {"nt-ld": 26.0, "nt-st": 6.0}),
)

_WHY = {
    "parallel": "no fence, no coherence check: the paper's burst has more than latency and queue",
    "longer": "a burst's last line waits for the bandwidth, too, which CXL-C has little of",
    "st": "a store is its read here; the paper's checks the other socket's caches",
    "nt-st": "one latency for reads and writes: a write that is sent at once saves nothing here",
    "mix": "one bandwidth for reads and writes; the paper's links carry both ways at once",
    "set": "devices are set by MLC's all reads in whole percent (O4), not by memo's loads",
    "banks": "what the banks sustain, served in order; the paper's has a controller's losses",
    "asked": "each stored line is read and written: half; the paper's adds coherence checks, or "
    "writes on a link's other way",
    "cache": "a chase in pages of 4 KiB: walks of the page table are in it",
}  # fmt: skip

NOTES = [
    """**Figures.** The paper's text has ratios, and few numbers; its bars cannot be read exactly,
so only what the text says is beside ours. In the timing `queue` a device is one latency and one
bandwidth: all reads are the paper's by construction, and what depends on the kind of access is
not there. `dram` has banks, rows, refresh and turnaround. **How far off**: the model has neither
coherence checks between sockets (O3) nor a link that carries reads and writes at once (O1), and one
latency for both. What hangs on these is not to be read from it: st against ld, nt-st, mixes."""
]

Answers = dict[tuple[str, str, str], dict[str, float]]


def judge(answers: list[tuple[Point, dict[str, Any]]]) -> Found:
    """Evaluate the points' answers."""
    seen: Answers = {
        (p["what"], p["device"], p["timing"]): a for p, a in answers if p["what"] != "cache"
    }
    rows = []
    for timing in dict.fromkeys(key[2] for key in seen):
        rows += [*_latency_rows(seen, timing), *_bandwidth_rows(seen, timing)]
    for point, answer in answers:
        if point["what"] == "cache":
            paper = 76.8 if point["device"] == "DDR5-L" else 41.0
            what = f"32 MB on {point['device']}, {point['kib'] >> 10} MB of last-level cache"
            rows.append(Row(what, "ns", paper, answer["chase"], _WHY["cache"]))
    pictures = {"latency": _latencies(seen), "bandwidth": _efficiencies(seen)}
    sources = {name: d.source for name, d in devices().items() if name.startswith("caption")}
    return Found(rows, pictures, NOTES, {**sources, "theoretical GB/s": str(PEAKS)})


def _latency_rows(seen: Answers, timing: str) -> list[Row]:
    """Rows of Figure 3."""

    def of(device: str, kind: str) -> float:
        return seen["latency", device, timing][kind]

    def below(one: float, other: float) -> float:
        return 100 * (1 - one / other)

    rows = [
        Row(f"{device}: ld of 16 at once below a chase, {timing}", "%", paper,
            below(of(device, "ld"), of(device, "chase")), _WHY["parallel"])
        for device, paper in (("DDR5-R", 76.0), ("CXL-A", 79.0))
    ]  # fmt: skip
    rows += [
        Row(f"{device}: ld over DDR5-R's, {timing}", "times", paper,
            of(device, "ld") / of("DDR5-R", "ld"), _WHY["longer"])
        for device, paper in _LONGER.items()
    ]  # fmt: skip
    slower = of("CXL-C", "ld") / of("CXL-B", "ld")
    rows.append(Row(f"CXL-C: ld over CXL-B's, {timing}", "times", 1.67, slower, _WHY["longer"]))
    st = of("DDR5-R", "st") / of("DDR5-L", "ld")
    nt = below(of("CXL-A", "nt-st"), of("DDR5-R", "nt-st"))
    return [
        *rows,
        Row(f"st to DDR5-R over ld from DDR5-L, {timing}", "times", 2.3, st, _WHY["st"]),
        Row(f"nt-st: CXL-A below DDR5-R, {timing}", "%", 25.0, nt, _WHY["nt-st"]),
    ]


def _bandwidth_rows(seen: Answers, timing: str) -> list[Row]:
    """Rows of Figure 4: percentage of the theoretical bandwidth."""

    def share(device: str, kind: str) -> float:
        return _share(seen, device, timing, kind)

    exact = timing == "queue"
    why = dict.fromkeys(("ld", "nt-ld"), _WHY["set" if exact else "banks"])
    why |= {"st": _WHY["asked"], "nt-st": _WHY["mix"], "2:1-RW": _WHY["mix"]}
    rows = [
        Row(f"{device}: all reads, {timing}", "% of peak", paper, share(device, "All Read"),
            "" if exact else _WHY["banks"])
        for device, paper in ALL_READ.items()
    ]  # fmt: skip
    rows += [
        Row(f"{device}: st below ld, {timing}", "%", paper,
            100 * (1 - share(device, "st") / share(device, "ld")), _WHY["asked"])
        for device, paper in _ST_BELOW_LD.items()
    ]  # fmt: skip
    rows += [
        Row(f"{kind}: {one} above {other}, {timing}", "points", paper,
            share(one, kind) - share(other, kind), why[kind])
        for one, other, kinds in _ABOVE for kind, paper in kinds.items()
    ]  # fmt: skip
    return rows


def _share(seen: Answers, device: str, timing: str, kind: str) -> float:
    return 100 * seen["bandwidth", device, timing][kind] / PEAKS[device]


def _bars(label: str, title: str, bars: list[tuple[str, str, float]]) -> Any:
    """A bar chart by group, with the devices side by side."""
    frame = Frame(HALF, 300, left=70, right=20)
    names = list(dict.fromkeys(device for _, device, _ in bars))
    groups = list(dict.fromkeys(group for group, _, _ in bars))
    rows = table(
        group=[b[0] for b in bars], device=[b[1] for b in bars], value=[b[2] for b in bars]
    )
    colour = by_name(names, "top-right", "device")
    drawn = alt.Chart(rows).mark_bar().encode(
        x=alt.X("group:N", sort=groups, axis=alt.Axis(title=None, labelAngle=0)),
        xOffset=alt.XOffset("device:N", sort=names),
        y=alt.Y("value:Q", axis=frame.y(title)),
        color=colour,
    )  # fmt: skip
    return svg(frame, label, data(drawn, "bars"))


def _latencies(seen: Answers) -> Any:
    kinds = ("chase", "ld", "nt-ld", "st", "nt-st")
    bars = [
        (kind, device, seen["latency", device, "queue"][kind]) for kind in kinds for device in PEAKS
    ]
    return _bars("Latency by instruction and device, our model (Figure 3)", "ns", bars)


def _efficiencies(seen: Answers) -> Any:
    kinds = ("All Read", "2:1-RW", "1:1-RW", "st", "nt-st")
    bars = [
        (kind, device, _share(seen, device, "dram", kind)) for kind in kinds for device in PEAKS
    ]
    return _bars("Share of the theoretical bandwidth, second timing (Figure 4)", "% of peak", bars)
