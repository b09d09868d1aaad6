# SPDX-License-Identifier: Apache-2.0
"""The control plane: NEMO's listings on the golden model; the driver's structures and calls."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anemone.control import (
    ALL_MEMORY,
    CountMin,
    DeviceController,
    Event,
    Field,
    ModelController,
    Spec,
    sweep_s,
    uapi,
)
from anemone.control.plane import fold
from anemone.hardware.features import Features
from anemone.hardware.geometry import Geometry
from examples import listings

ROOT = Path(__file__).resolve().parents[2]
GEOMETRY = Geometry(2, 2, 512, 512, 1)
HUGE, BASE = 21, 12
SKEW = Spec(primary=Field(ALL_MEMORY, HUGE), sub=Field(0x1F_F000, BASE), read_effect=("reset", 0))


def traffic(n: int = 5000, pages: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    addr = (rng.integers(0, pages << HUGE, n) & ~63).astype(np.uint64)
    return addr, rng.random(n) < 0.3


def test_listing_1() -> None:
    """Accesses by base page within selected huge pages; reading resets; other pages follow."""
    controller = ModelController(GEOMETRY)
    t = controller.register(SKEW)
    assert (t.regions, t.region_counters) == (1, 512)
    addr, write = traffic()
    for page in (3, 5):
        t.reprogram([page])
        controller.access(addr, write)
        mine = addr[addr >> HUGE == page]
        expected = np.bincount((mine >> BASE & 511).astype(int), minlength=512)
        assert (t.read() == expected).all() and not t.read().any()
    with pytest.raises(ValueError, match="at most 1 regions"):
        t.reprogram([1, 2])


def test_listing_2() -> None:
    """One counter per huge page for reads and writes; a snapshot does not change it."""
    controller = ModelController(GEOMETRY)
    t = controller.register(Spec(primary=Field(ALL_MEMORY, HUGE), read_effect=("reset", 0)))
    for region, page in enumerate(range(8)):
        t.set_translation(page, region)
    addr, write = traffic()
    controller.access(addr, write)
    expected = np.bincount((addr >> HUGE).astype(int), minlength=t.regions)
    for snapshot in (True, False):
        assert (t.read(snapshot)[:, 0] == expected).all()
    assert not t.read().any()
    t.set_translation(3, None)
    controller.access(addr, write)
    expected[3] = 0
    assert (t.read()[:, 0] == expected).all()


def test_listing_3() -> None:
    """Many huge pages share a tenant's counter; past its cap the armed callback is called once."""
    controller = ModelController(GEOMETRY)
    t = controller.register(
        Spec(primary=Field(ALL_MEMORY, HUGE), notify=("ge", 1000), read_effect=("reset", 0))
    )
    for page in range(8):
        t.set_translation(page, page % 2)
    events: list[Event] = []
    t.on_notify(events.append)
    addr, write = traffic(1500)
    controller.access(addr, write)
    assert controller.dispatch() == 0  # on each channel alone, a tenant has less
    controller.access(*traffic(6000))
    assert controller.dispatch() == 1 and events[0].telemetry == t.number
    assert controller.dispatch() == 0
    controller.access(addr, write)
    assert controller.dispatch() == 1 and len(events) == 2
    t.remove()
    controller.access(addr, write)
    assert controller.dispatch() == 0


