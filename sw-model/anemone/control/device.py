# SPDX-License-Identifier: Apache-2.0
"""The control plane on a device, through the driver's ioctls of /dev/anemoneN."""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
from collections.abc import Callable

import numpy as np

from anemone.control import uapi
from anemone.control.plane import Controller, Event, Registered, Spec

Ioctl = Callable[[int, int, ctypes.Structure], object]


def _ioctl(fd: int, call: int, content: ctypes.Structure) -> None:
    fcntl.ioctl(fd, call, content, True)


class DeviceController(Controller):
    """An open device. Addresses and keys are the device's, from 0, or with `host` the host's.

    ioctl, read: the system's functions; tests replace them. Raises the system's OSError.
    """

    def __init__(
        self,
        path: str | os.PathLike = "/dev/anemone0",
        host: bool = False,
        ioctl: Ioctl = _ioctl,
        read: Callable[[int, int], bytes] = os.read,
    ) -> None:
        super().__init__()
        self._host, self._ioctl, self._read = host, ioctl, read
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        info = uapi.Info(size=ctypes.sizeof(uapi.Info))
        self.call(uapi.INFO, info)
        self.channels = int(info.channels)

    def close(self) -> None:
        """Close the device; the driver then removes all telemetries of the file."""
        os.close(self._fd)
        self.registered.clear()

    def call(self, number: int, content: ctypes.Structure) -> None:
        self._ioctl(self._fd, number, content)

    def register(self, spec: Spec) -> Registered:
        add = uapi.Add(size=ctypes.sizeof(uapi.Add), spec=_spec(spec, self._host))
        try:
            self.call(uapi.ADD, add)
        except OSError as e:
            raise ValueError(add.reason.decode() or e.strerror) from e
        one = _OfDevice(self, spec, int(add.id), int(add.regions))
        self.registered[one.number] = one
        return one

    def wait(self, seconds: float) -> None:
        select.select([self._fd], [], [], seconds)

    def events(self) -> list[Event]:
        size = ctypes.sizeof(uapi.EventOf)
        try:
            content = self._read(self._fd, 64 * size)
        except BlockingIOError:
            return []
        found = (uapi.EventOf.from_buffer_copy(content, i) for i in range(0, len(content), size))
        return [Event(int(e.id), int(e.counter), int(e.channel)) for e in found if e.type == 0]


class _OfDevice(Registered):
    def __init__(self, device: DeviceController, spec: Spec, number: int, regions: int) -> None:
        super().__init__(spec, number, regions)
        self._device = device

    def set_translation(self, key: int, region: int | None) -> None:
        flags = uapi.ENTRY_UNMAP if region is None else 0
        entry = uapi.Entry(key=key, region=region or 0, flags=flags)
        change = uapi.Map(
            size=ctypes.sizeof(uapi.Map), id=self.number, entries=ctypes.addressof(entry),
            count=1, entry_size=ctypes.sizeof(uapi.Entry),
        )  # fmt: skip
        try:
            self._device.call(uapi.MAP, change)
        except OSError as e:
            raise ValueError(f"key {key:#x}, region {region}: {e.strerror}") from e

    def by_channel(self, snapshot: bool) -> np.ndarray:
        return self._values(snapshot, uapi.READ_CHANNELS, self._device.channels)

    def read(self, snapshot: bool = False) -> np.ndarray:
        # The driver combines the channels, because it knows the counters' initial values.
        return self._values(snapshot, 0, 1).reshape(self.regions, -1)

    def _values(self, snapshot: bool, flags: int, each: int) -> np.ndarray:
        count = self.regions * self.region_counters
        values = np.zeros((count, each), np.uint64)
        effect = not snapshot and self.spec.read_effect[0] != "none"
        reads = uapi.Read(
            size=ctypes.sizeof(uapi.Read), id=self.number, count=count,
            flags=flags | (0 if effect else uapi.READ_SNAPSHOT), values=values.ctypes.data,
        )  # fmt: skip
        self._device.call(uapi.READ, reads)
        return values

    def remove(self) -> None:
        self._device.call(uapi.REMOVE, uapi.Id(size=ctypes.sizeof(uapi.Id), id=self.number))
        del self._device.registered[self.number]


def _spec(spec: Spec, host: bool) -> uapi.SpecOf:
    def operation(op: int, operand: int | str) -> uapi.Operation:
        if isinstance(operand, str):
            return uapi.Operation(op=op, source=uapi.OPERANDS[operand])
        return uapi.Operation(op=op, operand=operand)

    return uapi.SpecOf(
        name=spec.name.encode(),
        filter=uapi.Filter(start=spec.start, end=spec.end, type=uapi.TYPES[spec.type]),
        translation=uapi.Translation(
            primary=uapi.FieldOf(mask=spec.primary.mask, shift=spec.primary.shift),
            sub=uapi.FieldOf(mask=spec.sub.mask, shift=spec.sub.shift),
        ),
        update=operation(uapi.OPS[spec.update[0]], spec.update[1]),
        notify=operation(uapi.NOTIFY[spec.notify[0]], spec.notify[1]),
        read_effect=operation(uapi.OPS[spec.read_effect[0]], spec.read_effect[1]),
        regions=spec.regions,
        flags=uapi.SPEC_HOST if host else 0,
        width=spec.width,
        hash=uapi.Hash(multiplier=spec.hash[0], size=spec.hash[1]),
    )
