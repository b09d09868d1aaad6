# SPDX-License-Identifier: Apache-2.0
"""The result page of a study: the table "paper | here", pictures, seed, constants and date."""

from __future__ import annotations

from anemone.studies.study import Found, Study


def page(name: str, study: Study, found: Found, seed: int, quick: bool, date: str) -> str:
    """The page as Markdown. date: of the run."""
    lines = [
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        f"# {study.title}",
        "",
        study.about,
        "",
        "| what | unit | paper | here | where they differ, why |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for row in found.rows:
        paper = "" if row.paper is None else _number(row.paper)
        lines.append(f"| {row.what} | {row.unit} | {paper} | {_number(row.here)} | {row.why} |")
    for picture in found.pictures:
        lines += ["", f"![{picture}]({picture}.svg)"]
    for note in found.notes:
        lines += ["", note]
    lines += ["", "| constant | value |", "| --- | --- |"]
    lines += [f"| {key} | {value} |" for key, value in found.constants.items()]
    kind = "quick: fewer and smaller points than in full" if quick else "in full"
    lines += ["", f"Made on {date} by `anemone study {name}`, {kind}, seed {seed}.", ""]
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