def test_the_listings_as_a_user_writes_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example runs on the golden model."""
    monkeypatch.setattr(sys, "argv", ["listings.py"])
    listings.main()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {name: value for line in lines for name, value in line.items()}
    hot, past = found["hotness"], found["past"]
    assert np.shape(found["skewness"]) == (2, 512) and np.sum(found["skewness"]) > 1000
    assert sum(hot) == sum(found["bandwidth"]) == 100_000 and len(hot) == 64
    assert len(past) == 1 and found["bandwidth"][past[0][0]] >= 5000


def test_pipelines_run_out() -> None:
    controller = ModelController(GEOMETRY)
    first, _ = controller.register(SKEW), controller.register(SKEW)
    with pytest.raises(ValueError, match="all 2 pipelines"):
        controller.register(SKEW)
    first.remove()
    controller.register(SKEW)
    with pytest.raises(ValueError, match="regions is 9"):
        ModelController(GEOMETRY).register(Spec(sub=SKEW.sub, regions=9))
    with pytest.raises(ValueError, match="region is 1; allowed: 0 to 0"):
        first.set_translation(0, 1)


@pytest.mark.parametrize(
    ("op", "expected"),
    [("add", 4), ("sub", 4), ("xor", 240), ("or", 250), ("max", 250), ("addsat", 255), ("min", 10)],
)
def test_fold(op: str, expected: int) -> None:
    assert fold(op, 8, np.array([[250, 10]], np.uint64)).tolist() == [expected]
    folded = {"add": 9, "sub": 9, "xor": 7, "or": 7, "max": 5, "addsat": 9, "min": 1}
    assert fold(op, 8, np.array([[3, 5, 1]], np.uint64)).tolist() == [folded[op]]


@pytest.mark.parametrize("op", ["shr", "shl", "subsat", "last", "ewma4"])
def test_what_does_not_fold(op: str) -> None:
    with pytest.raises(ValueError, match=op):
        fold(op, 8, np.zeros((1, 2), np.uint64))


@pytest.mark.parametrize(
    "wrong", [{"type": "X"}, {"update": ("mul", 1)}, {"width": 12}, {"update": ("add", "key")}]
)
def test_a_wrong_spec(wrong: dict) -> None:
    with pytest.raises(ValueError, match="allowed"):
        Spec(**wrong)


def test_sweep() -> None:
    assert sweep_s(8192, 112, 0.5) == 37.0


STRUCTURES = {
    "anemone_filter": uapi.Filter, "anemone_field": uapi.FieldOf,
    "anemone_translation": uapi.Translation, "anemone_operation": uapi.Operation,
    "anemone_hash": uapi.Hash,
    "anemone_spec": uapi.SpecOf, "anemone_info": uapi.Info, "anemone_add": uapi.Add,
    "anemone_id": uapi.Id, "anemone_entry": uapi.Entry, "anemone_map": uapi.Map,
    "anemone_read": uapi.Read, "anemone_event": uapi.EventOf,
}  # fmt: skip
NUMBERS = {
    "ANEMONE_INFO": uapi.INFO, "ANEMONE_ADD": uapi.ADD, "ANEMONE_REMOVE": uapi.REMOVE,
    "ANEMONE_MAP": uapi.MAP, "ANEMONE_READ": uapi.READ, "ANEMONE_SPEC_HOST": uapi.SPEC_HOST,
    "ANEMONE_READ_SNAPSHOT": uapi.READ_SNAPSHOT, "ANEMONE_READ_CHANNELS": uapi.READ_CHANNELS,
    "ANEMONE_ENTRY_UNMAP": uapi.ENTRY_UNMAP, "(ANEMONE_R | ANEMONE_W)": uapi.TYPES["RW"],
    **{f"ANEMONE_OP_{op.upper()}": code for op, code in uapi.OPS.items()},
    **{f"ANEMONE_OPERAND_{of.upper()}": code for of, code in uapi.OPERANDS.items()},
    **{f"ANEMONE_NOTIFY_{of.upper()}": code for of, code in uapi.NOTIFY.items()},
}  # fmt: skip


def test_the_structures_are_the_headers(tmp_path: Path) -> None:
    """Sizes, offsets, calls and codes equal those from a C compiler."""
    checks = [f'_Static_assert({name} == {value}u, "");' for name, value in NUMBERS.items()]
    for name, kind in STRUCTURES.items():
        of = f"struct {name}"
        checks.append(f'_Static_assert(sizeof({of}) == {ctypes.sizeof(kind)}, "");')
        checks += [
            f"_Static_assert(__builtin_offsetof({of}, {field}) == {getattr(kind, field).offset}"
            f' && sizeof((({of} *)0)->{field}) == {getattr(kind, field).size}, "");'
            for field, *_ in kind._fields_
        ]
    source = tmp_path / "check.c"
    source.write_text("#include <linux/anemone.h>\n" + "\n".join(checks))
    command = ["gcc", "-fsyntax-only", "-I", str(ROOT / "driver/include/uapi"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Driver:
    """A driver that keeps its telemetries in the golden model and uses the structures of the
    calls.
    """

    def __init__(self) -> None:
        self.model = ModelController(GEOMETRY)
        self.calls: list[int] = []

    def ioctl(self, fd: int, call: int, content: ctypes.Structure) -> None:
        self.calls.append(call)
        assert content.size == ctypes.sizeof(content)
        if call == uapi.INFO:
            content.channels = GEOMETRY.channels
        elif call == uapi.ADD:
            spec = content.spec
            if not spec.width:
                content.reason = b"no width"
                raise OSError(errno.EINVAL, "Invalid argument")
            translation = spec.translation
            one = self.model.register(
                Spec(
                    primary=Field(translation.primary.mask, translation.primary.shift),
                    sub=Field(translation.sub.mask, translation.sub.shift),
                    read_effect=("reset", 0), width=spec.width, notify=("ge", 1000),
                )
            )  # fmt: skip
            assert (spec.notify.op, spec.read_effect.op, spec.filter.type) == (2, 9, 3)
            content.id, content.regions = one.number, one.regions
        elif call == uapi.MAP:
            entry = uapi.Entry.from_address(content.entries)
            region = None if entry.flags & uapi.ENTRY_UNMAP else entry.region
            if region is not None and region >= self.model.registered[content.id].regions:
                raise OSError(errno.ERANGE, "out of range")
            self.model.registered[content.id].set_translation(entry.key, region)
        elif call == uapi.READ:
            one, snapshot = self.model.registered[content.id], bool(content.flags & 1)
            values = one.by_channel(snapshot) if content.flags & 2 else one.read(snapshot)
            values = np.ascontiguousarray(values)
            assert content.count == one.regions * one.region_counters
            ctypes.memmove(content.values, values.ctypes.data, values.nbytes)
        elif call == uapi.REMOVE:
            self.model.registered[content.id].remove()

    def read(self, fd: int, size: int) -> bytes:
        found = self.model.events()
        if not found:
            raise BlockingIOError
        return b"".join(
            bytes(uapi.EventOf(id=e.telemetry, counter=e.counter, channel=e.channel)) for e in found
        )


def test_a_device_is_asked_the_same() -> None:
    """A device gives the same results as the model: counts by channel and folded, events,
    errors.
    """
    driver = Driver()
    device = DeviceController(os.devnull, ioctl=driver.ioctl, read=driver.read)
    spec = Spec(
        primary=Field(ALL_MEMORY, HUGE), notify=("ge", 1000), read_effect=("reset", 0), regions=8
    )
    model = ModelController(GEOMETRY)
    events: list[Event] = []
    both = [device.register(spec), model.register(Spec(**{**vars(spec), "regions": 0}))]
    both[0].on_notify(events.append)
    for t in both:
        t.reprogram([6, 2, 0])
    addr, write = traffic(20_000)
    driver.model.access(addr, write)
    model.access(addr, write)
    assert (both[0].by_channel(True) == both[1].by_channel(True)).all()
    assert (
        device.dispatch(wait_s=60.0) == 1
        and events[0].telemetry == both[0].number
        and events[0].counter < 3
    )
    found, expected = (t.read() for t in both)
    assert (found == expected).all() and found.sum() > 2500
    assert not both[0].read().any()
    with pytest.raises(ValueError, match="out of range"):
        both[0].set_translation(1, 1 << 20)
    both[0].remove()
    assert driver.calls[-1] == uapi.REMOVE and device.dispatch() == 0
    device.close()


HASHES = Geometry(2, 4, 512, 512, 1, features=Features(hash=True))


def test_a_sketch_never_says_less() -> None:
    """A sketch overestimates by at most what shares a counter in every row, and is exact without
    sharing.
    """
    controller = ModelController(HASHES)
    sketch = CountMin(controller, BASE, size=300, depth=3, spec=Spec(width=16, type="W"))
    rng = np.random.default_rng(3)
    addr = (rng.zipf(1.3, 20_000) % (1 << 18) << 12 | rng.integers(0, 64, 20_000) << 6).astype(
        np.uint64
    )
    write = rng.random(len(addr)) < 0.5
    controller.access(addr, write)
    pages = np.arange(1 << 18)
    true = np.bincount((addr[write] >> BASE).astype(int), minlength=1 << 18)
    estimate = sketch.estimate(sketch.read(snapshot=True), pages)
    assert (estimate >= true).all()
    # A row's counters sum to the accesses, so half of the pages are off by no more than twice
    # what a counter has in the mean (Cormode and Muthukrishnan 2005).
    assert np.median(estimate - true) <= 2 * write.sum() / 300
    assert (sketch.read() == sketch.read(snapshot=True)).sum() < 3 * 300 * 2  # reset
    assert not sketch.read().any()
    sketch.remove()
    assert not controller.registered


def test_a_sketch_without_room() -> None:
    controller = ModelController(HASHES)
    with pytest.raises(ValueError, match="pipelines are taken"):
        CountMin(controller, BASE, size=300, depth=5)
    assert not controller.registered
    with pytest.raises(ValueError, match="depth is 0"):
        CountMin(controller, BASE, size=300, depth=0)
    with pytest.raises(ValueError, match="allowed: an odd number"):
        Spec(hash=(2, 300))
