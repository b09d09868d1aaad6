# SPDX-License-Identifier: Apache-2.0
"""Traffic on the ports of ports/Ports.sv that keeps AXI's rules or breaks one, cycle by cycle.

A cycle lists the pins that are not 0, without the port's name.
"""

from __future__ import annotations

from itertools import chain, repeat

Cycle = dict[str, int]
FIXED, INCR, WRAP = range(3)
LIMIT = 1024  # most outstanding transfers of a kind


def _pins(channel: str, ready: int = 1, **values: int) -> Cycle:
    shown = {"valid": 1, "ready": ready} | values
    return {f"{channel}{name}": value for name, value in shown.items()}


def ar(
    addr: int = 0, len: int = 0, id: int = 1, size: int = 3, burst: int = INCR, **more: int
) -> Cycle:
    return _pins("ar", addr=addr, len=len, id=id, size=size, burst=burst, **more)


def aw(
    addr: int = 0, len: int = 0, id: int = 1, size: int = 3, burst: int = INCR, **more: int
) -> Cycle:
    return _pins("aw", addr=addr, len=len, id=id, size=size, burst=burst, **more)


def w(strb: int = 0xFF, last: int = 1, data: int = 5, **more: int) -> Cycle:
    return _pins("w", strb=strb, last=last, data=data, **more)


def b(id: int = 1, resp: int = 0, **more: int) -> Cycle:
    return _pins("b", id=id, resp=resp, **more)


def r(id: int = 1, last: int = 1, data: int = 5, resp: int = 0, **more: int) -> Cycle:
    return _pins("r", id=id, last=last, data=data, resp=resp, **more)


NOTHING: Cycle = {}
RESET: Cycle = {"reset": 1}

# Traffic of a correct master and slave.
SOUND: dict[str, list[Cycle]] = {
    "a read": [ar(), r()],
    "a read that waits": [ar(ready=0), ar(), r(ready=0), r(ready=0), r()],
    "reads of two ids, interleaved": [
        ar(len=1), ar(id=2, len=1), r(last=0), r(id=2, last=0), r(id=2) | ar(id=2), r(), r(id=2),
    ],
    "reads of an id in their order": [ar(len=1), ar(), r(last=0), r(), r()],
    "a write": [aw(), w(), b()],
    "a write with its address": [aw() | w(), b()],
    "data before their address": [w(last=0), w(), w(), aw(len=1), b() | aw(), NOTHING, b()],
    "half of the data before their address": [w(last=0), aw(len=1), w(), b()],
    "acknowledged in any order": [aw() | w(), aw(id=2) | w(), b(id=2), b()],
    "up to the end of a page": [ar(addr=0x1FF8), r(), ar(addr=0xF9, len=0), r()],
    "strobes of an unaligned burst": [aw(addr=0x103, len=1), w(0xF8, 0), w(), b()],
    "strobes of small beats": [
        aw(addr=2, len=2, size=1), w(0x0C, 0), w(0x30, 0), w(0xC0), b(),
        aw(addr=6, len=1, size=1, burst=WRAP), w(0xC0, 0), w(0x30), b(),
        aw(addr=5, len=1, size=0, burst=FIXED), w(0x20, 0), w(0x20), b(),
    ],
    "a reset amid everything": [
        ar(len=3), aw(len=3), w(last=0), r(last=0), RESET, RESET, NOTHING,
        ar(), r(), aw(), w(), b(),
    ],
}  # fmt: skip

