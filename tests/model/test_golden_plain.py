# SPDX-License-Identifier: Apache-2.0
"""The reference golden model compared with numbers computed by hand."""

from __future__ import annotations

import pytest

from anemone.golden import nemo
from anemone.hardware.geometry import Geometry
from anemone.telemetry.rules import U64, Rule

SMALL = Geometry(channels=2, pipelines=1, states=16, table=4, device_gib=1)


def telemetry(geometry: Geometry = SMALL, **fields: object) -> nemo.Telemetry:
    """By default, a rule that maps 4 KiB page k to base index k, for four pages."""
    rule = {"end": 1 << 30, "primary_shift": 12, "map": [[k, k] for k in range(4)], **fields}
    return nemo.Telemetry(Rule(name="r", **rule), geometry)


@pytest.mark.parametrize(
    ("op", "width", "operand", "values"),
    [
        ("add", 8, 0x7F, [0x7F, 0xFE, 0x7D]),
        ("add", 64, U64, [U64, U64 - 1]),
        ("add", 16, 0x1_0003, [3, 6]),  # the operand is truncated to the width
        ("sub", 8, 1, [0xFF, 0xFE]),
        ("sub", 64, 1, [U64]),
        ("xor", 16, 0xFFFF, [0xFFFF, 0]),
        ("or", 8, 0x81, [0x81, 0x81]),
        ("max", 8, 0x80, [0x80, 0x80]),
        ("max", 8, 0x102, [2]),
        ("addsat", 8, 0x90, [0x90, 0xFF, 0xFF]),
        ("addsat", 64, 1 << 63, [1 << 63, U64]),
        ("last", 8, 0x102, [2, 2]),
        ("last", 64, U64, [U64]),
    ],
)
def test_update_ops(op: str, width: int, operand: int, values: list[int]) -> None:
    t = telemetry(op=op, width=width, operand=operand)
    for value in values:
        t.event(0, False)
        assert t.counter(0, 0) == value


@pytest.mark.parametrize(
    ("op", "width", "operand", "before", "after"),
    [
        ("shr", 8, 1, 0x81, 0x40),
        ("shr", 8, 8, 0xFF, 0),  # a shift by the width or more gives 0
        ("shr", 8, 64, 0xFF, 0xFF),  # modulo 64
        ("shr", 8, 65, 0xFE, 0x7F),
        ("shr", 64, 63, U64, 1),
        ("shl", 8, 1, 0x81, 0x02),
        ("shl", 32, 32, 1, 0),
        ("shl", 64, 63, 3, 1 << 63),
        ("shl", 16, 64, 5, 5),
        ("shl", 16, 1 << 16, 5, 5),
        ("min", 8, 0x80, 0x7F, 0x7F),  # unsigned
        ("min", 8, 0x80, 0x81, 0x80),
        ("min", 8, 0x80, 0x80, 0x80),
        ("min", 16, 0x1_0003, 7, 3),  # the operand is truncated to the width
        ("min", 32, 0, U64 >> 32, 0),
        ("min", 64, U64, U64 - 1, U64 - 1),
        ("min", 64, 1, 1 << 63, 1),
        ("subsat", 8, 1, 1, 0),
        ("subsat", 8, 1, 0, 0),  # no further than 0
        ("subsat", 8, 0xFF, 0xFE, 0),
        ("subsat", 8, 0x80, 0xFF, 0x7F),
        ("subsat", 16, 0x1_0003, 5, 2),
        ("subsat", 32, 6, 0x8000_0000, 0x7FFF_FFFA),
        ("subsat", 64, U64, U64 - 1, 0),
        ("subsat", 64, 1, U64, U64 - 1),
        ("last", 16, 0x1_0003, 5, 3),
        ("last", 32, 7, U64 >> 32, 7),
        ("ewma2", 8, 255, 0, 127),  # 127.5
        ("ewma2", 8, 0, 255, 127),  # -127.5 is -128
        ("ewma2", 8, 3, 2, 2),
        ("ewma2", 8, 2, 3, 2),
        ("ewma4", 8, 0x101, 250, 187),  # towards 1: -62.25 is -63
        ("ewma4", 16, 0xFFFF, 0xFFFC, 0xFFFC),
        ("ewma4", 16, 0xFFFF, 0xFFFB, 0xFFFC),
        ("ewma8", 8, 7, 0, 0),  # not a whole step
        ("ewma8", 8, 8, 0, 1),
        ("ewma8", 8, 0, 1, 0),  # down to the operand
        ("ewma8", 8, 100, 100, 100),
        ("ewma8", 32, 0, 0x8000_0000, 0x7000_0000),
        ("ewma8", 64, U64, 0, (1 << 61) - 1),
        ("ewma8", 64, 0, U64, U64 - (1 << 61)),
        ("ewma8", 64, 1 << 63, U64, U64 - (1 << 60)),
    ],
)
def test_an_op_by_its_state(op: str, width: int, operand: int, before: int, after: int) -> None:
    t = telemetry(op=op, width=width, operand=operand)
    t._set_counter(0, 0, before)
    t.event(0, False)
    assert t.counter(0, 0) == after


