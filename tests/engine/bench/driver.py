# SPDX-License-Identifier: Apache-2.0
"""Runs plans on the engine's ports and compares the outputs cycle by cycle.

The whole plan is known in advance, so a cycle costs one wake-up. At the rising edge cocotb still
sees the settled values of the cycle: all outputs are compared and the next cycle's inputs are
written. Handles are used without cocotb's conversions, which would cost more than the simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from anemone.hardware.geometry import WORDS_PER_LINE
from anemone.telemetry.rules import OPS, WIDTHS, Rule
from tests.bench.difference import Difference
from tests.engine.bench.plan import Line, Plan, Timing, Written, strobe_signals
from tests.engine.bench.script import registers
from tests.engine.bench.sizes import Size
from tests.engine.bench.words import LineWords

Step = list[tuple[Callable[[int, Any], None], Any]]
DEPOSIT = 0  # takes effect after the edge
SHOWN = 12  # cycles printed before a difference


class Driver:
    """The engine's ports."""

    def __init__(self, dut: Any, size: Size) -> None:
        self.dut, self.size = dut, size
        self.edge = RisingEdge(dut.clock)
        self._pins: dict[str, Any] = {}
        self._last: dict[str, int] = {}  # the last value of each input
        self._none: list[Written | None] = [None] * size.channels
        strobes = strobe_signals(size.channels, size.pipelines)
        self._strobes = [self._pin(name)._handle.get_signal_val_long for name in strobes]
        self._strobe_names = strobes
        self._words = [
            [self.getter(f"lines_{c}_bits_words_{k}") for k in range(WORDS_PER_LINE)]
            for c in range(size.channels)
        ]
        self._written = [LineWords(self, c) for c in range(size.channels)]
        self._poison = [self.getter(f"lines_{c}_bits_poison") for c in range(size.channels)]

    def _pin(self, name: str) -> Any:
        if name not in self._pins:
            port = name if name in ("clock", "reset") else f"io_{name}"
            self._pins[name] = getattr(self.dut, port)
        return self._pins[name]

    def getter(self, name: str) -> Callable[[], str]:
        """A function that returns an output's bits."""
        return self._pin(name)._handle.get_signal_val_binstr

    def get(self, name: str) -> int:
        """An output's value in this cycle."""
        return int(self.getter(name)(), 2)

    def _write(self, name: str, value: int) -> tuple[Callable[[int, Any], None], Any]:
        pin = self._pin(name)
        width = len(pin)
        value &= (1 << width) - 1
        if width < 32:
            return pin._handle.set_signal_val_int, value
        return pin._handle.set_signal_val_binstr, f"{value:0{width}b}"

    def set(self, **values: int) -> None:
        """Set inputs of the next cycle."""
        for name, value in values.items():
            self._last[name] = value
            function, data = self._write(name, value)
            function(DEPOSIT, data)

    def start(self) -> None:
        """Start the clock, with every input zero and reset."""
        Clock(self.dut.clock, 2, unit="step").start()
        self._last.clear()
        for pin in self.dut:
            port, _, name = pin._name.partition("_")
            output = name.startswith(
                ("lines", "status", "acknowledged", "faults")
            ) or name.endswith(("ready", "_index", "_first"))
            if port == "io" and not output:
                self.set(**{name: 0})
        self.set(reset=1)

    def _steps(self, plan: Plan) -> list[Step]:
        """A plan's input changes as calls."""
        steps, last, write = [], self._last, self._write
        for drives in plan.drives:
            step = []
            for name, value in drives:
                if last.get(name) != value:
                    last[name] = value
                    step.append(write(name, value))
            steps.append(step)
        return steps

    async def run_plan(self, plan: Plan) -> None:
        """Run a plan from its first cycle to its last. Raises Difference."""
        edge, strobes, lines, status = self.edge, self._strobes, plan.lines, plan.status
        for t, (step, expected) in enumerate(zip(self._steps(plan), plan.strobes, strict=True)):
            for function, value in step:
                function(DEPOSIT, value)
            await edge
            for port, written in zip(self._written, plan.written.get(t, self._none), strict=True):
                port.cycle(*(written or ()))
            seen = [strobe() for strobe in strobes]
            if seen != expected:
                self._compare_strobes(plan, t, seen)
            if t in lines:
                for line in lines[t]:
                    self._compare_line(plan, line)
            if t in status:
                for name, value in status[t]:
                    if self.get(name) != value:
                        self._differ(plan, t, name, self.get(name), value)

    def _compare_strobes(self, plan: Plan, t: int, seen: list[int]) -> None:
        for name, got, expected in zip(self._strobe_names, seen, plan.strobes[t], strict=True):
            if expected is not None and got != expected:
                self._differ(plan, t, name, got, expected)

    def _compare_line(self, plan: Plan, line: Line) -> None:
        got = [int(word(), 2) for word in self._words[line.channel]]
        poison = int(self._poison[line.channel](), 2)
        if got == line.words and poison == int(line.poison):
            return
        same = all(g == w or (line.either and g == 0) for g, w in zip(got, line.words, strict=True))
        if not same or poison != int(line.poison):
            expected = f"{_hex(line.words)} poison {int(line.poison)} of pipeline {line.pipeline}"
            name = f"lines_{line.channel}"
            self._differ(plan, line.at, name, f"{_hex(got)} poison {poison}", expected)

    def _differ(self, plan: Plan, t: int, name: str, got: object, expected: object) -> None:
        before = []
        for cycle in range(max(0, t - SHOWN), t + 1):
            now = dict(plan.drives[cycle])
            kept = {k: v for k, v in now.items() if v or not k.endswith("valid")}
            shown = [f"{k}={v:#x}" for k, v in kept.items() if _shown(k, now)]
            before.append(f"  {cycle}: {' '.join(shown)}")
        raise Difference(
            f"cycle {t}: {name} is {got}, not {expected}; the inputs up to then:\n"
            + "\n".join(before)
        )

    # --- measured latencies ---

    async def calibrate(self) -> Timing:
        """Measure the latencies once on an idle engine, so a plan can be exact."""
        self.set(reset=1)
        for _ in range(3):
            await self.edge
        self.set(reset=0)
        for _ in range(self.size.clear_cycles + 2):
            await self.edge
        assert not self.get("status_0_clearing"), "still clearing"
        end = 1 << self.size.address_bits
        features = self.size.features
        rule = Rule(
            name="count", end=end, primary_mask=0,
            op=features.of_ops(OPS)[0], width=features.of_widths(WIDTHS)[-1],
            notify_op="ge" if features.notify else "none",
        )  # fmt: skip
        fields = {f"rule_bits_rule_{k}": v for k, v in registers(rule, True, self.size).items()}
        self.set(rule_bits_pipeline=0, **fields)
        loading = await self._until({"rule_valid": 1}, {"rule_ready": 1}, hold=True)
        entry = {"pipeline": 0, "key": 0, "base": 0, "mapped": 1}
        self.set(**{f"table_bits_{k}": v for k, v in entry.items()})
        await self._until({"table_valid": 1}, {"table_ready": 1})
        self.set(events_0_bits_address=0, events_0_bits_write=0)
        names = ("matched", "notifications", "notified")[: 3 if features.notify else 1]
        lags = await self._until({"events_0_valid": 1}, {f"status_0_{n}": 1 for n in names})
        read = await self._until({"reads_0_valid": 1}, {"lines_0_valid": 1})
        take = 0
        if features.acknowledge:
            taken = {"acknowledge_0_valid": 1}
            done = await self._until(taken, {"acknowledge_0_ready": 1}, hold=True)
            take = done["acknowledge_0_ready"]
        late = max(lags.values())
        shown = (lags.get(f"status_0_{n}", late) for n in ("matched", "notifications", "notified"))
        return Timing(loading["rule_ready"], read["lines_0_valid"], *shown, take)

    async def _until(
        self, drive: dict[str, int], expected: dict[str, int], hold: bool = False
    ) -> dict[str, int]:
        """Drive inputs for a cycle, or until all of `expected` shows. Returns the cycle of each."""
        seen: dict[str, int] = {}
        self.set(**drive)
        for t in range(40):
            await self.edge
            for name, value in expected.items():
                if self.get(name) == value:
                    seen.setdefault(name, t)
            if not hold or len(seen) == len(expected):
                self.set(**dict.fromkeys(drive, 0))
            if len(seen) == len(expected):
                return seen
        raise Difference(f"of {expected} only {seen} within 40 cycles of {drive}")


def _shown(name: str, now: dict[str, int]) -> bool:
    """A valid signal of a handshake, or its payload."""
    return now.get(f"{name.partition('_bits')[0]}_valid", 1) != 0 and now[name] is not None


def _hex(words: list[int]) -> str:
    return "[" + " ".join(f"{word:x}" for word in words) + "]"
