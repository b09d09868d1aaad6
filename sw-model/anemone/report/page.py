# SPDX-License-Identifier: Apache-2.0
"""report.html: one file with its style, script and pictures inside; nothing is fetched."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from anemone import __version__
from anemone.analysis.compare import Comparison, Output
from anemone.flat.analysis import PlacedRun
from anemone.hardware.geometry import Geometry
from anemone.report import flat
from anemone.report.figures import Figure
from anemone.telemetry.rules import Rule

HERE = Path(__file__).parent


@dataclass
class Run:
    """One trace through the listings.

    outputs: by backend ("rtl", "model"). agreed: RTL against model, None when only one ran.
    counted: the first backend's output against a plain count of the trace. flat: through flat
    memory mode. shown: the pictures. moves: when the hot set moved, in seconds or events.
    """

    name: str
    about: str
    events: int
    seconds: float | None
    pages: int
    tenants: int
    rules: list[Rule]
    outputs: dict[str, Output] = field(default_factory=dict)
    agreed: Comparison | None = None
    counted: Comparison | None = None
    polls: int = 0
    moves: list[float] = field(default_factory=list)
    flat: list[PlacedRun] = field(default_factory=list)
    shown: list[Figure] = field(default_factory=list)

    @property
    def good(self) -> bool:
        counted = all(c.equal for c in (self.agreed, self.counted) if c is not None)
        return counted and all(run.good for run in self.flat)

    @property
    def values(self) -> int:
        """Values compared, the larger of the two comparisons."""
        return max((c.values for c in (self.agreed, self.counted) if c is not None), default=0)

    def speed(self, backend: str) -> float | None:
        output = self.outputs.get(backend)
        return output.report["events_per_second"] if output else None


def verdict(runs: list[Run]) -> str:
    """The result in one sentence."""
    bad = [run.name for run in runs if not run.good]
    traces = f"{len(runs)} trace" + ("" if len(runs) == 1 else "s")
    if bad:
        return f"Not equal: {', '.join(bad)}"
    if all(run.agreed for run in runs):
        return f"RTL equals the golden model on {traces}"
    backend = next(iter(runs[0].outputs)) if runs else "model"
    name = {"rtl": "The RTL", "model": "The golden model"}[backend]
    return f"{name} equals a plain count of {traces}"


def page(runs: list[Run], geometry: Geometry) -> str:
    """The whole document."""
    style = (HERE / "style.css").read_text(encoding="utf-8")
    script = (HERE / "page.js").read_text(encoding="utf-8")
    body = _head(runs, geometry) + "".join(_section(run) for run in runs) + _foot(geometry)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>anemone sim: {escape(verdict(runs))}</title>\n<style>\n{style}</style>\n</head>\n"
        f'<body>\n<div class="wrap">\n{body}</div>\n<div id="tip" role="status" hidden></div>\n'
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _head(runs: list[Run], geometry: Geometry) -> str:
    good = all(run.good for run in runs)
    unlike = sum(c.total for run in runs for c in (run.agreed, run.counted) if c is not None)
    tiles = [
        ("", f"{sum(run.events for run in runs):,}", "memory accesses replayed"),
        ("", f"{sum(len(run.rules) for run in runs):,}", "rules, one a pipeline"),
        ("", f"{sum(run.values for run in runs):,}", "non-zero values compared"),
        ("good" if good else "bad", f"{unlike:,}", "differences"),
    ]
    for backend, words in (("rtl", "RTL events/s"), ("model", "model events/s")):
        seconds = sum(run.events / (run.speed(backend) or 1e9) for run in runs)
        if any(run.speed(backend) for run in runs):
            tiles.append(("", short(sum(run.events for run in runs) / seconds), words))
    shown = "".join(
        f'<div class="tile {css}"><b>{value}</b><span>{words}</span></div>'
        for css, value, words in tiles
    )
    return (
        '<header><div class="bar"><span class="brand">anemone sim</span>'
        '<button id="theme" type="button">light / dark</button></div>\n'
        f"<h1>{escape(verdict(runs))}</h1>\n"
        "<p>Real memory traces, after the caches, through the three telemetries of the NEMO paper "
        f"(Listings 1 to 3) on {geometry.pipelines} pipelines and {geometry.channels} channels. "
        "Every state, every periodic read and every counter is compared"
        + (", backend with backend, and with a plain count of the trace.</p>" if
           any(run.agreed for run in runs) else " with a plain count of the trace.</p>")
        + f'\n<div class="tiles">{shown}</div>\n{_table(runs)}{_polled(runs, geometry)}'
        f"{flat.table([(run.name, run.flat) for run in runs])}</header>\n"
    )  # fmt: skip


def _table(runs: list[Run]) -> str:
    """A row a trace, linked to its section."""
    backends = [e for e in ("rtl", "model") if any(e in run.outputs for run in runs)]
    heads = ["trace", "accesses", "time", "huge pages", "tenants", "values compared"]
    if any(run.agreed for run in runs):
        heads.append("RTL = model")
    heads.append("= trace")
    heads += [f"{'RTL' if e == 'rtl' else e} events/s" for e in backends]
    rows = []
    for run in runs:
        cells = [
            f'<a href="#{escape(run.name)}">{escape(run.name)}</a>',
            f"{run.events:,}",
            "" if run.seconds is None else _duration(run.seconds),
            f"{run.pages:,}",
            f"{run.tenants:,}",
            f"{run.values:,}",
        ]
        cells += [_mark(c) for c in (run.agreed, run.counted) if c is not None]
        cells += [short(run.speed(e) or 0) for e in backends]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{h}</th>" for h in heads)
    return (
        f'<div class="card scroll"><table class="summary"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _polled(runs: list[Run], geometry: Geometry) -> str:
    """How much the backends had to read, which is part of their time."""
    polls = sum(run.events // rule.read_every for run in runs for rule in run.rules)
    lines = polls * geometry.lines * geometry.channels
    return (
        f'<p class="muted note">Between the accesses the polls read {lines:,} telemetry lines of '
        "64 B; a backend's speed is accesses over the time of both.</p>"
    )


def _mark(comparison: Comparison) -> str:
    return flat.mark("" if comparison.equal else f"{comparison.total:,} differ")


def _section(run: Run) -> str:
    about = f"<p>{escape(run.about)}</p>" if run.about else ""
    facts = [f"{run.events:,} accesses"]
    if run.seconds is not None:
        facts.append(f"{_duration(run.seconds)} on the trace's clock")
    facts.append(f"{run.pages:,} huge pages ({run.pages * 2:,} MiB) touched")
    facts.append(f"{run.tenants} tenant" + ("" if run.tenants == 1 else "s"))
    facts.append(f"{run.polls} polls")
    figures = "".join(_figure(picture, run) for picture in run.shown)
    said = "✓ equal" if run.good else "✗ not equal"
    return (
        f'<section id="{escape(run.name)}"><div class="head"><h2>{escape(run.name)}</h2>'
        f'<span class="verdict {"good" if run.good else "bad"}">{said}</span></div>\n'
        f'{about}<p class="facts">{" · ".join(facts)}</p>\n{_differences(run)}'
        f'<div class="pics">{figures}{_rules(run)}</div></section>\n'
    )


def _differences(run: Run) -> str:
    lines = []
    for words, comparison in (("RTL and model", run.agreed), ("output and trace", run.counted)):
        if comparison is not None and not comparison.equal:
            lines.append(f"{words}: {comparison.words}")
            lines += [f"  {difference}" for difference in comparison.differences]
    lines += [f"flat memory, {p.placement}: {line}" for p in run.flat for line in p.complaints]
    return f'<pre class="card diff">{escape(chr(10).join(lines))}</pre>\n' if lines else ""


def _figure(picture: Figure, run: Run) -> str:
    data = ""
    if picture.cells:
        text = json.dumps(picture.cells, separators=(",", ":")).replace("<", "\\u003c")
        data = f'<script type="application/json" class="cells">{text}</script>'
    return (
        f'<figure class="card {"wide" if picture.wide else "half"}" '
        f'data-picture="{escape(run.name)}-{picture.key}">'
        f"<figcaption><h3>{escape(picture.title)}</h3>{picture.caption}</figcaption>"
        f'<div class="scroll">{picture.svg}{data}</div></figure>\n'
    )


def _rules(run: Run) -> str:
    """The counters of each rule, as the first backend reported them."""
    output = next(iter(run.outputs.values()))
    fields = ("matched", "unmapped", "out_of_range", "notifications")
    head = "".join(f"<th>{f.replace('_', ' ')}</th>" for f in fields)
    rows = "".join(
        f"<tr><td><code>{escape(rule['name'])}</code></td>"
        + "".join(f"<td>{rule[f]:,}</td>" for f in fields)
        + "</tr>"
        for rule in output.report["rules"]
    )
    return (
        '<div class="card half"><h3>Counters of the rules</h3><p class="muted">Each access is '
        "offered to every rule; one that no entry of its table maps is unmapped. The rules are in "
        f"<code>{escape(run.name)}/rules.toml</code>.</p>"
        f'<div class="scroll"><table><thead><tr><th>rule</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></div>\n"
    )


def _foot(geometry: Geometry) -> str:
    return (
        f"<footer>anemone {__version__} · {geometry.pipelines} pipelines × {geometry.channels} "
        f"channels, {geometry.states:,} state words a channel, {geometry.table:,} table entries, "
        f"{geometry.device_gib} GiB device. Outputs, rules and states lie beside this page, "
        "a folder a trace.</footer>\n"
    )


def short(rate: float) -> str:
    """A rate with three digits: 612 k, 4.31 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if rate >= size:
            return f"{rate / size:.3g}{unit}"
    return f"{rate:.0f}"


def _duration(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
