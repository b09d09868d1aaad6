# SPDX-License-Identifier: Apache-2.0
"""Parses trace rows in CSV character by character, with the exact place of errors.

This file defines the CSV format. csvfile uses pyarrow for usual spellings, and this parser for the
place of an error and for other spellings.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from anemone.trace.columns import KINDS, Form

OK, BAD, FEW, MANY = range(4)  # no error; an invalid value; too few fields; too many fields

_ZERO = np.uint64(0)
_FLAG, _REAL, _WORD = int(Form.FLAG), int(Form.REAL), int(Form.WORD)
_WORDS = tuple(word.encode() for word in KINDS)


@njit(cache=True, nogil=True)
def count_lines(text):  # type: ignore[no-untyped-def]
    """The number of newlines plus one, an upper bound of the number of rows."""
    n = 1
    for c in text:
        if c == 10:
            n += 1
    return n


@njit(cache=True, nogil=True)
def number(text, first, last):  # type: ignore[no-untyped-def]
    """(the integer in text[first:last], decimal or 0x; whether it is one)."""
    n = last - first
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
def _same(text, first, last, word, case):  # type: ignore[no-untyped-def]
    """Whether text[first:last] is a word of lower-case letters. case: bits to ignore."""
    if last - first != len(word):
        return False
    same = True
    for i in range(len(word)):
        same = same and text[first + i] | case == word[i]
    return same


@njit(cache=True, nogil=True)
def _digits(text, first, last):  # type: ignore[no-untyped-def]
    """The end of the digits that start at `first`."""
    while first < last and 48 <= text[first] <= 57:
        first += 1
    return first


@njit(cache=True, nogil=True)
def _is_real(text, first, last):  # type: ignore[no-untyped-def]
    """Whether text[first:last] is a decimal number without a sign; it may be too large."""
    at = _digits(text, first, last)
    digits = at - first
    if at < last and text[at] == 46:
        end = _digits(text, at + 1, last)
        digits += end - at - 1
        at = end
    if digits and at < last and (text[at] | 32) == 101:  # e
        at += 1
        if at < last and (text[at] == 43 or text[at] == 45):
            at += 1
        end = _digits(text, at, last)
        return end > at and end == last
    return digits > 0 and at == last


@njit(cache=True, nogil=True)
def _value(text, first, last, form, maximum):  # type: ignore[no-untyped-def]
    """(the code of the value in text[first:last], whether it is valid).

    The code of a REAL is its place, first << 32 | last; the caller converts it to a double.
    """
    if form == _WORD:
        for code, word in enumerate(_WORDS):
            if _same(text, first, last, word, 0):
                return np.uint64(code), True
        return _ZERO, False
    if form == _REAL:
        return np.uint64(first) << np.uint64(32) | np.uint64(last), _is_real(text, first, last)
    if form == _FLAG:
        if _same(text, first, last, b"true", 32):
            return np.uint64(1), True
        if _same(text, first, last, b"false", 32):
            return _ZERO, True
    value, good = number(text, first, last)
    return value, good and value <= maximum


@njit(cache=True, nogil=True)
def scan(text, forms, maximum, out):  # type: ignore[no-untyped-def]
    """Parse text, uint8, into out, uint64[fields + 1, rows], which has a row for each field and one
    for line numbers.

    forms, maximum: the Form and the largest value of each field. Returns (rows, line, error, field,
    first, last). For an error these are its row (from 0), its line (from 1), its field, and the
    place of the value in the text. Blank lines, blanks around fields and a pair of double quotes
    are skipped.
    """
    row, line, at, end = 0, 0, 0, len(text)
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
            if field == len(forms):
                return row, line, MANY, field, first, last
            value, good = _value(text, first, last, forms[field], maximum[field])
            if not good:
                return row, line, BAD, field, first, last
            out[field, row] = value
            field += 1
            at = comma + 1
            if comma == stop:
                break
        if not blank:
            if field < len(forms):
                return row, line, FEW, field, at, at
            out[len(forms), row] = line
            row += 1
        at = stop + 1
    return row, line, OK, 0, 0, 0
