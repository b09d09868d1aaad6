# SPDX-License-Identifier: Apache-2.0
"""Page colouring (Memstrata §4.1, §7): pages that share near lines belong to one virtual machine.

A colour is a near page with the R + 1 physical pages whose lines compete for it: frames c, c + N,
..., c + R·N of N near pages. Dedicated pages compete with nobody and have no colour.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from anemone.flat.config import FlatConfig
from anemone.hardware.geometry import LINE_BYTES


class OutOfPagesError(RuntimeError):
    """There are not as many free pages, or free colours, as were asked for; nothing was changed."""


@dataclass(frozen=True)
class Layout:
    """Physical pages of flat memory mode. near_pages: colours. ratio: far pages for each."""

    near_pages: int
    ratio: int
    dedicated_pages: int
    page_bytes: int

    @staticmethod
    def of(config: FlatConfig, page_bytes: int) -> Layout:
        """Raises ValueError where a page would have near lines of two colours."""
        lines = page_bytes // LINE_BYTES
        parts = {
            "near_lines": config.near_lines,
            "the dedicated range": len(config.dedicated_lines),
        }
        for name, size in parts.items():
            if size % lines:
                raise ValueError(f"{name}: {size} lines are no whole pages of {lines} lines")
        return Layout(
            config.near_lines // lines,
            config.ratio,
            len(config.dedicated_lines) // lines,
            page_bytes,
        )

    @property
    def tiered_pages(self) -> int:
        """Of all colours together."""
        return (self.ratio + 1) * self.near_pages

    def colour(self, frame: int) -> int:
        """Of a tiered frame."""
        return frame % self.near_pages


@dataclass(frozen=True)
class Fragmentation:
    """Tiered pages of colours that have an owner. used: in use; unused: held by nobody else."""

    used: int
    unused: int

    @property
    def share(self) -> float:
        """Of the pages of owned colours that are not used."""
        return self.unused / (self.used + self.unused) if self.unused else 0.0


@dataclass(frozen=True)
class Exchange:
    """Pages that changed places between two machines, or a machine and the free pages.

    pages: of each side. bytes: what was copied: a page to a temporary one, the other to its place,
    the first to the other's (§5); nothing but the machine's own page where the other is free.
    """

    pages: int
    bytes: int


@dataclass
class _MachinePages:
    """A machine's pages. tiered: used tags by colour. dedicated: frames."""

    tiered: dict[int, set[int]] = field(default_factory=dict)
    dedicated: set[int] = field(default_factory=set)

    @property
    def used(self) -> int:
        return sum(map(len, self.tiered.values()))


