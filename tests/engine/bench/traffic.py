# SPDX-License-Identifier: Apache-2.0
"""Random scripts with phases of one kind of traffic each, with reads, table and rule changes."""

from __future__ import annotations

from random import Random

import numpy as np

from anemone.hardware.geometry import WORDS_PER_LINE
from anemone.telemetry.rules import Rule
from tests.engine.bench.rules import changed_rule, other_effect, random_rule
from tests.engine.bench.script import Event, Read, RuleWrite, Script, TableWrite, Take
from tests.engine.bench.sizes import Size

KINDS = ("hot", "few", "few", "stride", "uniform", "edges", "mixed")
LOAD = (1.0, 1.0, 0.97, 0.9, 0.7, 0.4, 0.1, 0.02)  # events per cycle
LOST = 0.1  # share of lines with a lost word in those that are written back


def _addresses(draw: np.random.Generator, kind: str, n: int, rule: Rule, size: Size) -> np.ndarray:
    """n byte addresses around the range of a rule."""
    device = 1 << size.address_bits
    first = int(draw.integers(rule.start, rule.end))
    if kind == "hot":
        return np.full(n, first)
    if kind == "few":
        near = first + draw.integers(0, 6, 6) * 64 * size.channels
        far = draw.integers(0, device, 2)
        return draw.choice(np.concatenate([near, far]), n)
    if kind == "stride":
        step = 64 * size.channels << int(draw.integers(0, 6))
        return first + step * np.arange(n)
    if kind == "edges":
        ends = np.array([rule.start, rule.end, rule.start, rule.end, 0, device])
        return draw.choice(ends, n) + draw.choice((-65, -64, -1, 0, 1, 63, 64), n)
    if kind == "mixed":
        parts = [_addresses(draw, k, n, rule, size) for k in ("hot", "few", "uniform", "edges")]
        return np.choose(draw.integers(0, len(parts), n), parts)
    return draw.integers(0, device, n)


def _events(
    draw: np.random.Generator, n: int, load: float, rule: Rule, size: Size, channel: int
) -> list[Event | None]:
    """n cycles of one channel, each with an event with probability `load`."""
    addresses = _addresses(draw, str(draw.choice(KINDS)), n, rule, size)
    addresses = addresses & ((1 << size.address_bits) - 1) & ~((size.channels - 1) << 6)
    addresses = (addresses | channel << 6).tolist()
    writes = (draw.random(n) < draw.choice((0.0, 0.5, 0.5, 0.9, 1.0))).astype(int).tolist()
    valid = (draw.random(n) < load).tolist()
    pairs = zip(addresses, writes, valid, strict=True)
    return [(address, write) if v else None for address, write, v in pairs]


def _reads(rng: Random, start: int, n: int, load: float, size: Size) -> list[Read]:
    """Reads of one channel in a phase: in every gap, some, or hardly any."""
    rate = rng.choice((1.2, 0.6, 0.2, 0.05, 0.0))
    count = int(rate * n * (1 - load)) + rng.randrange(3)
    focus = rng.choice((0.0, 0.5, 0.9, 1.0))  # on the line of the last update
    effect = rng.choice((0.0, 0.2, 0.5, 0.9, 1.0))
    pipeline, line = rng.randrange(size.pipelines), rng.randrange(size.lines)
    wander = rng.choice((0.0, 0.1, 0.5))  # to another pipeline, to another line
    reads = []
    for at in sorted(rng.randrange(n) for _ in range(count)):
        if rng.random() < wander:
            pipeline = rng.randrange(size.pipelines)
        if rng.random() < wander:
            line = rng.randrange(size.lines)
        hot = rng.random() < focus
        reads.append(Read(start + at, pipeline, None if hot else line, rng.random() < effect))
    return reads


