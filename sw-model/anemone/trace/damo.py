# SPDX-License-Identifier: Apache-2.0
"""Reads damo's JSON records of DAMON: a list of records by target, which have snapshots.

Numbers are integers, or text with commas; times are ns, or text such as "1 m 2 s 300 ms". damo's
default format, json_compressed, is the same in one zlib stream (RFC 1950).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anemone.io.errors import MISSING, Bare, InputError

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"([\d,]+(?:\.\d+)?)\s*(ns|us|ms|s|m|h)\b\s*")
_HEAD, _TEXT_HEAD = 4096, 128  # bytes of a file and of its text that identify the format
_PACKED = "one zlib stream, as damo writes json_compressed"
_BEGINS = re.compile(rb'\s*\[\s*\{\s*"(kdamond_idx|target_id|context_idx|intervals)"')


def is_records(content: bytes) -> bool:
    """Whether a file that starts with `content` has these records, compressed or not."""
    return _BEGINS.match(_begin(content) or content) is not None


def unpacked(path: Path, content: bytes) -> bytes:
    """The text of a file, compressed or not. Raises InputError."""
    if _begin(content) is None:
        return content
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(content) + stream.flush()
    except zlib.error as e:
        raise InputError(path, "file", "records", Bare(f"broken: {e}"), _PACKED) from e
    if not stream.eof or stream.unused_data:
        what = "more than one stream" if stream.eof else "cut off"
        raise InputError(path, "file", "records", Bare(what), _PACKED)
    return text


def _begin(content: bytes) -> bytes | None:
    """The start of a decompressed zlib stream; None if it is not one."""
    try:
        return zlib.decompressobj().decompress(content[:_HEAD], _TEXT_HEAD) or None
    except zlib.error:
        return None


def regions(path: Path, text: str) -> Iterator[tuple[float, int, int, int, float]]:
    """(seconds, target, start, end, samples that found it accessed) of each region. Raises
    InputError.
    """
    try:
        records = json.loads(text)
    except ValueError as e:
        raise InputError(path, "file", "records", str(e), "JSON, as damo writes it") from e
    for n, record in enumerate(records):
        where = f"record {n}"
        target = _whole(path, where, "target_id", record)
        for i, snapshot in enumerate(_listed(path, where, "snapshots", record)):
            at = f"{where}, snapshot {i}"
            time = _time(path, at, snapshot)
            for j, region in enumerate(_listed(path, at, "regions", snapshot)):
                place = f"{at}, region {j}"
                start, end = (_whole(path, place, key, region) for key in ("start", "end"))
                seen = region.get("nr_accesses")
                # Since damo 1.8 it is given in several units.
                counts = seen if isinstance(seen, dict) else {"samples": seen}
                yield time, target, start, end, float(_whole(path, place, "samples", counts))


def _listed(path: Path, place: str, key: str, content: Any) -> list:
    found = content.get(key, MISSING) if isinstance(content, dict) else MISSING
    if not isinstance(found, list):
        raise InputError(path, place, key, found, "a list")
    return found


def _whole(path: Path, place: str, key: str, content: Any) -> int:
    found = content.get(key, MISSING) if isinstance(content, dict) else MISSING
    text = str(found).replace(",", "") if type(found) in (int, str) else ""
    if not re.fullmatch(r"\d+", text):
        raise InputError(path, place, key, found, "a whole number, commas or not")
    return int(text)


def _time(path: Path, place: str, snapshot: Any) -> float:
    """End of a snapshot in seconds."""
    found = snapshot.get("end_time", MISSING) if isinstance(snapshot, dict) else MISSING
    text = str(found).strip() if type(found) in (int, str) else ""
    if re.fullmatch(r"[\d,]+", text):
        return int(text.replace(",", "")) / 1e9
    if not text or _PART.sub("", text):
        raise InputError(path, place, "end_time", found, 'ns, or such as "1 m 2 s 300 ms"')
    parts = _PART.findall(text)
    return sum(float(number.replace(",", "")) * _UNITS[unit] for number, unit in parts) / 1e9