class PageAllocator:
    """Who has which page. Machines are named; sizes are in pages."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._colours = _Free(layout.near_pages)
        self._dedicated = _Free(layout.dedicated_pages)
        self._machines: dict[str, _MachinePages] = {}

    @property
    def machines(self) -> list[str]:
        """In order of their launch."""
        return list(self._machines)

    @property
    def free_colours(self) -> int:
        return len(self._colours)

    @property
    def free_tiered(self) -> int:
        """Pages of the free colours."""
        return self.free_colours * (self.layout.ratio + 1)

    @property
    def free_dedicated(self) -> int:
        return len(self._dedicated)

    def launch(self, name: str, tiered: int, dedicated: int = 0) -> None:
        """A new machine with so many pages. Raises OutOfPagesError."""
        if name in self._machines:
            raise ValueError(f"there is a machine {name!r}")
        if dedicated > self.free_dedicated:
            raise OutOfPagesError(
                f"{name}: {dedicated} dedicated pages, {self.free_dedicated} free"
            )
        self._machines[name] = _MachinePages()
        try:
            self.grow(name, tiered)
        except OutOfPagesError:
            del self._machines[name]
            raise
        self._machines[name].dedicated |= self._dedicated.take(dedicated)

    def terminate(self, name: str) -> None:
        """Everything of a machine is free again."""
        owned = self._machines.pop(name)
        self._colours.give(owned.tiered)
        self._dedicated.give(owned.dedicated)

    def grow(self, name: str, pages: int) -> list[int]:
        """More tiered pages: those of the machine's own colours first. The frames.

        Raises OutOfPagesError.
        """
        owned, size = self._machines[name], self.layout.ratio + 1
        unused = len(owned.tiered) * size - owned.used
        colours = -(-max(0, pages - unused) // size)
        if colours > self.free_colours:
            raise OutOfPagesError(
                f"{name}: {pages} pages, {colours} colours; {self.free_colours} free"
            )
        found = self._fill(owned, pages, owned.tiered)
        for colour in self._colours.take(colours):
            owned.tiered[colour] = set()
            found += self._fill(owned, pages - len(found), [colour])
        return found

    def _fill(self, owned: _MachinePages, pages: int, colours: Iterable[int]) -> list[int]:
        """Use unused pages of these colours, at most so many. Their frames."""
        found: list[int] = []
        for colour in colours:
            for tag in range(self.layout.ratio + 1):
                if len(found) == pages:
                    return found
                if tag not in owned.tiered[colour]:
                    owned.tiered[colour].add(tag)
                    found.append(tag * self.layout.near_pages + colour)
        return found

    def shrink(self, name: str, frames: Iterable[int]) -> None:
        """Tiered frames of a machine are not used any more. A colour is free when none of it is."""
        owned = self._machines[name]
        for frame in frames:
            tag, colour = divmod(frame, self.layout.near_pages)
            owned.tiered[colour].remove(tag)
            if not owned.tiered[colour]:
                del owned.tiered[colour]
                self._colours.give([colour])

    def compact(self, name: str) -> list[tuple[int, int]]:
        """Empty the colours of which least is used into the others (§7): frames (from, to)."""
        owned, size, moves = self._machines[name], self.layout.ratio + 1, []
        order = deque(sorted(owned.tiered, key=lambda c: (-len(owned.tiered[c]), c)))
        unused = len(order) * size - owned.used  # in `order`
        while order:
            last = order.pop()
            tags = sorted(owned.tiered[last])
            unused -= size - len(tags)
            if unused < len(tags):
                break
            sources = [tag * self.layout.near_pages + last for tag in tags]
            moves += zip(sources, self._fill(owned, len(tags), order), strict=True)
            unused -= len(tags)
            self.shrink(name, sources)
            while (
                order and len(owned.tiered[order[0]]) == size
            ):  # so that no call looks at it again
                order.popleft()
        return moves

    def exchange(self, donor: str, borrower: str, pages: int) -> Exchange:
        """Dedicated pages of `donor` for as many tiered ones of `borrower`, at most `pages`.

        Pages of a colour go together (§4.3), so fewer may: whole colours, the fullest first.
        """
        source, target = self._machines[donor], self._machines[borrower]
        done = 0
        for colour in _whole(target, min(pages, len(source.dedicated))):
            source.tiered[colour] = target.tiered.pop(colour)
            done += len(source.tiered[colour])
        given = set(sorted(source.dedicated)[:done])
        source.dedicated -= given
        target.dedicated |= given
        return Exchange(done, 3 * done * self.layout.page_bytes)

    def dedicate(self, name: str, pages: int) -> Exchange:
        """As `exchange`, with dedicated pages that are free; the machine's colours become free."""
        owned = self._machines[name]
        moved = _whole(owned, min(pages, self.free_dedicated))
        done = sum(len(owned.tiered.pop(colour)) for colour in moved)
        self._colours.give(moved)
        owned.dedicated |= self._dedicated.take(done)
        return Exchange(done, done * self.layout.page_bytes)

    def tiered(self, name: str) -> list[int]:
        """The tiered frames that a machine uses."""
        tags = self._machines[name].tiered
        return sorted(t * self.layout.near_pages + c for c, used in tags.items() for t in used)

    def dedicated(self, name: str) -> list[int]:
        """The dedicated pages of a machine, from 0."""
        return sorted(self._machines[name].dedicated)

    def fragmentation(self, name: str | None = None) -> Fragmentation:
        """Of a machine, or of all."""
        owned = [self._machines[name]] if name else list(self._machines.values())
        used = sum(each.used for each in owned)
        held = sum(len(each.tiered) for each in owned) * (self.layout.ratio + 1)
        return Fragmentation(used, held - used)


def _whole(owned: _MachinePages, pages: int) -> list[int]:
    """Colours whose used pages are so many at most: the fullest first."""
    found = []
    for colour in sorted(owned.tiered, key=lambda c: (-len(owned.tiered[c]), c)):
        if len(owned.tiered[colour]) <= pages:
            pages -= len(owned.tiered[colour])
            found.append(colour)
    return found


class _Free:
    """Numbers that are free: those never taken as a range, so that a terabyte costs nothing."""

    def __init__(self, count: int) -> None:
        self._fresh = range(count)
        self._back: list[int] = []

    def __len__(self) -> int:
        return len(self._fresh) + len(self._back)

    def take(self, count: int) -> set[int]:
        """The last that came back first."""
        split = max(0, len(self._back) - count)
        taken, self._back = set(self._back[split:]), self._back[:split]
        more = count - len(taken)
        taken |= set(self._fresh[:more])
        self._fresh = self._fresh[more:]
        return taken

    def give(self, numbers: Iterable[int]) -> None:
        self._back += sorted(numbers)
