# SPDX-License-Identifier: Apache-2.0
"""A pipeline's golden model with coverage, and with the state that the hardware keeps around it."""

from __future__ import annotations

from anemone.golden.nemo import Telemetry
from anemone.hardware.geometry import WORDS_PER_LINE
from anemone.telemetry.rules import HASH_BITS, Rule
from tests.engine.bench.coverage import WINDOW, Cover
from tests.engine.bench.sizes import Size

OFF = Rule(name="off", type="", end=0)
LONG_AGO = (-1000, "")


class Probe(Telemetry):
    """A pipeline's golden model; `now` is the current slot.

    on: a rule is loaded and enabled. line: of each channel, the line updated last.
    """

    def __init__(self, size: Size, cover: Cover) -> None:
        super().__init__(OFF, size.geometry)
        self.cover = cover
        self.on = False
        self.now = 0
        self.line = [0] * size.channels
        self.loaded = -1000  # the slot a rule was loaded in
        self.hit = -1000  # the slot a predicate held in
        self.seen = [-1000] * size.channels  # the last event's slot, also if it was dropped
        self.written: tuple[int, int, str] = (-1000, 0, "")  # slot, key and kind of a table write
        self.key = [(-1000, 0)] * size.channels  # slot and key of the last event
        self._touched: dict[tuple[int, int], tuple[int, str]] = {}

    def load(self, rule: Rule, enable: bool) -> None:
        """Load another rule."""
        self.rule, self.on = rule, enable
        self.loaded = self.now
        for seen in self.seen:
            if self.now - seen <= WINDOW:
                self.cover[f"rule/event/{seen - self.now}"] += 1

    def clear(self) -> None:
        """Zero states, counters, latch, and empty the table; the rule stays."""
        self.table.clear()
        for states in self.states:
            states[:] = [0] * len(states)
        self.matched = self.unmapped = self.out_of_range = self.notifications = 0
        self.notified = None
        self._touched.clear()

    def set_translation(self, key: int, base: int, valid: bool = True) -> None:
        super().set_translation(key, base, valid)
        kind = "mapped" if valid else "unmapped"
        self.written = self.now, key, kind
        if (self.now - 1, key) in self.key:
            self.cover[f"table/{kind}/behind"] += 1

    def key_of(self, addr: int) -> int:
        """The key of an event at this address."""
        return (addr & self.rule.primary_mask) >> self.rule.primary_shift

    def event(self, addr: int, write: bool) -> None:
        channel = self.geometry.channel(addr)
        self.seen[channel] = self.now
        if self.now - self.loaded <= WINDOW:
            self.cover[f"rule/event/{self.now - self.loaded}"] += 1
        if not self.on:
            self.cover["drop/off"] += 1
            return
        rule = self.rule
        unmapped, out_of_range, matched = self.unmapped, self.out_of_range, self.matched
        super().event(addr, write)
        if self.matched == matched and self.unmapped == unmapped:
            self._dropped(addr, write, self.out_of_range != out_of_range)
            if self.out_of_range == out_of_range:
                return
        key = self.key_of(addr)
        if self.unmapped != unmapped:
            self.cover["drop/key" if key >= self.geometry.table else "drop/unmapped"] += 1
        self.key[channel] = self.now, key
        slot, written, kind = self.written
        if key == written and self.now - slot <= 1:
            self.cover[f"table/{kind}/{'before' if slot != self.now else 'same cycle'}"] += 1
        if addr < rule.start + 64:
            self.cover["edge/start"] += 1
        elif addr >= rule.end - 64:
            self.cover["edge/end"] += 1

    def _dropped(self, addr: int, write: bool, out_of_range: bool) -> None:
        rule = self.rule
        if out_of_range:
            counters = self.geometry.counters(rule.width)
            base, offset = self.table[self.key_of(addr)], (addr & rule.sub_mask) >> rule.sub_shift
            part = "base" if base >= counters else "offset" if offset >= counters else "sum"
            if rule.hash_size:
                part = "hash" if not offset >> HASH_BITS else "offset too wide to be hashed"
            self.cover[f"drop/{part}"] += 1
        elif ("W" if write else "R") not in rule.type:
            self.cover["drop/type"] += 1
        else:
            self.cover["drop/below" if addr < rule.start else "drop/above"] += 1

    def _update(self, channel: int, index: int, addr: int, write: bool) -> None:
        rule, cover = self.rule, self.cover
        per_word = 64 // rule.width
        word = index // per_word
        slot, kind = self._touched.get((channel, word), LONG_AGO)
        if self.now - slot <= WINDOW:
            group = f"hazard/{rule.op}/{rule.width}" if kind == "event" else f"update-after/{kind}"
            cover[f"{group}/{self.now - slot}"] += 1
        self._touched[channel, word] = self.now, "event"
        self.line[channel] = word // WORDS_PER_LINE
        if rule.hash_size:
            cover[f"hash/{rule.width}"] += 1
        notifications = self.notifications
        super()._update(channel, index, addr, write)
        outcome = "holds" if self.notifications != notifications else "fails"
        cover[f"predicate/{rule.notify_op}/{rule.width}/{outcome}"] += 1
        cover[f"operand/{rule.operand_kind}/{rule.width}"] += 1
        cover[f"counter/{rule.width}/{index % per_word}"] += 1
        cover[f"channel/{channel}/match"] += 1
        if word == self.geometry.states - 1:
            cover["edge/last state"] += 1

    def peek(self, channel: int, line: int) -> list[int]:
        """A line's current contents, without any effect."""
        first = line * WORDS_PER_LINE
        return self.states[channel][first : first + WORDS_PER_LINE]

    def acknowledge_line(self, channel: int, line: int, words: list[int]) -> None:
        self.cover[f"take/{self.rule.op}/{self.rule.width}"] += 1
        for k in range(WORDS_PER_LINE):
            place = channel, line * WORDS_PER_LINE + k
            slot, kind = self._touched.get(place, LONG_AGO)
            if self.now - slot <= WINDOW:
                self.cover[f"take/{kind}/{self.now - slot}"] += 1
            self._touched[place] = self.now, "take"
        super().acknowledge_line(channel, line, words)

    @property
    def serial_rmw(self) -> bool:
        """A read with effect takes a slot for each word."""
        return self.rule.effect_op not in ("none", "reset")

    def read_line(self, channel: int, line: int, effect: bool) -> list[int]:
        rule, cover = self.rule, self.cover
        kind = rule.effect_op if rule.effect_op in ("none", "reset") else "op"
        shown = kind if effect else "snapshot"
        for k in range(WORDS_PER_LINE):
            word = line * WORDS_PER_LINE + k
            now = self.now + (k if effect and kind == "op" else 0)
            slot, before = self._touched.get((channel, word), LONG_AGO)
            if now - slot <= WINDOW:
                cover[f"read/{shown}/{before}/{now - slot}"] += 1
            if effect and kind != "none":
                self._touched[channel, word] = now, kind
        if effect and kind == "op":
            cover[f"effect-op/{rule.effect_op}/{rule.width}"] += 1
            cover[f"channel/{channel}/serial RMW"] += 1
        elif effect and kind == "reset":
            cover[f"reset/{rule.width}"] += 1
        cover[f"channel/{channel}/read"] += 1
        return super().read_line(channel, line, effect)
