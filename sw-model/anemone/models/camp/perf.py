# SPDX-License-Identifier: Apache-2.0
"""Parses the output of `perf stat -x,` and `perf stat -j`, with or without `-I`.

A line of -x, is `value,unit,event,run time,percent of the time counted,...`; with `-I` the time is
in front. A line of -j is an object. Rows of other events are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from anemone.io.errors import MISSING, Bare, InputError
from anemone.io.tables import Table
from anemone.models.camp import counters
from anemone.models.camp.counters import NEEDED, Run
from anemone.models.camp.events import Event, by_name, event_of

_JSON_ROW = re.compile(r'^\{.*"counter-value"', re.MULTILINE)
_CSV_ROW = re.compile(r"^\s*(<not |[0-9.]+,)", re.MULTILINE)
ALL = 100.0  # percent of the time that an event was counted


@dataclass(frozen=True)
class Row:
    """One line. t: end of its interval in seconds, None without intervals; share: percent
    counted.
    """

    line: int
    t: float | None
    event: Event
    value: float
    share: float


def is_perf(text: str) -> bool:
    """Whether a text looks like perf's output and not like our JSON."""
    if text.lstrip().startswith("{"):
        return bool(_JSON_ROW.search(text))
    return bool(_CSV_ROW.search(text))


def run_of(text: str, platform: str, file: object) -> Run:
    """The counters of a run. Raises InputError, which names the line and the event."""
    found = list(rows(text, platform, file))
    intervals = by_interval(found, file)
    checked = []
    for t, values in intervals.items():
        place = "events" if t is None else f"interval to {t:g} s"
        for name in NEEDED[platform]:
            if name not in values:
                event = event_of(name, platform).name
                allowed = f"a row of {name}, as with `anemone camp record`"
                raise InputError(file, place, event, MISSING, allowed)
        checked.append((t, counters.check(Table(file, place, values), platform)))
    share = min(row.share for row in found)
    if None in intervals:
        return Run(checked[0][1], share=share)
    return Run(counters.summed(values for _, values in checked), tuple(checked), share)


def by_interval(found: list[Row], file: object) -> dict[float | None, dict[str, float]]:
    """Counters by interval; None is the whole run."""
    intervals: dict[float | None, dict[str, float]] = {}
    for row in found:
        values = intervals.setdefault(row.t, {})
        name = row.event.counter
        if name in values and not row.event.uncore:
            allowed = "one row a run or interval (no -A, no --per-socket)"
            raise InputError(file, f"line {row.line}", row.event.name, Bare("again"), allowed)
        values[name] = values.get(name, 0.0) + row.value  # the sum over the CHAs of a socket
    if not intervals:
        allowed = "rows of perf stat -x, or -j with the events of `anemone camp record`"
        raise InputError(file, "file", "events", MISSING, allowed)
    if None in intervals and len(intervals) > 1:
        raise InputError(file, "file", "intervals", Bare("in some rows"), "in all, or in none")
    return intervals


def rows(text: str, platform: str, file: object) -> Iterator[Row]:
    """The rows of the platform's events."""
    known = by_name(platform)
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        place = f"line {number}"
        found = _of_json(line, known, file, place) if line[0] == "{" else _of_csv(line, known)
        if found is None:
            continue
        t, event, value, share = found
        counted = _count(value, event, file, place)
        part = ALL if share in ("", None) else _number(share, file, place, "percent", "0 to 100")
        if part == 0:  # without any counted time there is nothing to scale
            raise _not_counted(event, "counted 0 % of the time", file, place)
        seconds = None if t is None else _number(t, file, place, "time", "seconds")
        yield Row(number, seconds, event, counted, part)


_Found = tuple[Any, Event, Any, Any] | None


def _of_csv(line: str, known: dict[str, Event]) -> _Found:
    fields = line.split(",")
    for at in (2, 3):  # 3 if the time is in front
        event = known.get(_plain(fields[at])) if len(fields) > at else None
        if event is not None:
            share = fields[at + 2] if len(fields) > at + 2 else ""
            return (fields[0] if at == 3 else None, event, fields[at - 2], share)
    return None


def _of_json(line: str, known: dict[str, Event], file: object, place: str) -> _Found:
    try:
        row = json.loads(line)
    except ValueError as e:
        raise InputError(
            file, place, "JSON", Bare(f"wrong: {e}"), "an object of perf stat -j"
        ) from e
    event = known.get(_plain(str(row.get("event", ""))))
    if event is None or "counter-value" not in row:
        return None
    return row.get("interval"), event, row["counter-value"], row.get("pcnt-running")


def _plain(name: str) -> str:
    """An event's name in lower case, without its PMU, slashes and modifiers."""
    inner = re.fullmatch(r"\w+/(?:.*\bname=)?([\w.]+)/\w*", name.strip())
    return (inner[1] if inner else name.strip().split(":")[0]).lower()


def _count(value: Any, event: Event, file: object, place: str) -> float:
    text = str(value).strip()
    if text.startswith("<"):
        raise _not_counted(event, text.strip("<>"), file, place)
    return _number(text, file, place, event.name, "a count")


def _not_counted(event: Event, what: str, file: object, place: str) -> InputError:
    allowed = "a count; give perf fewer events at once, or another machine"
    return InputError(file, place, event.name, Bare(what), allowed)


def _number(value: Any, file: object, place: str, field: str, allowed: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < float("inf"):
        raise InputError(file, place, field, value, f"{allowed}, a number of at least 0")
    return number