@pytest.mark.parametrize(
    ("kind", "width", "addr", "write", "value"),
    [
        ("line", 8, 0x30C0, False, 0xC3),
        ("line", 64, 0x3FC0, False, 0xFF),
        ("line", 8, 0x3FC0, True, 0xFF),
        ("is_write", 8, 0, True, 1),
        ("is_write", 8, 0, False, 0),
    ],
)
def test_request_operands(kind: str, width: int, addr: int, write: bool, value: int) -> None:
    t = telemetry(op="add", operand=77, operand_kind=kind, width=width)
    t.event(addr, write)
    assert t.counter(SMALL.channel(addr), addr >> 12) == value


def test_the_lowest_and_the_last_line_of_a_page() -> None:
    """`min` begins at what a reset leaves, not at the zero of a clear."""
    lowest = telemetry(op="min", operand_kind="line", effect_op="reset", effect_operand=U64)
    last = telemetry(op="last", operand_kind="line")
    lowest.read_line(0, 0, effect=True)
    for line in (0x46, 0x44, 0x4E):
        lowest.event(line << 6, False)
        last.event(line << 6, False)
    assert (lowest.counter(0, 1), last.counter(0, 1)) == (0x44, 0x4E)
    assert lowest.counter(0, 0) == U64


def test_predicates_test_what_the_op_left() -> None:
    """A countdown holds `== 0` at its end and at each later access; the floor is not passed."""
    t = telemetry(op="subsat", operand=2, width=8, notify_op="eq", notify_operand=0)
    t._set_counter(0, 0, 5)
    held = []
    for _ in range(4):
        before = t.notifications
        t.event(0, False)
        held.append(t.notifications - before)
    assert held == [0, 0, 1, 1]


def test_line_operand_is_cut_to_the_width() -> None:
    t = telemetry(op="max", operand_kind="line", width=8, primary_mask=0)
    t.event(0x101 << 6, False)
    assert t.counter(1, 0) == 1


def test_filter() -> None:
    t = telemetry(type="W", start=0x1000, end=0x2000)
    for addr, write in [(0xFC0, True), (0x1000, True), (0x1000, False), (0x2000, True)]:
        t.event(addr, write)
    assert (t.matched, t.unmapped, t.out_of_range) == (1, 0, 0)


def test_unmapped_and_out_of_range() -> None:
    t = telemetry(map=[[0, 1], [3, 15]], sub_mask=0xF00, sub_shift=8)
    t.event(0x0F00, False)  # index 16, with counters 0 to 15
    t.event(0x1000, False)  # key 1 has no entry
    t.event(0x4000, False)  # key 4 is beyond the table
    t.event(0x3000, False)  # index 15, the last one
    t.event(0x3100, False)  # one beyond, must not wrap to 0
    assert (t.matched, t.unmapped, t.out_of_range) == (1, 2, 2)
    assert list(t.nonzero()) == [(15, 0, 1)]


