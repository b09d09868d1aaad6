# SPDX-License-Identifier: Apache-2.0
"""The reference of lines that are written back to be subtracted from the counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anemone.golden.nemo import TAKEN
from anemone.hardware.geometry import WORDS_PER_LINE
from tests.engine.bench.slots import Channel

if TYPE_CHECKING:
    from tests.engine.bench.reference import Reference

# An update is in flight behind its slot for as long as a read, without the read stage's cycles.
READ_STAGE = 4
CHANGED = 0.3  # share of changed words in lines that are written back


class Takes:
    """The unit that subtracts lines, shared by all channels."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        self.channel = 0  # the last channel that had its turn
        self.done = -1  # the cycle of the last answer
        self.idle = 0  # first cycle in which another line may begin

    def offer(self, t: int, channel: Channel, running: bool) -> None:
        """Set the port's inputs of this cycle."""
        reference, rng = self.reference, self.reference.rng
        port = f"acknowledge_{channel.number}"
        if channel.take:
            return
        if running and channel.takes and channel.takes[0].at <= t:
            take = channel.take = channel.takes.popleft()
            model = reference.models[take.pipeline]
            if take.line is None:
                take.line = model.line[channel.number]
            if take.words is None:
                take.words = model.peek(channel.number, take.line)
                for k in range(WORDS_PER_LINE):
                    if rng.random() < CHANGED:
                        byte = rng.randrange(1, 256) << 8 * rng.randrange(8)
                        take.words[k] = rng.choice((rng.getrandbits(64), take.words[k] ^ byte))
            reference.bits(port, pipeline=take.pipeline, line=take.line)
        elif reference.script.noise:
            size = reference.size
            reference.bits(
                port, pipeline=rng.randrange(size.pipelines), line=rng.randrange(size.lines)
            )
        reference.drives.append((f"{port}_valid", int(channel.take is not None)))

    def cycle(self, t: int, running: bool) -> list[int]:
        """One cycle, after its slots. Returns which channels are answered."""
        reference = self.reference
        offered = [channel.take for channel in reference.channels]
        if any(offered):
            reference.plan.written[t] = [take and (take.words, take.lost) for take in offered]
        answered = [int(running and t == self.done and c.number == self.channel)
                    for c in reference.channels]  # fmt: skip
        if any(answered):
            channel = reference.channels[self.channel]
            assert channel.take is not None
            answer = (f"acknowledged_{self.channel}_bits", int(not channel.take.lost))
            reference.plan.status.setdefault(t, []).append(answer)
            channel.take = None
        ready = [c.number for c in reference.channels if c.take and c.free]
        if running and t >= self.idle and ready:
            if len(ready) > 1:
                reference.cover["take/channels at once"] += 1
            later = [c for c in ready if c > self.channel]
            self.channel = min(later or ready)
            self._begin(t, reference.channels[self.channel])
        return answered

    def _begin(self, t: int, channel: Channel) -> None:
        """Begin a line; its place in the order is after the slot of this cycle."""
        reference, take = self.reference, channel.take
        assert take is not None and take.line is not None and take.words is not None
        model, cover = reference.models[take.pipeline], reference.cover
        cover[f"channel/{channel.number}/take"] += 1
        supported = model.loaded >= 0 and model.rule.op in TAKEN
        changes = supported and not take.lost
        if changes:
            channel.reserved = reference.timing.take - 1
            self.idle = t + reference.timing.take + reference.timing.read - READ_STAGE
        else:  # it reads the line, and no more
            channel.reserved = reference.timing.read + 3
            self.idle = t + channel.reserved + 2
            cover["take/lost" if supported else "take/nothing"] += 1
        self.done = t + channel.reserved + 1
        reference.active = max(reference.active, self.done)
        if reference.off(take.pipeline, t + 1):
            cover["take/clear"] += 1
        elif changes:
            model.acknowledge_line(channel.number, take.line, take.words)
