# SPDX-License-Identifier: Apache-2.0
"""Parses lines of words and numbers in other simulators' traces, with the exact place of errors.

It is compiled. Fields are separated by blanks or commas. Blank lines are skipped.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from anemone.trace.csvscan import BAD, FEW, MANY, OK, number

DECIMAL, HEX, WORD = range(3)  # decimal or 0x; hexadecimal, 0x or not; at most eight letters
ABSENT = (1 << 64) - 1  # value of an optional field that is absent


@njit(cache=True, nogil=True)
def _hexadecimal(text, first, last):  # type: ignore[no-untyped-def]
    """(the hexadecimal number in text[first:last], whether it is one)."""
    if last - first > 2 and text[first] == 48 and (text[first + 1] | 32) == 120:
        first += 2
    value = np.uint64(0)
    if last == first or last - first > 16:
        return value, False
    for i in range(first, last):
        c = text[i]
        if 48 <= c <= 57:
            digit = c - 48
        elif 97 <= (c | 32) <= 102:
            digit = (c | 32) - 87
        else:
            return value, False
        value = value << np.uint64(4) | np.uint64(digit)
    return value, True


@njit(cache=True, nogil=True)
def _word(text, first, last):  # type: ignore[no-untyped-def]
    """(a word's bytes as a big-endian number, whether it has at most eight)."""
    value = np.uint64(0)
    if last - first > 8:
        return value, False
    for i in range(first, last):
        value = value << np.uint64(8) | np.uint64(text[i])
    return value, True


@njit(cache=True, nogil=True)
def _separates(c):  # type: ignore[no-untyped-def]
    return c == 32 or c == 9 or c == 13 or c == 44


@njit(cache=True, nogil=True)
def scan(text, forms, minimum, out):  # type: ignore[no-untyped-def]
    """Parse text, uint8, into out, uint64[fields + 1, rows], which has a row for each field and one
    for line numbers.

    forms: of each field. minimum: number of required fields; others may be ABSENT. Returns (rows,
    line, error, field, first, last) like csvscan.scan.
    """
    row, line, at, end = 0, 0, 0, len(text)
    while at < end:
        line += 1
        stop = at
        while stop < end and text[stop] != 10:
            stop += 1
        field = 0
        while True:
            while at < stop and _separates(text[at]):
                at += 1
            if at == stop:
                break
            first = at
            while at < stop and not _separates(text[at]):
                at += 1
            if field == len(forms):
                return row, line, MANY, field, first, at
            if forms[field] == DECIMAL:
                value, good = number(text, first, at)
            elif forms[field] == HEX:
                value, good = _hexadecimal(text, first, at)
            else:
                value, good = _word(text, first, at)
            if not good:
                return row, line, BAD, field, first, at
            out[field, row] = value
            field += 1
        if field:
            if field < minimum:
                return row, line, FEW, field, at, at
            for i in range(field, len(forms)):
                out[i, row] = np.uint64(0xFFFFFFFFFFFFFFFF)
            out[len(forms), row] = line
            row += 1
        at = stop + 1
    return row, line, OK, 0, 0, 0
