# SPDX-License-Identifier: Apache-2.0
"""Trace rows out of CSV text, compiled: one pass, exact about what is wrong and where."""

from __future__ import annotations

import numpy as np
from numba import njit

OK, BAD, FEW, MANY = range(4)  # a value not allowed; too few fields; too many

_ZERO = np.uint64(0)


@njit(cache=True, nogil=True)
def count_lines(text, start):  # type: ignore[no-untyped-def]
    """Lines from `start` on, the last with or without its end: an upper bound of the rows."""
    n = 1
    for i in range(start, len(text)):
        if text[i] == 10:
            n += 1
    return n


@njit(cache=True, nogil=True)
def _value(text, first, last, boolean):  # type: ignore[no-untyped-def]
    """The number in text[first:last] and whether it is one: decimal, 0x, and maybe true, false."""
    n = last - first
    if boolean and (n == 4 or n == 5):
        word = b"true" if n == 4 else b"false"
        same = True
        for i in range(n):
            if text[first + i] | 32 != word[i]:
                same = False
        if same:
            return np.uint64(5 - n), True
    v = _ZERO
    if n > 2 and text[first] == 48 and (text[first + 1] | 32) == 120:  # 0x
        for i in range(first + 2, last):
            c = text[i]
            if 48 <= c <= 57:
                digit = np.uint64(c - 48)
            elif 97 <= (c | 32) <= 102:
                digit = np.uint64((c | 32) - 87)
            else:
                return _ZERO, False
            if v >> np.uint64(60):
                return _ZERO, False
            v = (v << np.uint64(4)) | digit
        return v, True
    if n == 0:
        return _ZERO, False
    for i in range(first, last):
        c = text[i]
        if c < 48 or c > 57:
            return _ZERO, False
        digit = np.uint64(c - 48)
        if v > (np.uint64(0xFFFFFFFFFFFFFFFF) - digit) // np.uint64(10):
            return _ZERO, False
        v = v * np.uint64(10) + digit
    return v, True


@njit(cache=True, nogil=True)
def scan(text, start, kinds, most, addr, write, time_ns, tenant):  # type: ignore[no-untyped-def]
    """Fill the columns from text[start:]. kinds: the column (0 to 3, as given) of each field;
    most: the largest value of each column.

    Returns (rows, line, error, field, first, last): on an error the row and line it is in, the
    field, and where in the text its value is. Blank lines are skipped, blanks around a field and
    a pair of double quotes too.
    """
    row, line, at, end = 0, 1, start, len(text)
    while at < end:
        line += 1
        stop = at
        blank = True
        while stop < end and text[stop] != 10:
            c = text[stop]
            blank = blank and (c == 32 or c == 9 or c == 13)
            stop += 1
        field = 0
        while not blank:
            comma = at
            while comma < stop and text[comma] != 44:
                comma += 1
            first, last = at, comma
            while first < last and (text[first] == 32 or text[first] == 9):
                first += 1
            while first < last and (
                text[last - 1] == 32 or text[last - 1] == 9 or text[last - 1] == 13
            ):
                last -= 1
            if last - first >= 2 and text[first] == 34 and text[last - 1] == 34:
                first += 1
                last -= 1
            if field == len(kinds):
                return row, line, MANY, field, first, last
            kind = kinds[field]
            value, good = _value(text, first, last, kind == 1)
            if not good or value > most[kind]:
                return row, line, BAD, field, first, last
            if kind == 0:
                addr[row] = value
            elif kind == 1:
                write[row] = value != _ZERO
            elif kind == 2:
                time_ns[row] = value
            else:
                tenant[row] = value
            field += 1
            at = comma + 1
            if comma == stop:
                break
        if not blank:
            if field < len(kinds):
                return row, line, FEW, field, at, at
            row += 1
        at = stop + 1
    return row, line, OK, 0, 0, 0
