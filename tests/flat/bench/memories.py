# SPDX-License-Identifier: Apache-2.0
"""Near and far memory below the controller, with counted accesses."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from random import Random
from typing import Any

from anemone.flat.config import FlatConfig
from anemone.golden.flat import unwritten
from tests.bench.memory import Memory
from tests.bench.requests import OKAY
from tests.bench.store import Store
from tests.flat.bench.sideband import SidebandCode, Verdict


class Lines(Store):
    """Contents of one memory; unwritten lines are as in the golden model."""

    def __init__(self, initial: Any) -> None:
        super().__init__()
        self.initial = initial  # line number -> the physical line that is there first

    def read(self, line: int) -> tuple[int, int]:
        """A line and whether it is poisoned."""
        return self.lines.get(line) or (
            int.from_bytes(unwritten(self.initial(line)), "little"),
            0,
        )


class Accesses:
    """The accesses of a port; each is of one whole line."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.from_memory: defaultdict[int, deque[Any]] = defaultdict(deque)
        self.acknowledged: defaultdict[int, deque[int]] = defaultdict(deque)

    @property
    def poisoned(self) -> int:
        """Lines that were returned poisoned and not refused."""
        beats = (beat for of_id in self.from_memory.values() for beat in of_id)
        return sum(resp == OKAY and user for _, resp, _, user, *_ in beats)

    def request_below(self, t: int, write: bool, pins: tuple[int, ...]) -> None:
        """AR or AW."""
        self.counts["writes" if write else "reads"] += 1
        addr, *shape = pins[1:]
        assert addr % 64 == 0 and shape == [0, 6, 1], f"cycle {t}: {pins}"

    def data_below(self, t: int, beat: tuple[Any, ...]) -> None:
        """W."""


class Refusing(Memory):
    """Refuses requested accesses, and random ones by its profile."""

    def __init__(self, *args: Any) -> None:
        self.refusals: list[bool] = []  # the next accesses to refuse: whether a write
        self.refused: Counter[bool] = Counter()  # refused so far
        super().__init__(*args)

    def refuses(self, write: bool) -> bool:
        """Whether to refuse this access: as requested, or at random."""
        refused = write in self.refusals
        if refused:
            self.refusals.remove(write)
        refuses = refused or super().refuses(write)
        self.refused[write] += refuses
        return refuses


class Near(Refusing):
    """Near memory with a sideband for each line."""

    SIDEBAND: tuple[str, ...] = ("sideband",)

    def __init__(
        self,
        dut: Any,
        rng: Random,
        config: FlatConfig,
        prefix: str = "near_",
        habits: bool = False,
    ) -> None:
        self.sidebands: dict[int, int] = {}
        self.code = SidebandCode(config.ratio)
        self.accesses = Accesses()
        super().__init__(dut, prefix, rng, self.accesses, habits)
        self._swept = range(config.near_lines)
        dedicated = config.dedicated_lines.start - config.near_lines
        self.store = Lines(lambda n: n if n < config.near_lines else n + dedicated)

    def sideband(self, line: int) -> tuple[int, ...]:
        """The sideband."""
        return (self.sidebands.get(line, 0),)

    def put_sideband(self, line: int, *values: int) -> None:
        """The sideband."""
        self.sidebands[line] = values[0]

    def swept(self) -> None:
        """The sweep ended: check that exactly the lines of the sets are zero with the sideband of
        power-up, and that no line was read. From now on contents are the golden model's.
        """
        zeroes = dict.fromkeys(self._swept, (0, 0))
        found = {line: self.sidebands.get(line) for line in self._swept}
        assert self.store.lines == zeroes, f"the sweep wrote {self.store.lines}"
        expected = {line: self.code.word(line) for line in self._swept}
        assert found == expected, f"the sidebands are {found}"
        writes, refused = self.accesses.counts["writes"], self.refused[True]
        assert self.accesses.counts.keys() == {"writes"}, self.accesses.counts
        assert writes == len(zeroes) if not refused else writes >= len(zeroes) + refused, writes
        self.store.lines.clear()
        self.accesses.counts.clear()

    def tags(self, set_index: int) -> list[int]:
        """The tag in each slot of a set, as the controller wrote it."""
        verdict, payload = self.code.read(set_index, self.sidebands[set_index])
        assert verdict is Verdict.CLEAN, (
            f"set {set_index}: {self.sidebands[set_index]:#x}: {verdict}"
        )
        return self.code.tags(payload)


class Far(Refusing):
    """Far memory: far slot s of a set is line s L + set."""

    def __init__(
        self,
        dut: Any,
        rng: Random,
        config: FlatConfig,
        prefix: str = "far_",
        habits: bool = False,
    ) -> None:
        self.accesses = Accesses()
        super().__init__(dut, prefix, rng, self.accesses, habits)
        self.store = Lines(lambda n: n + config.near_lines)