def _takes(rng: Random, cycles: int, size: Size) -> list[Take]:
    """Lines of one channel that are written back: none, some, or back to back."""
    if not size.features.acknowledge:
        return []
    count = rng.choice((0, 3, cycles // 100, cycles // 30))
    focus = rng.choice((0.2, 0.8, 1.0))  # on the line of the last update
    takes = []
    for at in sorted(rng.randrange(cycles) for _ in range(count)):
        line = None if rng.random() < focus else rng.randrange(size.lines)
        lost = (rng.randrange(WORDS_PER_LINE),) if rng.random() < LOST else ()
        takes.append(Take(at, rng.randrange(size.pipelines), line, lost=lost))
    return takes


def _entry(rng: Random, at: int, key: int | None, p: int, width: int, size: Size) -> TableWrite:
    counters = size.states * (64 // width)
    bases = (rng.randrange(counters), rng.randrange(8), counters - 1 - rng.randrange(8))
    base = rng.choice((*bases, bases[0], rng.randrange(size.counters + 8)))
    return TableWrite(at, p, key, base, rng.random() < 0.85)


def _rules(rng: Random, script: Script, size: Size, first: list[Rule]) -> None:
    """The first rules, and rule changes: none, some, or as many as the port accepts."""
    for p, rule in enumerate(first):
        late = size.clear_cycles + 100 if rng.random() < 0.2 else 40
        script.rules.append(RuleWrite(rng.randrange(late), p, rule))
    script.rules.sort(key=lambda write: write.at)
    latest = list(first)
    kind = rng.random()
    count = 0 if kind < 0.4 else rng.randint(1, 6) if kind < 0.8 else script.cycles // 25
    effects = kind > 0.9  # nothing but the effect changes
    for at in sorted(rng.randrange(200, script.cycles) for _ in range(count)):
        p = rng.randrange(size.pipelines)
        old = latest[p]
        latest[p] = other_effect(rng, old, size) if effects else changed_rule(rng, old, size)
        script.rules.append(RuleWrite(at, p, latest[p], enable=rng.random() < 0.9))


def _tables(rng: Random, script: Script, size: Size, rules: list[Rule]) -> None:
    """Every entry once, then changes at up to one per cycle, many of them to the key in use."""
    for p, rule in enumerate(rules):
        keys = [*range(size.table)]
        rng.shuffle(keys)
        script.tables += [_entry(rng, 0, key, p, rule.width, size) for key in keys]
    at = 200
    while at < script.cycles:
        length, rate = rng.randint(50, 600), rng.choice((0.0, 0.0, 0.01, 0.2, 1.0))
        for cycle in range(at, min(at + length, script.cycles)):
            if rng.random() < rate:
                p = rng.randrange(size.pipelines)
                key = rng.randrange(size.table) if rng.random() < 0.3 else None
                script.tables.append(_entry(rng, cycle, key, p, rules[p].width, size))
        at += length


def random_script(seed: int, size: Size, cycles: int) -> Script:
    """The script of a seed; the same seed, size and length give the same script."""
    rng, draw = Random(seed), np.random.default_rng(seed)
    script = Script.blank(size, cycles, reset=rng.randint(1, 4), noise=rng.random() < 0.5)
    rules = [random_rule(rng, size) for _ in range(size.pipelines)]
    _rules(rng, script, size, rules)
    _tables(rng, script, size, rules)
    for c in range(size.channels):
        events, start = script.events[c], 0
        while start < cycles:
            n, load = min(rng.randint(60, 700), cycles - start), rng.choice(LOAD)
            events[start : start + n] = _events(draw, n, load, rng.choice(rules), size, c)
            script.reads[c] += _reads(rng, start, n, load, size)
            start += n
        script.takes[c] = _takes(rng, cycles, size)
    for _ in range(rng.choice((0, 0, 0, 1, 3))):
        at = rng.randrange(150, cycles)
        script.clears += [(at, rng.randrange(size.pipelines))]
        if rng.random() < 0.3:  # another clear before the first is done
            again = at + rng.randint(1, size.clear_cycles)
            script.clears += [(again, rng.randrange(size.pipelines))]
    rate = rng.choice((0.0, 0.003, 0.05, 0.5, 1.0))
    script.acknowledges = [
        (t, p) for t in range(cycles) for p in range(size.pipelines) if rng.random() < rate
    ]
    script.samples = sorted(rng.sample(range(cycles), cycles // 40))
    return script


def random_scripts(seed: int, size: Size, cycles: int) -> list[Script]:
    """The scripts of a seed; sometimes a script that a reset interrupts comes first."""
    scripts = [random_script(seed, size, cycles)]
    if seed % 5 == 0:
        cut = random_script(seed + (1 << 32), size, cycles // 3)
        cut.snapshot = False
        scripts.insert(0, cut)
    return scripts