def test_a_huge_offset_does_not_wrap() -> None:
    t = telemetry(primary_mask=0, map=[[0, 7]], sub_mask=U64)
    t.event((1 << 30) - 1, False)
    assert t.out_of_range == 1


def test_a_hash_by_hand() -> None:
    """The upper part of offset * multiplier modulo 2^27, for 3 counters from base 1 on."""
    t = telemetry(
        primary_mask=0, map=[[0, 1]], sub_mask=U64, sub_shift=6,
        hash_multiplier=0x2AAAAAB, hash_size=3,
    )  # fmt: skip
    # 0x2AAAAAB is 2^27 / 3 + 1/3, so successive offsets go to counters 0, 1, 2 in turn.
    for offset, counter in ((0, 1), (1, 2), (2, 3), (3, 1), (4, 2)):
        before = t.counter(offset % 2, counter)
        t.event(offset << 6, False)
        assert t.counter(offset % 2, counter) == before + 1, offset


def test_an_offset_too_wide_for_the_hash() -> None:
    t = telemetry(primary_mask=0, map=[[0, 0]], sub_mask=U64, hash_multiplier=1, hash_size=2)
    t.event((1 << 27) - 1, False)
    t.event(1 << 27, False)
    assert (t.matched, t.out_of_range) == (1, 1)


def test_channels_have_their_own_state() -> None:
    g = Geometry(channels=4, states=16, table=4)
    t = telemetry(g)
    for line in (0, 1, 1, 2, 3, 5):
        t.event(line << 6, False)
    assert list(t.nonzero()) == [(0, 0, 1), (0, 1, 3), (0, 2, 1), (0, 3, 1)]


def test_counters_are_packed_from_the_low_bits() -> None:
    t = telemetry(width=16, map=[[k, k + 2] for k in range(4)])
    for page, times in enumerate((1, 2, 3)):
        for _ in range(times):
            t.event(page << 12, False)
    assert t.states[0][:2] == [0x0002_0001_0000_0000, 0x3]
    assert t.read_line(0, 0, effect=False) == [0x0002_0001_0000_0000, 3, 0, 0, 0, 0, 0, 0]


def test_every_counter_index_of_every_width() -> None:
    for width in (8, 16, 32, 64):
        counters = SMALL.counters(width)
        assert counters == 16 * 64 // width
        t = telemetry(width=width, map=[[0, 0]], primary_mask=0, sub_mask=U64, sub_shift=7)
        for index in range(counters + 1):
            t.event(index << 7, False)
        assert (t.matched, t.out_of_range) == (counters, 1)
        assert [i for i, _, _ in t.nonzero()] == list(range(counters))


@pytest.mark.parametrize(
    ("op", "holds"), [("none", ""), ("eq", "3"), ("ge", "345"), ("gt", "45"), ("lt", "12"),
                      ("le", "123")],
)  # fmt: skip
def test_predicates(op: str, holds: str) -> None:
    t = telemetry(notify_op=op, notify_operand=3)
    for value in range(1, 6):
        before = t.notifications
        t.event(0, False)
        assert t.notifications - before == (str(value) in holds)


def test_the_first_notification_is_kept_until_acknowledged() -> None:
    t = telemetry(notify_op="ge", notify_operand=1)
    assert t.notified is None
    t.event(0x1040, False)
    t.event(0x2000, False)
    assert (t.notified, t.notifications) == ((1, 1), 2)
    t.acknowledge()
    assert t.notified is None
    t.event(0x2000, False)
    assert (t.notified, t.notifications) == ((0, 2), 3)


