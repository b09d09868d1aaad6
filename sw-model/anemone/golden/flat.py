# SPDX-License-Identifier: Apache-2.0
"""The reference model of flat memory mode: Memstrata §3.1, one access at a time, with the contents.

It is written to be compared with docs/flat.md; `flat_fast` is the fast version. Each access of near
and far memory is counted where it is made, so the table of traffic is a result and not an input.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from anemone.flat.config import FlatConfig
from anemone.flat.result import DEDICATED, HIT, MISS, SWAP, Counts
from anemone.hardware.geometry import LINE_BYTES

WHOLE = (1 << LINE_BYTES) - 1  # strobe of a write of all bytes
NEAR = 0  # a set's near slot; slot s + 1 is far slot s


def unwritten(p: int) -> bytes:
    """The content of physical line p before its first write: ~p in every 8 bytes."""
    return (~p & (1 << 64) - 1).to_bytes(8, "little") * (LINE_BYTES // 8)


def merge(old: bytes, new: bytes, strobe: int) -> bytes:
    """A line after a write of the bytes whose bit is set in `strobe`."""
    pairs = zip(old, new, strict=True)
    return bytes(n if strobe >> i & 1 else o for i, (o, n) in enumerate(pairs))


class FlatMemory:
    """Near and far memory with one controller, after reset.

    Lines have 64 B: p is a physical line; near and far lines are those of each port. counts: see
    Counts. outcome: of the last access. mismatches: reads that did not return the data last
    written.
    """

    def __init__(self, config: FlatConfig) -> None:
        self.config = config
        self.counts = Counts()
        self.outcome: int | None = None
        self.mismatches = 0
        self._near: dict[int, bytes] = {}  # written lines, by number
        self._far: dict[int, bytes] = {}
        self._slots: dict[int, list[int]] = {}  # set -> the tag in each of its slots
        self._missed: dict[int, tuple[int, int]] = {}  # set -> (tag, its consecutive misses)
        self._misses_to_swap = config.n  # policy one_in
        self._written: dict[int, bytes] = {}  # expected read data, by physical line

    def set_policy(self, policy: str, n: int) -> None:
        """Change the policy from the next access on. The channel's misses are counted from then on;
        a set's count of consecutive misses is kept until `nth` continues it.
        """
        if (policy, n) != (self.config.policy, self.config.n):
            self.config = replace(self.config, policy=policy, n=n)
            self._misses_to_swap = n

    # --- accesses ---

    def read(self, p: int) -> bytes:
        """Read physical line p."""
        data = self._read(p)
        self.mismatches += data != self._written.get(p, unwritten(p))
        return data

    def _read(self, p: int) -> bytes:
        if p in self.config.dedicated_lines:
            self.outcome = DEDICATED
            return self._read_near(self._dedicated_line(p))
        set_index, tag = self._set_and_tag(p)
        near = self._read_near(set_index)  # the read also returns the tags
        if self._hits(set_index, tag):
            return near
        data = self._read_far(self._far_line(set_index, tag))
        if self._swaps(set_index, tag, near):
            self._swap(set_index, tag, near, data)
        return data

    def write(self, p: int, data: bytes, strobe: int = WHOLE) -> None:
        """Write the bytes of physical line p whose bit is set in `strobe`."""
        self._write(p, data, strobe)
        self._written[p] = merge(self._written.get(p, unwritten(p)), data, strobe)

    def _write(self, p: int, data: bytes, strobe: int) -> None:
        if p in self.config.dedicated_lines:
            self.outcome = DEDICATED
            self._write_near(self._dedicated_line(p), data, strobe)
            return
        set_index, tag = self._set_and_tag(p)
        near = self._read_near(set_index)
        if self._hits(set_index, tag):
            self._write_near(set_index, data, strobe)
        elif not self._swaps(set_index, tag, near):
            self._write_far(self._far_line(set_index, tag), data, strobe)
        else:
            if strobe != WHOLE:
                data = merge(self._read_far(self._far_line(set_index, tag)), data, strobe)
            self._swap(set_index, tag, near, data)

    # --- sets (Memstrata §3.1, "Mapping physical and local memory") ---

    def _set_and_tag(self, p: int) -> tuple[int, int]:
        """Set and tag of a physical line."""
        if not 0 <= p < self.config.lines:
            raise IndexError(f"no physical line {p}: there are {self.config.lines}")
        return p % self.config.near_lines, p // self.config.near_lines

    def _tags(self, set_index: int) -> list[int]:
        """The tag in each slot of a set: a permutation, the identity after reset."""
        return self._slots.setdefault(set_index, list(range(self.config.ratio + 1)))

    def _far_line(self, set_index: int, tag: int) -> int:
        return (self._tags(set_index).index(tag) - 1) * self.config.near_lines + set_index

    def _dedicated_line(self, p: int) -> int:
        return self.config.near_lines + p - self.config.dedicated_lines.start

    def _hits(self, set_index: int, tag: int) -> bool:
        if self._tags(set_index)[NEAR] != tag:
            return False
        self.counts.hits += 1
        self.outcome = HIT
        return True

    def _swap(self, set_index: int, tag: int, near: bytes, data: bytes) -> None:
        """Swap the missed line, with the content `data`, and the near line."""
        self._write_far(self._far_line(set_index, tag), near)
        self._write_near(set_index, data)
        tags = self._tags(set_index)
        slot = tags.index(tag)
        tags[NEAR], tags[slot] = tag, tags[NEAR]
        self._missed.pop(set_index, None)

    # --- policies ---

    def _swaps(self, set_index: int, tag: int, near: bytes) -> bool:
        """Whether this miss swaps. To count a miss in the sideband costs a near write."""
        self.counts.misses += 1
        policy = self.config.policy
        swaps = policy == "every"
        if policy == "one_in":
            self._misses_to_swap -= 1
            swaps = self._misses_to_swap == 0
            if swaps:
                self._misses_to_swap = self.config.n
        elif policy == "nth":
            before, count = self._missed.get(set_index, (tag, 0))
            count = count + 1 if before == tag else 1
            swaps = count >= self.config.n
            if not swaps:
                self._missed[set_index] = (tag, count)
                self._write_near(set_index, near)
        self.counts.swaps += swaps
        self.outcome = SWAP if swaps else MISS
        return swaps

    # --- ports ---

    def _read_near(self, line: int) -> bytes:
        self.counts.near_reads += 1
        return self._near_line(line)

    def _write_near(self, line: int, data: bytes, strobe: int = WHOLE) -> None:
        self.counts.near_writes += 1
        self._near[line] = merge(self._near_line(line), data, strobe)

    def _read_far(self, line: int) -> bytes:
        self.counts.far_reads += 1
        return self._far_contents(line)

    def _write_far(self, line: int, data: bytes, strobe: int = WHOLE) -> None:
        self.counts.far_writes += 1
        self._far[line] = merge(self._far_contents(line), data, strobe)

    def _near_line(self, line: int) -> bytes:
        """The content of a near line; after reset it is the line with tag 0 of the set."""
        if line < self.config.near_lines:
            return self._near.get(line, unwritten(line))
        p = line - self.config.near_lines + self.config.dedicated_lines.start
        return self._near.get(line, unwritten(p))

    def _far_contents(self, line: int) -> bytes:
        """The content of a far line; after reset far memory has the physical lines after near
        memory's, in order.
        """
        return self._far.get(line, unwritten(line + self.config.near_lines))

    # --- inspection ---

    def where(self, p: int) -> int:
        """The slot of a physical line in its set."""
        set_index, tag = self._set_and_tag(p)
        return self._tags(set_index).index(tag)

    def contents(self, p: int) -> bytes:
        """The content of a physical line, without counting an access."""
        if p in self.config.dedicated_lines:
            return self._near_line(self._dedicated_line(p))
        set_index, tag = self._set_and_tag(p)
        if self._tags(set_index)[NEAR] == tag:
            return self._near_line(set_index)
        return self._far_contents(self._far_line(set_index, tag))

    def sets(self) -> dict[int, int]:
        """The near tag by set, of the sets in which it is not 0."""
        return {
            set_index: tags[NEAR] for set_index, tags in sorted(self._slots.items()) if tags[NEAR]
        }


def replay(memory: FlatMemory, accesses: Iterable[tuple[int, bool]], before: int = 0) -> list[int]:
    """Run a trace of (addr, write) and return the outcomes.

    Writes are of whole lines, with the row's number (from 1) in every 8 bytes. before: number of
    earlier rows of the trace.
    """
    outcomes = []
    for row, (addr, write) in enumerate(accesses, start=before + 1):
        if write:
            memory.write(addr // LINE_BYTES, row.to_bytes(8, "little") * (LINE_BYTES // 8))
        else:
            memory.read(addr // LINE_BYTES)
        assert memory.outcome is not None
        outcomes.append(memory.outcome)
    return outcomes
