# SPDX-License-Identifier: Apache-2.0
"""Random rules in every field, with values at the limits of the hardware."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from anemone.hardware.features import Features
from anemone.telemetry.rules import (
    EFFECTS,
    HASH_BITS,
    OPERANDS,
    OPS,
    PREDICATES,
    U64,
    WIDTHS,
    Rule,
)
from tests.engine.bench.sizes import Size


def operand(rng: Random, width: int) -> int:
    """Small numbers, a counter's limits, shift amounts, or anything."""
    small = [0, 1, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64]
    limits = [(1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, 1 << width, U64]
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(small) & U64
    return rng.choice(limits) & U64 if kind < 0.7 else rng.getrandbits(rng.choice((8, 16, 32, 64)))


def _fields(rng: Random, size: Size, width: int) -> dict[str, int]:
    """Masks and shifts of key and offset."""
    bits, table_bits = size.address_bits, size.table.bit_length() - 1
    counters = size.states * (64 // width)
    kind = rng.random()
    if kind < 0.15:  # arbitrary values, so most keys or offsets are out of range
        masks = [rng.getrandbits(64) & rng.getrandbits(64) for _ in range(2)]
        shifts = [rng.choice((0, 6, rng.randrange(64))) for _ in range(2)]
        return dict(zip(_NAMES, (masks[0], shifts[0], masks[1], shifts[1]), strict=True))
    # The key is the top of the address, or has one bit more or less than the table; the offset has
    # some of the bits below it. So states are shared by several keys or are past the last state.
    key_shift = min(bits - 1, max(0, bits - table_bits + rng.choice((-1, 0, 0, 0, 1, 3))))
    offset_bits = min(rng.choice((0, 1, 3, counters.bit_length() - 2, counters.bit_length())), bits)
    offset_shift = rng.choice((0, 6, 6, 7, 8, max(0, key_shift - offset_bits)))
    offset_mask = ((1 << offset_bits) - 1) << offset_shift
    key_mask = rng.choice((U64, U64, U64, 0, 1 << key_shift, U64 & ~(1 << (bits - 1))))
    if rng.random() < 0.1:
        offset_shift = rng.randrange(64)
    return dict(zip(_NAMES, (key_mask, key_shift, offset_mask, offset_shift), strict=True))


_NAMES = ("primary_mask", "primary_shift", "sub_mask", "sub_shift")


def _hash(rng: Random, size: Size, width: int) -> dict[str, int]:
    """Of the offset, where it is built in; the most counters to choose from are those there are."""
    if not size.features.hash or rng.random() < 0.5:
        return dict.fromkeys(_HASH, 0)
    counters = size.states * (64 // width)
    chosen = rng.choice((1, 2, counters // 2, counters - 1, counters, rng.randint(1, counters)))
    multiplier = rng.choice((1, (1 << HASH_BITS) - 1, rng.getrandbits(HASH_BITS) | 1))
    return dict(zip(_HASH, (multiplier, chosen), strict=True))


_HASH = ("hash_multiplier", "hash_size")


def _range(rng: Random, size: Size) -> dict[str, int]:
    """The whole device, most of it, or any part; the ends need not be aligned to anything."""
    device = 1 << size.address_bits
    kind = rng.random()
    if kind < 0.5:
        return {"start": 0, "end": device}
    if kind < 0.8:
        return {"start": rng.randrange(device // 8), "end": device - rng.randrange(device // 8)}
    start = rng.randrange(device)
    return {"start": start, "end": rng.randint(start + 1, device)}


def _notify(rng: Random, features: Features, width: int, updated: int) -> dict[str, object]:
    """A predicate, often with the update's operand, for which "==" can hold."""
    against = updated if rng.random() < 0.4 else operand(rng, width)
    return {"notify_op": rng.choice(features.of_predicates(PREDICATES)), "notify_operand": against}


def _effect(rng: Random, features: Features, width: int) -> dict[str, object]:
    kind = rng.random()
    effect = "none" if kind < 0.2 else "reset" if kind < 0.55 else rng.choice(features.of_ops(OPS))
    if effect not in features.of_effects(EFFECTS):
        effect = rng.choice(features.of_effects(EFFECTS))
    return {"effect_op": effect, "effect_operand": rng.choice((0, operand(rng, width)))}


def random_rule(rng: Random, size: Size, **fixed: object) -> Rule:
    """A random rule; `fixed` has the fields that are given."""
    features = size.features
    width = fixed.get("width") or rng.choice(features.of_widths(WIDTHS))
    assert isinstance(width, int)
    updated = operand(rng, width)
    fields: dict[str, object] = {
        "name": "",
        "type": rng.choice(("RW", "RW", "RW", "R", "W")),
        "op": rng.choice(features.of_ops(OPS)),
        "operand": updated,
        "operand_kind": rng.choice(("imm", "imm", "imm", *features.of_operands(OPERANDS))),
        "width": width,
        **_range(rng, size),
        **_fields(rng, size, width),
        **_hash(rng, size, width),
        **_notify(rng, features, width, updated),
        **_effect(rng, features, width),
        **fixed,
    }
    return Rule(**fields)  # type: ignore[arg-type]


def other_effect(rng: Random, rule: Rule, size: Size) -> Rule:
    """The rule with another read effect."""
    return replace(rule, **_effect(rng, size.features, rule.width))


def changed_rule(rng: Random, rule: Rule, size: Size) -> Rule:
    """Another rule, or this one with one part changed."""
    other = random_rule(rng, size)
    parts = (
        ("op", "operand", "operand_kind"),
        ("type", "start", "end"),
        _NAMES,
        _HASH,
        ("notify_op", "notify_operand"),
        ("effect_op", "effect_operand"),
        ("width",),
    )
    if rng.random() < 0.3:
        return other
    return replace(rule, **{name: getattr(other, name) for name in rng.choice(parts)})