# The checker's message.
BROKEN: dict[str, tuple[str, list[Cycle]]] = {
    **{
        f"{name} is taken back": (
            f"{name}: valid was taken back",
            [*before, pins | {f"{name}ready": 0}, NOTHING],
        )
        for name, before, pins in (
            ("ar", [], ar()), ("aw", [], aw()), ("w", [], w()),
            ("r", [ar()], r()), ("b", [aw() | w()], b()),
        )
    },
    **{
        f"{pin} changes": (
            f"{channel}: changed while it waited",
            [*before, pins | {f"{channel}ready": 0}, pins | {pin: pins.get(pin, 0) ^ bit}],
        )
        for channel, before, pins, names, bit in (
            ("ar", [], ar(addr=64), ("id", "addr", "len", "size", "burst"), 2),
            ("aw", [], aw(addr=64), ("id", "addr", "len", "size", "burst"), 2),
            ("w", [], w(strb=0xFF), ("data", "strb"), 2),
            ("w", [], w(), ("user",), 1),
            ("w", [aw(len=1)], w(last=0), ("last",), 1),
            ("r", [ar(), ar(id=2)], r(), ("id", "data", "resp"), 2),
            ("r", [ar()], r(), ("user",), 1),
            ("b", [aw() | w(), aw(id=2) | w()], b(), ("id", "resp"), 2),
        )
        for name in names
        for pin in [f"{channel}{name}"]
    },
    **{
        f"{name} under reset": (f"{name}: valid under reset", [RESET, RESET | pins])
        for name, pins in (("ar", ar()), ("aw", aw()), ("w", w()), ("r", r()), ("b", b()))
    },
    "ar right behind a reset": ("ar: valid under reset", [RESET, ar()]),
    "beats wider than the bus": ("ar: beats of 16 bytes", [ar(size=4)]),
    "257 beats": ("ar: 257 beats", [ar(len=256, size=0)]),
    "a long fixed burst": ("aw: a fixed burst of 17 beats", [aw(len=16, burst=FIXED)]),
    "a burst over the end of a page": ("ar: a burst leaves its 4 KiB", [ar(addr=0x1FF8, len=1)]),
    "an unaligned one": ("aw: a burst leaves its 4 KiB", [aw(addr=0x1FF9, len=1)]),
    "a wrapping burst of 3": ("ar: a wrapping burst of 3 beats", [ar(len=2, burst=WRAP)]),
    "an unaligned wrapping burst": ("unaligned", [aw(addr=4, len=1, burst=WRAP)]),
    "a reserved burst": ("ar: burst is reserved", [ar(burst=3)]),
    "strobes before the address": ("wstrb", [aw(addr=4), w()]),
    "strobes of another beat": ("wstrb", [aw(len=1, size=2), w(0x0F, 0), w(0x0F)]),
    "strobes that do not wrap": (
        "wstrb", [aw(addr=4, len=1, size=2, burst=WRAP), w(0xF0, 0), w(0xF0)]
    ),
    "strobes that move": ("wstrb", [aw(len=1, size=2, burst=FIXED), w(0x0F, 0), w(0xF0)]),
    "wlast is missing": ("wlast is 0 in beat 1", [aw(len=1), w(last=0), w(last=0)]),
    "wlast is early": ("wlast is 1 in beat 0", [aw(len=1), w()]),
    "too few data came first": ("1 beats of data came for 2", [w(), aw(len=1)]),
    "data of no read": ("r of id 1, which has no read", [r()]),
    "data of another id": ("r of id 2, which has no read", [ar(), r(id=2)]),
    "data in the cycle of their address": ("which has no read", [ar() | r()]),
    "data once more": ("which has no read", [ar(), r(), r()]),
    "rlast is missing": ("rlast is 0", [ar(), r(last=0)]),
    "rlast is early": ("rlast is 1", [ar(len=1), r()]),
    "answers of an id in another order": ("rlast is 1", [ar(len=1), ar(), r()]),
    "an answer to no write": ("b of id 1, which has no write", [b()]),
    "an answer before the last data": ("which has no write with all", [aw(len=1), w(last=0), b()]),
    "an answer with the last data": ("which has no write with all", [aw(), w() | b()]),
    "an answer before the address": ("which has no write with all", [w(), b()]),
    "an answer of another id": ("b of id 2, which has no write", [aw() | w(), b(id=2)]),
    "an answer once more": ("which has no write with all", [aw() | w(), b(), b()]),
    "exclusive data": ("r is EXOKAY", [ar(), r(resp=1)]),
    "an exclusive answer": ("b is EXOKAY", [aw() | w(), b(resp=1)]),
    "data of before a reset": ("which has no read", [ar(), RESET, RESET, NOTHING, r()]),
    "an answer of before a reset": ("which has no write", [aw() | w(), RESET, RESET, NOTHING, b()]),
    "reads without end": (f"more than {LIMIT} reads", [*repeat(ar(), LIMIT + 1), NOTHING]),
    "writes without end": (f"more than {LIMIT} writes", [*repeat(aw() | w(), LIMIT + 1), NOTHING]),
}  # fmt: skip

LITE_SOUND: dict[str, list[Cycle]] = {
    "reads": [ar(), ar() | r(), r()],
    "writes": [w(), aw(), b(), aw(), w() | aw(), b() | w(), b()],
    "a reset": [ar(), aw(), w(), RESET, RESET, NOTHING, ar(), r(), aw() | w(), b()],
}
LITE_BROKEN: dict[str, tuple[str, list[Cycle]]] = {
    **{name: BROKEN[name] for name in BROKEN if name.endswith((" taken back", " under reset"))},
    **{
        f"{pin} changes": BROKEN[f"{pin} changes"]
        for pin in ("araddr", "awaddr", "wdata", "wstrb", "rdata", "rresp", "bresp")
    },
    "an answer without an address": ("b without a write", [w(), b()]),
    "an answer without data": ("b without a write", [aw(), b()]),
    "an answer with its write": ("b without a write", [aw() | w() | b()]),
    "data of no read": ("r without a read", [ar() | r()]),
    "exclusive data": ("r is EXOKAY", [ar(), r(resp=1)]),
    "an exclusive answer": ("b is EXOKAY", [aw() | w(), b(resp=1)]),
    "reads without end": (
        f"more than {LIMIT} reads",
        [*repeat(ar(), LIMIT + 1), NOTHING],
    ),
    "addresses without end": (
        f"more than {LIMIT} writes",
        [*repeat(aw(), LIMIT + 1), NOTHING],
    ),
    "data without end": (
        f"more than {LIMIT} writes",
        [*repeat(w(), LIMIT + 1), NOTHING],
    ),
}

# By port and name: the expected message, and the traffic.
CASES: dict[tuple[str, str], tuple[str, list[Cycle]]] = dict(
    chain.from_iterable(
        (
            *(((port, name), ("", cycles)) for name, cycles in sound.items()),
            *(((port, name), case) for name, case in broken.items()),
        )
        for port, sound, broken in (("full", SOUND, BROKEN), ("lite", LITE_SOUND, LITE_BROKEN))
    )
)
