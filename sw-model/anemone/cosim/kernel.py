# SPDX-License-Identifier: Apache-2.0
"""The kernel's ELF file from its compressed image: decompression takes an emulated CPU longer than
half a boot."""

from __future__ import annotations

from pathlib import Path

import pyarrow

from anemone.backends.rtl.builder import ROOT
from anemone.io.build_cache import built

# The note that gives the entry of a kernel without a boot loader (PVH): the owner's length, the
# type XEN_ELFNOTE_PHYS32_ENTRY, and the owner.
_PVH_NOTE = (18).to_bytes(4, "little") + b"Xen\0"
_ZSTD = bytes.fromhex("28b52ffd")


def bootable(image: Path) -> Path:
    """The ELF file of an image that is compressed by zstd and has a PVH entry; else the image."""
    data = image.read_bytes()
    payload = _payload(data)
    if not payload.startswith(_ZSTD):
        return image

    def make(fresh: Path) -> None:
        # The payload ends with the kernel's size.
        size = int.from_bytes(payload[-4:], "little")
        fresh.write_bytes(pyarrow.decompress(payload[:-4], size, "zstd", asbytes=True))

    elf = built(ROOT / "build" / "cosim" / f"{image.name}.elf", [image], make)
    return elf if _PVH_NOTE in elf.read_bytes() else image


def _payload(image: bytes) -> bytes:
    """The compressed kernel of a bzImage (Documentation/arch/x86/boot.rst); else nothing."""
    if image[0x202:0x206] != b"HdrS":
        return b""
    setup_sectors = image[0x1F1] or 4
    offset, length = (int.from_bytes(image[at : at + 4], "little") for at in (0x248, 0x24C))
    start = (setup_sectors + 1) * 512 + offset
    return image[start : start + length]
