# SPDX-License-Identifier: Apache-2.0
"""A channel of the reference, and the coverage of its slots."""

from __future__ import annotations

from collections import deque

from tests.engine.bench.coverage import Cover
from tests.engine.bench.plan import Line
from tests.engine.bench.probe import Probe
from tests.engine.bench.script import Event, Read, Script, Take

STRETCH = 1000  # slots without a gap that count as full rate
GAPS = 100  # reads among the slots that count as reads in every gap


class Channel:
    """The order of one channel."""

    def __init__(self, number: int, script: Script) -> None:
        self.number = number
        self.event_signals = [f"events_{number}_{s}" for s in _EVENT]
        self.events = script.events[number]
        self.reads = deque(script.reads[number])
        self.offered: Read | None = None
        self.waiting: deque[Event] = deque()
        self.reserved = 0  # slots left of an eight-slot read or of an acknowledgement
        self.takes = deque(script.takes[number])
        self.take: Take | None = None  # on offer
        self.free = False  # an acknowledgement may begin
        self.lines: deque[Line] = deque()
        self.last: tuple[int, int, int] = (-1, 0, 0)  # cycle, pipeline and line of the last read
        self.full = 0  # slots since the last gap, and reads among them
        self.full_reads = 0


_EVENT = ("valid", "bits_address", "bits_write")


def cover_slot(
    cover: Cover, channel: Channel, event: Event | None, read: Read | None, ready: bool
) -> None:
    """Cover one cycle of a channel, before its slot is assigned."""
    if channel.waiting:
        cover[f"queue/{len(channel.waiting)}"] += 1
        if read:
            cover["slot/read behind backlog"] += 1
    if event and read:
        cover["slot/read waits for event"] += 1
    accepted = bool(ready and read)
    if not event and not accepted:
        channel.full = channel.full_reads = 0
        return
    channel.full += 1
    channel.full_reads += accepted
    if channel.full % STRETCH == 0:
        cover["run/full rate"] += 1
        if channel.full_reads > GAPS:
            cover["run/reads in every gap"] += 1


def cover_hit(cover: Cover, model: Probe, latched: bool, acknowledged: list[bool]) -> None:
    """Cover a predicate that held. latched: an earlier hit is in the latch.

    acknowledged: whether the latch is acknowledged in the cycle this hit reaches it, and in the one
    before.
    """
    for name, hit in zip(("same cycle", "after"), acknowledged, strict=True):
        if hit:
            cover[f"acknowledge/{name}"] += 1
    if latched:
        cover["latch/first of many"] += 1
    if model.hit == model.now:
        cover["latch/channels at once"] += 1
    model.hit = model.now