@pytest.mark.parametrize(
    ("op", "left"),
    [("add", 7 - 5 + 9), ("sub", 7 - 5 + 9), ("addsat", 7 - 5 + 9), ("xor", 7 ^ 5 ^ 9),
     ("or", 7 & ~5 | 9), ("max", 7), ("shl", 7), ("shr", 7), ("ewma8", 7),
     ("subsat", 7 - 5 + 9), ("min", 7), ("last", 7)],
)  # fmt: skip
def test_an_acknowledged_line_is_taken_away(op: str, left: int) -> None:
    """The line is subtracted by the rule's op, down to the reset value, only from its counters."""
    g = Geometry(channels=2, states=16, table=2, device_gib=1)
    t = telemetry(g, width=16, op=op, effect_op="reset", effect_operand=0x1_0009)
    t.states[1][0] = 7 << 16 | 5
    t.states[1][8] = 5
    t.acknowledge_line(1, 0, [5 << 16 | 5, *[0] * 7])
    rest = t.counter(1, 2)
    assert (t.counter(1, 1), t.states[0], t.states[1][8:]) == (left, [0] * 16, [5, *[0] * 7])
    assert rest == {"shl": 0, "shr": 0, "ewma8": 0}.get(op, 9)
    assert t.counter(1, 0) == {"shl": 5, "shr": 5, "ewma8": 5}.get(op, 9)


def test_an_acknowledged_line_without_a_reset_leaves_what_came_since() -> None:
    t = telemetry(width=8, effect_op="add", effect_operand=3)
    t.event(0x1000, False)
    words = t.read_line(0, 0, effect=False)
    t.event(0x1000, False)
    t.acknowledge_line(0, 0, words)
    t.acknowledge_line(0, 0, words)
    assert t.counter(0, 1) == 0
    t.acknowledge_line(0, 0, words)
    assert t.counter(0, 1) == 255


def test_read_effects_apply_to_the_whole_line_and_no_further() -> None:
    g = Geometry(channels=2, states=16, table=2, device_gib=1)
    t = telemetry(g, width=32, map=[[0, 0], [1, 20]], effect_op="add", effect_operand=0x1_0000_0005)
    t.event(0x0000, False)
    t.event(0x1000, False)
    assert t.read_line(0, 0, effect=False)[0] == 1
    assert t.read_line(0, 0, effect=True)[0] == 1
    assert t.read_line(0, 0, effect=False) == [0x5_0000_0006] + [0x5_0000_0005] * 7
    assert t.read_line(0, 1, effect=False) == [0, 0, 1, 0, 0, 0, 0, 0]
    assert t.read_line(1, 0, effect=False) == [0] * 8


def test_reset_effect_and_no_notification_on_reads() -> None:
    t = telemetry(width=8, effect_op="reset", effect_operand=0x109, notify_op="eq",
                  notify_operand=9)  # fmt: skip
    t.event(0, False)
    assert t.read_line(0, 0, effect=True)[0] == 1
    assert t.read_line(0, 0, effect=True) == [0x0909_0909_0909_0909] * 8
    assert (t.notifications, t.notified, t.matched) == (0, None, 1)


def test_translation_changes_between_events() -> None:
    t = telemetry(map=[])
    t.event(0, False)
    t.set_translation(0, 5)
    t.event(0, False)
    t.set_translation(0, 6)
    t.event(0, False)
    t.set_translation(0, 0, valid=False)
    t.event(0, False)
    assert (t.matched, t.unmapped) == (2, 2)
    assert list(t.nonzero()) == [(5, 0, 1), (6, 0, 1)]


def test_periodic_reads() -> None:
    t = telemetry(read_every=2, effect_op="reset")
    reads = nemo.replay(t, [(a, False) for a in (0x1000, 0x1040, 0x1000, 0x1000, 0x3000)])
    assert reads == [(2, 1, 0, 1), (2, 1, 1, 1), (4, 1, 0, 2)]
    assert list(t.nonzero()) == [(3, 0, 1)]


def test_a_read_falls_due_after_the_last_event() -> None:
    t = telemetry(read_every=2, effect_op="reset")
    assert nemo.replay(t, [(0, False), (0, True)]) == [(2, 0, 0, 2)]
    assert list(t.nonzero()) == []
