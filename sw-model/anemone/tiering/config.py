# SPDX-License-Identifier: Apache-2.0
"""The configuration of the tiered-memory simulator and its file format (docs/tiering.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from anemone.flat.config import MAX_RATIO, FlatConfig, check_policy
from anemone.flat.config import POLICIES as SWAPS
from anemone.hardware.geometry import LINE_BYTES
from anemone.io.tables import Table, parse_toml, read_text, toml_place
from anemone.tiering.drams import drams
from anemone.tiering.parameters import POLICIES, SOURCES, alternative_sources, make, named

FAST, SLOW = 0, 1  # the tiers' indices
BASE_PAGE, HUGE_PAGE = 4096, 2 << 20  # bytes
PAGES = {"4KiB": BASE_PAGE, "2MiB": HUGE_PAGE}
TIMINGS = ("queue", "dram")
# A name's position is its code in the kernel.
STARTS = ("first-touch", "fast", "slow", "weighted", "optimum")
ON_WRITE = ("restart", "wait")
MAX_PAGES = 1 << 40
MAX_NS = 1e12  # largest single time: above it float64 times lose their fractions
MAX_OUTSTANDING = 4096
MAX_CHANNELS = 64
MAX_SCALE = 1 << 20
_MAX_WEIGHT = 1 << 20


@dataclass(frozen=True)
class Tier:
    """A memory tier.

    pages: its capacity; by default unlimited for the slow tier. gb_per_s: 10^9 bytes per second; a
    line of 64 B takes 64 / gb_per_s ns. dram (drams.toml), channels: only used by the DRAM timing.
    """

    pages: int
    latency_ns: float
    gb_per_s: float
    dram: str | None = None
    channels: int = 1


@dataclass(frozen=True)
class Migration:
    """How pages move: each line of 64 B is read from one tier, then written to the other.

    gb_per_s: limit of the reads. lines: limit of lines in flight. on_write: the effect of a write
    to a page that is being copied: "restart" the copy (`retries` times, then the page stays), or
    "wait" until the copy ends. unmap_ns: cost per page for the copying thread. shootdown_ns: cost
    per page for each thread of the program when a translation changes.
    """

    gb_per_s: float = 10.0
    lines: int = 10
    on_write: str = "restart"
    retries: int = 10
    unmap_ns: float = 0.0
    shootdown_ns: float = 0.0


@dataclass(frozen=True)
class Tlb:
    """The TLB of each thread: `entries` translations, `ways` per set, LRU. A miss delays the
    access.
    """

    entries: int
    walk_ns: float
    ways: int = 8


@dataclass(frozen=True)
class Flat:
    """Flat memory mode instead of pages in tiers: the fast tier is near memory with one line per
    set, and the slow tier has `ratio` far lines for each of them.

    As in FLAT.toml (docs/flat.md): dedicated: byte addresses [start, end) of additional near
    memory. policy, n: which misses swap.
    """

    ratio: int = 1
    dedicated: tuple[int, int] = (0, 0)
    policy: str = "every"
    n: int = 1


@dataclass(frozen=True)
class TierConfig:
    """The configuration of a run; values are not checked here.

    outstanding, posted: reads and writes in flight per thread; posted None is unlimited. start,
    weights: the tier of a page at its first touch. policy, telemetry: names, with their parameters.
    interval_ns: of the policy and the timeline; None is the policy's default.
    """

    page_bytes: int
    outstanding: int
    fast: Tier
    slow: Tier
    posted: int | None = None
    start: str = "first-touch"
    weights: tuple[int, int] = (1, 1)
    policy: str = "none"
    policy_with: dict[str, Any] = field(default_factory=dict)
    telemetry: str = "none"
    telemetry_with: dict[str, Any] = field(default_factory=dict)
    interval_ns: float | None = None
    seed: int = 1
    migration: Migration = Migration()
    tlb: Tlb | None = None
    timing: str = "queue"
    scale: int = 1
    flat: Flat | None = None

    @property
    def flat_config(self) -> FlatConfig | None:
        """The configuration of flat memory mode; None if memory is not flat."""
        if not self.flat:
            return None
        near = self.fast.pages * self.page_bytes // LINE_BYTES
        flat = self.flat
        return FlatConfig(near, flat.ratio, flat.dedicated, flat.policy, flat.n)


def check_names(policy: str, telemetry: str) -> None:
    """Raise InputError unless the policy and source of a command line exist and fit together."""
    words = Table("command line", "--run", {"policy": policy, "telemetry": telemetry})
    for key, registry in (("policy", POLICIES), ("telemetry", SOURCES)):
        named(words, key, registry, alone=True)
    if allowed := alternative_sources(policy, telemetry):
        raise words.wrong("telemetry", f"a source behind {policy}+: {allowed}")


def made(config: TierConfig) -> tuple[Any, Any]:
    """The (policy, source) that a configuration names; None for "none"."""
    return (
        make(config.policy, POLICIES, config.policy_with),
        make(config.telemetry, SOURCES, config.telemetry_with),
    )


def load_config(path: str | os.PathLike) -> TierConfig:
    """Read a TIER.toml. Raises InputError for any unusable file."""
    return parse_config(read_text(path), path)


def parse_config(text: str, file: object) -> TierConfig:
    """The configuration in a TOML text. `file`: its name in errors. Raises InputError.

    A policy that needs telemetry must be given a source.
    """
    content = parse_toml(text, file)
    top = Table(file, "", content, lambda field: toml_place(text, field))
    top.only(
        "page", "outstanding", "fast", "slow",
        optional=("posted", "timing", "interval_ms", "seed", "scale", "placement", "migration",
                  "tlb", "policy", "telemetry", "flat"),
    )  # fmt: skip
    timing = top.choice("timing", TIMINGS) if "timing" in content else TIMINGS[0]
    page = PAGES[top.choice("page", tuple(PAGES))]
    flat = _flat(top, page)
    start, weights = _placement(top.table("placement"))
    policy, policy_with = named(top.table("policy"), "name", POLICIES)
    telemetry, telemetry_with = named(top.table("telemetry"), "source", SOURCES)
    interval = "interval_ms" in content
    if allowed := alternative_sources(policy, telemetry):
        allowed = f'a source for policy "{policy}": {allowed}'
        table = top.table("telemetry")
        raise table.wrong("source", allowed) if table else top.wrong("telemetry", allowed)
    whole = TierConfig(
        page_bytes=page,
        outstanding=top.number("outstanding", MAX_OUTSTANDING, minimum=1),
        posted=top.number("posted", MAX_OUTSTANDING, minimum=1) if "posted" in content else None,
        fast=_tier(top, "fast", timing),
        slow=_tier(top, "slow", timing),
        start=start,
        weights=weights,
        policy=policy,
        policy_with=policy_with,
        telemetry=telemetry,
        telemetry_with=telemetry_with,
        interval_ns=top.real("interval_ms", 0, True, MAX_NS) * 1e6 if interval else None,
        seed=top.number("seed", (1 << 63) - 1) if "seed" in content else 1,
        migration=_migration(top.table("migration")),
        tlb=_tlb(top.table("tlb")),
        timing=timing,
        flat=flat,
    )
    if "scale" not in content:
        return whole
    from anemone.tiering.scaling import scaled

    try:
        return scaled(whole, top.number("scale", MAX_SCALE, minimum=1))
    except ValueError as e:
        raise top.wrong("scale", str(e)) from e


def _tier(top: Table, name: str, timing: str) -> Tier:
    table = top.table(name)
    assert table is not None  # top.only has seen it
    needs, optional = ["latency_ns", "gb_per_s"], ["channels"]
    (optional if name == "slow" else needs).append("pages")
    (needs if timing == "dram" else optional).append("dram")
    table.only(*needs, optional=tuple(optional))
    content = table.content
    dram = table.choice("dram", tuple(drams())) if "dram" in content else None
    # The tier's latency includes that of the DRAM.
    minimum = drams()[dram].idle if dram and timing == "dram" else 0
    return Tier(
        table.number("pages", MAX_PAGES) if "pages" in content else MAX_PAGES,
        table.real("latency_ns", minimum, maximum=MAX_NS),
        table.real("gb_per_s", 1e-6, maximum=MAX_NS),
        dram,
        table.number("channels", MAX_CHANNELS, minimum=1) if "channels" in content else 1,
    )


def _flat(top: Table, page: int) -> Flat | None:
    table = top.table("flat")
    if table is None:
        return None
    base, content = Flat(), table.content
    table.only(optional=tuple(vars(base)))
    for key in ("placement", "policy"):
        if key in top.content:
            raise top.wrong(key, 'absent with "flat": the hardware places lines')
    if top.content.get("timing", TIMINGS[0]) != TIMINGS[0]:
        raise top.wrong("timing", f'"{TIMINGS[0]}" with "flat"')
    ratio = table.number("ratio", MAX_RATIO, minimum=1) if "ratio" in content else base.ratio
    fast, slow = (top.table(name).content.get("pages") for name in ("fast", "slow"))
    if slow is not None and type(fast) is int and slow != ratio * fast:
        raise top.wrong("slow.pages", f"absent, or {ratio} times fast.pages", slow)
    dedicated = content.get("dedicated", [0, 0])
    good = isinstance(dedicated, list) and len(dedicated) == 2
    good = good and all(type(a) is int and 0 <= a < 1 << 63 and a % page == 0 for a in dedicated)
    if not good or dedicated[0] > dedicated[1]:
        raise table.wrong("dedicated", f"[start, end], byte addresses, multiples of {page}")
    policy = table.choice("policy", SWAPS) if "policy" in content else base.policy
    n = table.number("n", minimum=1) if "n" in content else base.n
    try:
        check_policy(policy, n)
    except ValueError as e:
        raise table.wrong("n", str(e)) from e
    return Flat(ratio, (dedicated[0], dedicated[1]), policy, n)


def _placement(table: Table | None) -> tuple[str, tuple[int, int]]:
    if table is None:
        return "first-touch", (1, 1)
    table.only("start", optional=("weights",))
    start = table.choice("start", STARTS)
    weights = table.content.get("weights", [1, 1] if start != "weighted" else None)
    good = isinstance(weights, list) and len(weights) == 2
    good = good and all(type(w) is int and 0 <= w <= _MAX_WEIGHT for w in weights) and any(weights)
    if not good:
        allowed = f"[fast, slow], whole numbers of 0 to {_MAX_WEIGHT}, not both 0"
        raise table.wrong("weights", allowed)
    if "weights" in table.content and start != "weighted":
        raise table.wrong("weights", 'no weights but with start = "weighted"')
    return start, (weights[0], weights[1])


def _migration(table: Table | None) -> Migration:
    if table is None:
        return Migration()
    base, content = Migration(), table.content
    table.only(optional=tuple(vars(base)))

    def real(key: str, above: bool = False) -> float:
        return table.real(key, 0, above, MAX_NS) if key in content else getattr(base, key)

    def number(key: str, minimum: int, maximum: int) -> int:
        return table.number(key, maximum, minimum=minimum) if key in content else getattr(base, key)

    return Migration(
        gb_per_s=real("gb_per_s", above=True),
        lines=number("lines", 1, MAX_OUTSTANDING),
        on_write=table.choice("on_write", ON_WRITE) if "on_write" in content else base.on_write,
        retries=number("retries", 0, 1 << 20),
        unmap_ns=real("unmap_ns"),
        shootdown_ns=real("shootdown_ns"),
    )


def _tlb(table: Table | None) -> Tlb | None:
    if table is None:
        return None
    table.only("entries", "walk_ns", optional=("ways",))
    entries = table.number("entries", 1 << 20, minimum=1)
    ways = table.number("ways", 64, minimum=1) if "ways" in table.content else min(8, entries)
    if entries % ways:
        raise table.wrong("entries", f"a multiple of the ways, {ways}")
    return Tlb(entries, table.real("walk_ns", 0, maximum=MAX_NS), ways)
