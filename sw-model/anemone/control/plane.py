# SPDX-License-Identifier: Apache-2.0
"""The interface of all controllers: NEMO §3.2, as the driver implements it.

A telemetry has regions, and translation maps a key to a region. A region has a counter for each
offset; their number is rounded up to a power of two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anemone.telemetry.rules import EFFECTS, HASH_BITS, OPERANDS, OPS, PREDICATES, TYPES, WIDTHS

ALL_MEMORY = (1 << 64) - 1
SUMMED = ("add", "sub")
FOLDED = (*SUMMED, "xor", "or", "max", "min", "addsat")  # ops whose channels can be combined


@dataclass(frozen=True)
class Field:
    """(address & mask) >> shift."""

    mask: int = 0
    shift: int = 0


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A rule (Table 1).

    start, end: bytes, end exclusive; both 0 select all memory. update: an op and its operand: a
    number, "line" or "is_write". notify: a predicate and its operand. hash: an odd multiplier and
    the number of counters for a hash of the offset; 0 for none. read_effect: "none", "reset" and
    its value, or an op and its operand. width: bits of a counter. regions: number of regions; 0 for
    as many as a pipeline holds. Raises ValueError.
    """

    name: str = "telemetry"
    type: str = "RW"
    start: int = 0
    end: int = 0
    primary: Field = Field(ALL_MEMORY, 0)
    sub: Field = Field()
    hash: tuple[int, int] = (0, 0)
    update: tuple[str, int | str] = ("add", 1)
    notify: tuple[str, int] = ("none", 0)
    read_effect: tuple[str, int] = ("none", 0)
    width: int = 64
    regions: int = 0

    def __post_init__(self) -> None:
        kinds = (
            ("type", self.type, TYPES),
            ("update", self.update[0], OPS),
            ("notify", self.notify[0], PREDICATES),
            ("read_effect", self.read_effect[0], EFFECTS),
            ("width", self.width, WIDTHS),
        )
        for name, value, names in kinds:
            if value not in names:
                raise ValueError(f"{name} is {value!r}; allowed: {', '.join(map(str, names))}")
        operand = self.update[1]
        if isinstance(operand, str) and operand not in OPERANDS[1:]:
            raise ValueError(f"operand is {operand!r}; allowed: a number, line, is_write")
        multiplier, size = self.hash
        if size and not (multiplier % 2 and 0 < multiplier < 1 << HASH_BITS and size > 0):
            odd = f"an odd number below 2^{HASH_BITS}, and 1 counter or more"
            raise ValueError(f"hash is {self.hash}; allowed: {odd}")

    @property
    def region_counters(self) -> int:
        """Counters of a region."""
        offsets = self.hash[1] or (self.sub.mask >> self.sub.shift) + 1
        return 1 << (offsets - 1).bit_length()


@dataclass(frozen=True)
class Event:
    """A notification. counter: region * region_counters + offset of the first counter since the
    last notification.
    """

    telemetry: int
    counter: int
    channel: int


class Registered(ABC):
    """A running telemetry. regions: the number of its regions."""

    def __init__(self, spec: Spec, number: int, regions: int) -> None:
        self.spec, self.number, self.regions = spec, number, regions
        self.region_counters = spec.region_counters
        self.callbacks: list[Callable[[Event], None]] = []
        self._keys: list[int] = []

    @abstractmethod
    def set_translation(self, key: int, region: int | None) -> None:
        """Map a key to a region, or unmap it for None. Raises ValueError if one is out of range."""

    @abstractmethod
    def by_channel(self, snapshot: bool) -> np.ndarray:
        """Read the counters by channel, with the read effect unless it is a snapshot:
        uint64[regions * region_counters, channels].
        """

    @abstractmethod
    def remove(self) -> None:
        """Stop it and free its pipeline."""

    def read(self, snapshot: bool = False) -> np.ndarray:
        """Read the counters, combined over the channels by the op's rule (§3.2):
        uint64[regions, region_counters].

        Raises ValueError for ops whose channels cannot be combined: shifts, subsat, last and
        averages.
        """
        values = self.by_channel(snapshot)
        return fold(self.spec.update[0], self.spec.width, values).reshape(self.regions, -1)

    def reprogram(self, keys: Sequence[int]) -> None:
        """Count other regions: map key i to region i, unmap all earlier keys (Listing 1)."""
        if len(keys) > self.regions:
            raise ValueError(f"{len(keys)} keys; allowed: at most {self.regions} regions")
        for key in self._keys:
            self.set_translation(key, None)
        self.read()  # discard counts of the earlier regions
        self._keys = list(keys)
        for region, key in enumerate(self._keys):
            self.set_translation(key, region)

    def on_notify(self, callback: Callable[[Event], None]) -> None:
        """Register a callback for the events that Controller.dispatch finds."""
        self.callbacks.append(callback)


class Controller(ABC):
    """A device or a model of one."""

    def __init__(self) -> None:
        self.registered: dict[int, Registered] = {}

    @abstractmethod
    def register(self, spec: Spec) -> Registered:
        """Run a telemetry. Raises ValueError if no pipeline is free or large enough."""

    @abstractmethod
    def events(self) -> list[Event]:
        """Notifications since the last call; their pipelines are re-armed."""

    def wait(self, seconds: float) -> None:  # noqa: B027, a model has no traffic meanwhile
        """Wait for an event, at most this many seconds."""

    def dispatch(self, wait_s: float = 0.0) -> int:
        """Call the callbacks of all pending events. Returns the number of events.

        wait_s: longest time to wait for an event.
        """
        self.wait(wait_s)
        found = self.events()
        for event in found:
            if event.telemetry in self.registered:
                for callback in self.registered[event.telemetry].callbacks:
                    callback(event)
        return len(found)


def fold(op: str, width: int, values: np.ndarray) -> np.ndarray:
    """Combine channels whose counters started at 0: uint64[n] from uint64[n, channels]."""
    if op not in FOLDED:
        raise ValueError(f"update is {op!r}; read by_channel, as its channels have no one value")
    if op == "xor":
        return np.bitwise_xor.reduce(values, axis=1)
    if op == "or":
        return np.bitwise_or.reduce(values, axis=1)
    if op == "max":
        return values.max(axis=1)
    if op == "min":
        return values.min(axis=1)
    maximum = np.uint64((1 << width) - 1)
    if op == "addsat":
        total = values[:, 0]
        for channel in range(1, values.shape[1]):
            headroom = maximum - total
            total = np.where(values[:, channel] > headroom, maximum, total + values[:, channel])
        return total
    return values.sum(axis=1, dtype=np.uint64) & maximum


def sweep_s(regions: int, at_once: int, period_s: float) -> float:
    """The time to watch each region once (§6.1)."""
    return -(-regions // at_once) * period_s
