# SPDX-License-Identifier: Apache-2.0
"""Drives the engine's ports cycle by cycle, for tests whose expectations are plain numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from anemone.hardware.geometry import WORDS_PER_LINE
from anemone.telemetry.rules import Rule
from tests.engine.bench.driver import Driver
from tests.engine.bench.script import Event, Read, registers
from tests.engine.bench.sizes import Size
from tests.engine.bench.words import LineWords

PATIENCE = 2000  # limit in cycles for an answer
CORRECTED = re.compile(r"io_faults_\d_of_\d_corrected")


@dataclass
class Seen:
    """A line that was returned, with its cycle and channel."""

    cycle: int
    channel: int
    words: list[int]
    poison: bool


class DirectedDriver:
    """Drives an engine. `cycle`: the current cycle; `lines`: all returned lines; `written`: by
    channel, the words of lines to be written back; `lost`: those of them with an error.
    """

    def __init__(self, dut: Any, size: Size) -> None:
        self.dut, self.size = dut, size
        self.driver = Driver(dut, size)
        self.cycle = 0
        self.lines: list[Seen] = []
        self._reads: dict[int, Read] = {}
        self.written: dict[int, list[int]] = {}
        self.lost: set[int] = set()
        self._words = [LineWords(self.driver, c) for c in range(size.channels)]
        self._corrected = [
            pin._name.removeprefix("io_") for pin in dut if CORRECTED.fullmatch(pin._name)
        ]

    async def start(self) -> None:
        """Reset, and wait until nothing is being cleared."""
        self.driver.start()
        await self.reset()
        await self.cleared()

    async def reset(self) -> None:
        """Two cycles of reset, with every valid low."""
        self._reads.clear()
        ports = ["rule", "table", "clear"]
        channel = ("events", "reads", "acknowledge")
        ports += [f"{port}_{c}" for port in channel for c in range(self.size.channels)]
        self.driver.set(**{f"{port}_valid": 0 for port in ports})
        for _ in range(2):
            await self.tick(reset=1)
        self.driver.set(reset=0)

    async def cleared(self) -> None:
        """Wait until every clear has ended."""
        await self.tick()
        pipelines = range(self.size.pipelines)
        while any(self.get(f"status_{p}_clearing") for p in pipelines):
            await self.tick()

    def get(self, name: str) -> int:
        """An output in the last cycle."""
        return self.driver.get(name)

    async def tick(
        self,
        events: dict[int, Event | int] | None = None,
        reads: dict[int, Read] | None = None,
        **inputs: int,
    ) -> None:
        """Run one cycle. events: by channel, an address or (address, write). reads: by channel,
        offered from now on until accepted. Other inputs are for this cycle only.
        """
        values = dict(inputs)
        for c, event in (events or {}).items():
            address, write = event if isinstance(event, tuple) else (event, 0)
            values |= {f"events_{c}_valid": 1, f"events_{c}_bits_address": address}
            values |= {f"events_{c}_bits_write": write}
        self._reads |= reads or {}
        for c, read in self._reads.items():
            bits = {"pipeline": read.pipeline, "line": read.line or 0, "effect": int(read.effect)}
            values |= {f"reads_{c}_bits_{name}": value for name, value in bits.items()}
            values[f"reads_{c}_valid"] = 1
        self.driver.set(**values)
        await self.driver.edge
        for c, port in enumerate(self._words):
            offered = inputs.get(f"acknowledge_{c}_valid")
            port.cycle(self.written.get(c) if offered else None, self.lost)
        corrected = "reset" not in inputs and any(map(self.get, self._corrected))
        assert not corrected, "a corrected bit that nobody flipped"
        for c in range(self.size.channels):
            if self.get(f"lines_{c}_valid"):
                words = [self.get(f"lines_{c}_bits_words_{k}") for k in range(WORDS_PER_LINE)]
                poison = bool(self.get(f"lines_{c}_bits_poison"))
                self.lines.append(Seen(self.cycle, c, words, poison))
        for c in [c for c in self._reads if self.get(f"reads_{c}_ready")]:
            self._reads.pop(c)
        names = [name for name in values if name.endswith("valid") or name in inputs]
        self.driver.set(**dict.fromkeys(names, 0))
        self.cycle += 1

    async def wait(self, cycles: int) -> None:
        """Run cycles in which nothing new is offered."""
        for _ in range(cycles):
            await self.tick()

    async def rule(self, p: int, rule: Rule, enable: bool = True) -> int:
        """Load a rule. Returns the cycles from its offer to its ready."""
        fields = {f"rule_bits_rule_{k}": v for k, v in registers(rule, enable, self.size).items()}
        for cycles in range(PATIENCE):
            await self.tick(rule_valid=1, rule_bits_pipeline=p, **fields)
            if self.get("rule_ready"):
                return cycles
        raise AssertionError("the rule is not taken")

    async def table(self, p: int, *pairs: tuple[int, int]) -> None:
        """Map keys to base indexes."""
        for key, base in pairs:
            bits = {"pipeline": p, "key": key, "base": base, "mapped": 1}
            await self.tick(table_valid=1, **{f"table_bits_{k}": v for k, v in bits.items()})
            assert self.get("table_ready")

    async def read(self, c: int, p: int, line: int, effect: bool = False) -> Seen:
        """Read a line and wait for it; the channel may have no other read in flight."""
        before = len(self.lines)
        await self.tick(reads={c: Read(0, p, line, effect)})
        for _ in range(PATIENCE):
            for seen in self.lines[before:]:
                if seen.channel == c:
                    return seen
            await self.tick()
        raise AssertionError("the line does not come")

    async def acknowledge(
        self,
        c: int,
        p: int,
        line: int,
        words: list[int],
        events: dict[int, Event | int] | None = None,
    ) -> tuple[int, bool]:
        """Write a line back. events: in each cycle until then. Returns the cycles until its answer,
        and whether it was applied.
        """
        port = f"acknowledge_{c}"
        self.driver.set(**{f"{port}_bits_pipeline": p, f"{port}_bits_line": line})
        self.written[c] = words
        for cycles in range(PATIENCE):
            await self.tick(events, **{f"{port}_valid": 1})
            if self.get(f"{port}_ready"):
                assert self.get(f"acknowledged_{c}_valid")
                return cycles, bool(self.get(f"acknowledged_{c}_bits"))
        raise AssertionError("the line is not taken")

    def status(self, p: int) -> dict[str, int]:
        """A pipeline's counters."""
        names = ("matched", "unmapped", "outOfRange", "notifications", "parityErrors")
        return {name: self.get(f"status_{p}_{name}") for name in names}


def memories(dut: Any, pipeline: int, channel: int) -> list[Any]:
    """The eight state memories of a pipeline on a channel, words 0 to 7 of a line."""
    found: list[Any] = []

    def search(scope: Any) -> None:
        for name in (f"bank_{k}" for k in range(WORDS_PER_LINE)):
            if (bank := getattr(scope, name, None)) is not None:
                found.append(bank.memory_ext.Memory)
        if not found:
            for child in scope:
                if not child._name.startswith("Memory"):
                    search(child)

    lanes = sorted(
        (len(child._name), child._name) for child in getattr(dut, f"pipeline_{pipeline}")
    )
    search(getattr(getattr(dut, f"pipeline_{pipeline}"), lanes[channel][1]))
    assert len(found) == WORDS_PER_LINE, found
    return found
