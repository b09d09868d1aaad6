# SPDX-License-Identifier: Apache-2.0
"""The driver's structures (driver/include/uapi/linux/anemone.h) as ctypes structures.

A test compiles the header and compares sizes, offsets and ioctl numbers.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_uint8, c_uint32, c_uint64

SPEC_HOST, READ_SNAPSHOT, READ_CHANNELS, ENTRY_UNMAP = 1, 1, 2, 1
# The header's codes by the names in rule files.
TYPES = {"R": 1, "W": 2, "RW": 3}
OPS = {"none": 0, "add": 1, "sub": 2, "shr": 3, "shl": 4, "xor": 5, "or": 6, "max": 7,
       "addsat": 8, "reset": 9, "min": 10, "subsat": 11, "last": 12,
       "ewma2": 13, "ewma4": 14, "ewma8": 15}  # fmt: skip
OPERANDS = {"line": 1, "is_write": 2}
NOTIFY = {"none": 0, "eq": 1, "ge": 2, "gt": 3, "lt": 4, "le": 5}


class Filter(ctypes.Structure):
    _fields_ = (("start", c_uint64), ("end", c_uint64), ("type", c_uint8), ("near", c_uint8),
                ("pad", c_uint8 * 6))  # fmt: skip


class FieldOf(ctypes.Structure):
    _fields_ = (("mask", c_uint64), ("shift", c_uint32), ("pad", c_uint32))


class Translation(ctypes.Structure):
    _fields_ = (("primary", FieldOf), ("sub", FieldOf))


class Hash(ctypes.Structure):
    _fields_ = (("multiplier", c_uint32), ("size", c_uint32))


class Operation(ctypes.Structure):
    _fields_ = (("operand", c_uint64), ("op", c_uint8), ("source", c_uint8), ("pad", c_uint8 * 6))


class SpecOf(ctypes.Structure):
    _fields_ = (
        ("name", c_char * 32), ("filter", Filter), ("translation", Translation),
        ("update", Operation), ("notify", Operation), ("read_effect", Operation),
        ("regions", c_uint32), ("flags", c_uint32), ("width", c_uint8), ("pad", c_uint8 * 7),
        ("hash", Hash), ("reserved", c_uint64 * 3),
    )  # fmt: skip


class Info(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32), ("uapi", c_uint32), ("version", c_uint32), ("flags", c_uint32),
        ("pipelines", c_uint32), ("pipelines_free", c_uint32), ("channels", c_uint32),
        ("states", c_uint32), ("table", c_uint32), ("address_bits", c_uint32),
        ("features", c_uint64), ("host_base", c_uint64), ("host_size", c_uint64),
        ("interrupts", c_uint64), ("spurious", c_uint64), ("device", c_char * 32),
    )  # fmt: skip


class Add(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32), ("id", c_uint32), ("spec", SpecOf), ("regions", c_uint32),
        ("region_counters", c_uint32), ("pipelines", c_uint32), ("granule", c_uint32),
        ("reason", c_char * 128),
    )  # fmt: skip


class Id(ctypes.Structure):
    _fields_ = (("size", c_uint32), ("id", c_uint32))


class Entry(ctypes.Structure):
    _fields_ = (("key", c_uint64), ("region", c_uint32), ("flags", c_uint32))


class Map(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32), ("id", c_uint32), ("entries", c_uint64), ("count", c_uint32),
        ("done", c_uint32), ("entry_size", c_uint32), ("pad", c_uint32),
    )  # fmt: skip


class Read(ctypes.Structure):
    _fields_ = (
        ("size", c_uint32), ("id", c_uint32), ("flags", c_uint32), ("first", c_uint32),
        ("count", c_uint32), ("pad", c_uint32), ("values", c_uint64),
    )  # fmt: skip


class EventOf(ctypes.Structure):
    _fields_ = (
        ("id", c_uint32), ("counter", c_uint32), ("channel", c_uint32), ("type", c_uint32),
        ("time_ns", c_uint64),
    )  # fmt: skip


def _call(number: int, size: int, reads: bool = True) -> int:
    """The kernel's _IOC: direction, size, type, number."""
    return (3 if reads else 1) << 30 | size << 16 | 0xA7 << 8 | number


INFO = _call(0, ctypes.sizeof(Info))
ADD = _call(1, ctypes.sizeof(Add))
REMOVE = _call(2, ctypes.sizeof(Id), reads=False)
MAP = _call(3, 24)  # keeps the number of the structure's first version
READ = _call(4, ctypes.sizeof(Read))
