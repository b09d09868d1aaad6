# SPDX-License-Identifier: Apache-2.0
"""The fast model: `nemo` on arrays, compiled, and tested against it.

It makes one pass over the trace for each rule. Counters are unpacked to one uint64 each, at
position index * channels + channel. This is the order of results, so reads are already sorted. A
bitmap of counters that may be non-zero makes frequent reads of few counters fast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from anemone.hardware.geometry import WORDS_PER_LINE, Geometry
from anemone.telemetry.rules import HASH_BITS, NEAR, OP_CODES, OPERANDS, PREDICATES, Rule

ADD, SUB, SHR, SHL = (OP_CODES[name] for name in ("add", "sub", "shr", "shl"))
XOR, OR, MAX, ADDSAT = (OP_CODES[name] for name in ("xor", "or", "max", "addsat"))
MIN, SUBSAT, LAST = (OP_CODES[name] for name in ("min", "subsat", "last"))
EWMA2, EWMA4, EWMA8 = (OP_CODES[name] for name in ("ewma2", "ewma4", "ewma8"))
RESET, NO_EFFECT = 256, 257  # codes of effects that are not ops
NONE, EQ, GE, GT, LT, LE = range(len(PREDICATES))
LINE, IS_WRITE = OPERANDS.index("line"), OPERANDS.index("is_write")

# Indices of a rule's parameters, and of its counts.
(P_READS, P_WRITES, P_START, P_END, P_KEY_MASK, P_KEY_SHIFT, P_SUB_MASK, P_SUB_SHIFT, P_OP,
 P_KIND, P_OPERAND, P_WIDTH, P_NOTIFY, P_LIMIT, P_EFFECT, P_EFFECT_OPERAND, P_CHANNELS,
 P_EVERY, P_NEAR, P_MULTIPLIER, P_SIZE) = range(21)  # fmt: skip
(C_MATCHED, C_UNMAPPED, C_OUT_OF_RANGE, C_NOTIFICATIONS, C_NOTIFIED, C_CHANNEL, C_INDEX,
 C_EVENTS) = range(8)  # fmt: skip

_UNMAPPED = np.uint32(0xFFFFFFFF)
_0, _1, _6, _63, _64 = (np.uint64(n) for n in (0, 1, 6, 63, 64))
_HASH_BITS, _HASHED = np.uint64(HASH_BITS), np.uint64((1 << HASH_BITS) - 1)
_CHUNK = 1 << 22  # events between two progress reports
_BUFFER = 1 << 20  # rows in the buffer of reads


@njit(cache=True, nogil=True)
def _apply(op, value, operand, width, mask):  # type: ignore[no-untyped-def]
    """Apply an update op. value and operand must be within mask."""
    if op == ADD:
        return (value + operand) & mask
    if op == SUB:
        return (value - operand) & mask
    if op == SHR:
        amount = operand & _63
        return value >> amount if amount < width else _0
    if op == SHL:
        amount = operand & _63
        return (value << amount) & mask if amount < width else _0
    if op == XOR:
        return value ^ operand
    if op == OR:
        return value | operand
    if op == MAX:
        return max(value, operand)
    if op == ADDSAT:
        return value + operand if operand <= mask - value else mask
    if op == MIN:
        return min(value, operand)
    if op == SUBSAT:
        return value - operand if operand < value else _0
    if op == LAST:
        return operand
    if op in (EWMA2, EWMA4, EWMA8):
        shift = np.uint64(op) - np.uint64(EWMA2) + _1
        if operand >= value:
            return value + ((operand - value) >> shift)
        down = value - operand
        return value - (down >> shift) - (_1 if down & ((_1 << shift) - _1) else _0)
    raise ValueError("an op code without a meaning")


@njit(cache=True, nogil=True)
def _holds(predicate, value, limit):  # type: ignore[no-untyped-def]
    if predicate == EQ:
        return value == limit
    if predicate == GE:
        return value >= limit
    if predicate == GT:
        return value > limit
    if predicate == LT:
        return value < limit
    return value <= limit  # LE


@njit(cache=True, nogil=True)
def _after_read(p, value):  # type: ignore[no-untyped-def]
    """A counter after the read effect."""
    effect, operand, width = p[P_EFFECT], p[P_EFFECT_OPERAND], p[P_WIDTH]
    if effect == NO_EFFECT:
        return value
    if effect == RESET:
        return operand
    return _apply(effect, value, operand, width, _mask(width))


@njit(cache=True, nogil=True)
def _affect(p, state, at):  # type: ignore[no-untyped-def]
    """Apply the read effect to the counters at these positions.

    The bitmap is not updated, because it is not used if the effect changes zeros.
    """
    for i in at:
        state[i] = _after_read(p, state[i])


@njit(cache=True, nogil=True)
def _take(p, state, live, at, written):  # type: ignore[no-untyped-def]
    """Subtract written values from the counters at these positions."""
    op, mask = p[P_OP], _mask(p[P_WIDTH])
    fresh = p[P_EFFECT_OPERAND] if p[P_EFFECT] == RESET else _0
    for n in range(len(at)):
        i = at[n]
        if op in (ADD, SUB, ADDSAT, SUBSAT):
            state[i] = (state[i] - written[n] + fresh) & mask
        elif op == XOR:
            state[i] ^= written[n] ^ fresh
        elif op == OR:
            state[i] = (state[i] & ~written[n]) | fresh
        elif op in (MAX, MIN, LAST) and state[i] == written[n]:
            state[i] = fresh
        if state[i]:
            live[i >> 6] |= _1 << np.uint64(i & 63)


@njit(cache=True, nogil=True)
def _mask(width):  # type: ignore[no-untyped-def]
    return ~_0 >> (_64 - width)


@njit(cache=True, nogil=True)
def _fold(p, table, state, live, counts, addr, write, near, first, last):  # type: ignore[no-untyped-def]
    """Match, update and notify for the events first to last of the trace."""
    reads, writes, start, end = p[P_READS], p[P_WRITES], p[P_START], p[P_END]
    key_mask, key_shift = p[P_KEY_MASK], p[P_KEY_SHIFT]
    sub_mask, sub_shift = p[P_SUB_MASK], p[P_SUB_SHIFT]
    multiplier, size = p[P_MULTIPLIER], p[P_SIZE]
    op, kind, immediate, width = p[P_OP], p[P_KIND], p[P_OPERAND], p[P_WIDTH]
    predicate, limit, channels = p[P_NOTIFY], p[P_LIMIT], p[P_CHANNELS]
    asked = p[P_NEAR]
    mask, entries = _mask(width), np.uint64(len(table))
    counters = np.uint64(len(state)) // channels
    matched = unmapped = out_of_range = notifications = 0
    for i in range(first, last):
        a = addr[i]
        if not (writes if write[i] else reads) or a < start or a >= end:
            continue
        if asked and near[i] != asked:
            continue
        key = (a & key_mask) >> key_shift
        if key >= entries or table[key] == _UNMAPPED:
            unmapped += 1
            continue
        offset = (a & sub_mask) >> sub_shift
        if size:
            if offset > _HASHED:
                out_of_range += 1
                continue
            offset = ((offset * multiplier & _HASHED) * size) >> _HASH_BITS
        index = np.uint64(table[key]) + offset
        if index >= counters:
            out_of_range += 1
            continue
        channel = (a >> _6) & (channels - _1)
        at = index * channels + channel
        operand = immediate
        if kind == LINE:
            operand = (a >> _6) & mask
        elif kind == IS_WRITE:
            operand = np.uint64(write[i])
        value = _apply(op, state[at], operand, width, mask)
        state[at] = value
        live[at >> _6] |= _1 << (at & _63)
        matched += 1
        if predicate != NONE and _holds(predicate, value, limit):
            notifications += 1
            if not counts[C_NOTIFIED]:
                counts[C_NOTIFIED], counts[C_CHANNEL], counts[C_INDEX] = _1, channel, index
    counts[C_MATCHED] += np.uint64(matched)
    counts[C_UNMAPPED] += np.uint64(unmapped)
    counts[C_OUT_OF_RANGE] += np.uint64(out_of_range)
    counts[C_NOTIFICATIONS] += np.uint64(notifications)
    counts[C_EVENTS] += np.uint64(last - first)


@njit(cache=True, nogil=True)
def _read_all(p, state, live, index, channel, value, n):  # type: ignore[no-untyped-def]
    """Read every line with effect; non-zero values go into the columns from row n on."""
    channels = p[P_CHANNELS]
    moves_zero = _after_read(p, _0) != _0
    for word in range(len(live)):
        bits = live[word]
        if bits == _0 and not moves_zero:
            continue
        for bit in range(min(64, len(state) - word * 64)):
            if moves_zero or (bits >> np.uint64(bit)) & _1:
                at = np.uint64(word * 64 + bit)
                before = state[at]
                after = _after_read(p, before)
                state[at] = after
                if before != _0:
                    index[n], channel[n], value[n] = at // channels, at % channels, before
                    n += 1
                if after != _0:
                    bits |= _1 << np.uint64(bit)
                else:
                    bits &= ~(_1 << np.uint64(bit))
        live[word] = bits
    return n


@njit(cache=True, nogil=True)
def _replay(
    p, table, state, live, counts, addr, write, near, at, stop, event, index, channel, value
):  # type: ignore[no-untyped-def]
    """Run events at to stop with the periodic reads that are due, until the columns may overflow.

    Returns (the next event, rows filled).
    """
    n, every = 0, np.int64(p[P_EVERY])
    while at < stop and n + len(state) <= len(event):
        due = every - np.int64(counts[C_EVENTS]) % every
        last = min(stop, at + due)
        _fold(p, table, state, live, counts, addr, write, near, at, last)
        if last == at + due:
            before = n
            n = _read_all(p, state, live, index, channel, value, n)
            event[before:n] = counts[C_EVENTS]
        at = last
    return at, n


class Telemetry:
    """One rule on one pipeline, like nemo.Telemetry, for arrays of events.

    reads: results of the periodic reads so far, as a list of (event uint64, index uint32, channel
    uint8, value uint64) columns, sorted; a caller with a long trace may remove entries.
    """

    def __init__(self, rule: Rule, geometry: Geometry) -> None:
        self.rule, self.geometry = rule, geometry
        self.reads: list[tuple[np.ndarray, ...]] = []
        self._table = np.full(geometry.table, _UNMAPPED)
        self._table[rule.map[:, 0]] = rule.map[:, 1]
        size = geometry.counters(rule.width) * geometry.channels
        self._state = np.zeros(size, np.uint64)
        self._live = np.zeros((size + 63) // 64, np.uint64)
        self._counts = np.zeros(8, np.uint64)
        mask = (1 << rule.width) - 1
        effect = {"none": NO_EFFECT, "reset": RESET, **OP_CODES}
        self._p = np.array(
            [
                "R" in rule.type, "W" in rule.type, rule.start, rule.end,
                rule.primary_mask, rule.primary_shift, rule.sub_mask, rule.sub_shift,
                OP_CODES[rule.op], OPERANDS.index(rule.operand_kind), rule.operand & mask,
                rule.width, PREDICATES.index(rule.notify_op), rule.notify_operand & mask,
                effect[rule.effect_op],
                rule.effect_operand & mask, geometry.channels, rule.read_every,
                NEAR.index(rule.near), rule.hash_multiplier, rule.hash_size,
            ],
            np.uint64,
        )  # fmt: skip

    matched = property(lambda self: int(self._counts[C_MATCHED]))
    unmapped = property(lambda self: int(self._counts[C_UNMAPPED]))
    out_of_range = property(lambda self: int(self._counts[C_OUT_OF_RANGE]))
    notifications = property(lambda self: int(self._counts[C_NOTIFICATIONS]))

    @property
    def notified(self) -> tuple[int, int] | None:
        """(channel, index) of the first notification since `acknowledge`."""
        c = self._counts
        return (int(c[C_CHANNEL]), int(c[C_INDEX])) if c[C_NOTIFIED] else None

    def acknowledge(self) -> None:
        """Let the next notification be latched."""
        self._counts[C_NOTIFIED] = 0

    def set_translation(
        self, key: int | np.ndarray, base: int | np.ndarray, valid: bool = True
    ) -> None:
        """Change entries of the table, between two calls of `events`.

        key: an entry, or int[k]. base: its new base index, or int[k]. valid: False unmaps the
        entries. Raises ValueError, without changes, for a key or base out of range.
        """
        counters = self.geometry.counters(self.rule.width)
        for name, value, end in (("key", key, len(self._table)), ("base", base, counters)):
            if np.any(np.less(value, 0) | np.greater_equal(value, end)):
                raise ValueError(f"{name} {value}: 0 to {end - 1}")
        self._table[key] = base if valid else _UNMAPPED

    def clear(self) -> None:
        """Clear like the hardware: zero all counters and counts, unmap every key, and let the next
        notification be latched. `reads` and the position in their period are kept.
        """
        self._state[:] = self._live[:] = 0
        self._table[:] = _UNMAPPED
        self._counts[:C_EVENTS] = 0

    def events(
        self,
        addr: np.ndarray,
        write: np.ndarray,
        progress: Callable[[int], None] | None = None,
        near: np.ndarray | None = None,
    ) -> None:
        """Process requests, and periodic reads that are due. addr: uint64[n] in bytes, write:
        bool[n].

        A trace may be divided into several calls. near: uint8[n], the outcome in near memory in
        flat memory mode, as positions in NEAR; 0 is unknown. progress: called with the number of
        events done since the last call.
        """
        if near is None:
            near = np.zeros(len(addr) if self._p[P_NEAR] else 0, np.uint8)
        elif len(near) != len(addr):
            raise ValueError(f"{len(addr)} addresses, {len(near)} outcomes")
        if len(write) != len(addr):
            raise ValueError(f"{len(addr)} addresses, {len(write)} flags of writes")
        addr = np.ascontiguousarray(addr, np.uint64)
        write = np.ascontiguousarray(write, np.bool_)
        near = np.ascontiguousarray(near, np.uint8)
        arrays = (self._p, self._table, self._state, self._live, self._counts)
        size = max(_BUFFER, len(self._state)) if self.rule.read_every else 0
        buffer = tuple(np.empty(size, t) for t in (np.uint64, np.uint32, np.uint8, np.uint64))
        for first in range(0, len(addr), _CHUNK):
            at, last = first, min(first + _CHUNK, len(addr))
            if not self.rule.read_every:
                _fold(*arrays, addr, write, near, at, last)
                at = last
            while at < last:
                at, rows = _replay(*arrays, addr, write, near, at, last, *buffer)
                self.reads.append(tuple(column[:rows].copy() for column in buffer))
            if progress:
                progress(last - first)

    def read_line(self, channel: int, line: int, effect: bool) -> list[int]:
        """Eight state words before the read effect, which applies to the whole line."""
        per_word = 64 // self.rule.width
        at = np.arange(line * self.per_line, (line + 1) * self.per_line)
        at = at * self.geometry.channels + channel
        before = self._state[at]
        if effect:
            _affect(self._p, self._state, at)
        bits = np.arange(per_word, dtype=np.uint64) * np.uint64(self.rule.width)
        return np.bitwise_or.reduce(before.reshape(WORDS_PER_LINE, per_word) << bits, 1).tolist()

    def acknowledge_line(self, channel: int, line: int, words: list[int]) -> None:
        """Subtract a line that was read (eight state words) from the counters."""
        width = self.rule.width
        at = np.arange(line * self.per_line, (line + 1) * self.per_line)
        bits = np.arange(0, 64, width, dtype=np.uint64)
        written = np.array(words, np.uint64)[:, None] >> bits & (~_0 >> (_64 - np.uint64(width)))
        at = at * self.geometry.channels + channel
        _take(self._p, self._state, self._live, at, written.reshape(-1))

    def read(self, index: slice | ArrayLike | None = None, effect: bool = False) -> np.ndarray:
        """Read counters: uint64[k, channels], the values before the read effect.

        index: counters of every channel, as a slice, a range or int[k]; None is all. effect: apply
        the read effect, once, to all counters of each line with one of these counters on every
        channel, because hardware reads whole lines of 64 B. Raises IndexError for an invalid
        counter.
        """
        counters = self._state.reshape(-1, self.geometry.channels)
        if index is None or isinstance(index, slice):
            at = np.arange(len(counters))[index or slice(None)]
        else:
            at = np.asarray(index)
            if at.size and (at.dtype.kind not in "iu" or at.min() < 0 or at.max() >= len(counters)):
                raise IndexError(f"counters are whole numbers of 0 to {len(counters) - 1}")
            at = at.astype(np.int64).reshape(-1)
        values = counters[at]
        if effect:
            size = self.per_line * self.geometry.channels
            first = np.unique(at // self.per_line) * size
            _affect(self._p, self._state, (first[:, None] + np.arange(size)).reshape(-1))
        return values

    @property
    def per_line(self) -> int:
        """Counters in a telemetry line of 64 B."""
        return WORDS_PER_LINE * (64 // self.rule.width)

    def nonzero(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(index, channel, value) columns of the non-zero counters, sorted."""
        at = np.flatnonzero(self._state)
        channels = self.geometry.channels
        return at // channels, at % channels, self._state[at]


def warm_up() -> None:
    """Compile all kernels or load them from the cache, so that this is not part of a measured
    run.
    """
    one = np.zeros(1, np.uint64), np.zeros(1, np.bool_)
    geometry = Geometry(channels=1, pipelines=1, states=16, table=2)
    for every in (0, 1):
        telemetry = Telemetry(Rule(name="", end=1, read_every=every), geometry)
        telemetry.events(*one)
        telemetry.read(effect=True)
