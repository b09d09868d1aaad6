# SPDX-License-Identifier: Apache-2.0
"""The guest boots an uncompressed kernel where its image allows it."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pytest

from anemone.cosim import Tools, kernel

PVH = b"\4\0\0\0\4\0\0\0" + (18).to_bytes(4, "little") + b"Xen\0"
ELF = b"\x7fELF" + bytes(100) + PVH + bytes(1000)


def image(folder: Path, payload: bytes, magic: bytes = b"HdrS") -> Path:
    """A bzImage of four setup sectors with this payload."""
    data = bytearray(5 * 512)
    data[0x1F1] = 4
    data[0x202:0x206] = magic
    data[0x248:0x24C] = (16).to_bytes(4, "little")
    data[0x24C:0x250] = len(payload).to_bytes(4, "little")
    path = folder / "vmlinuz"
    path.write_bytes(bytes(data) + bytes(16) + payload + b"after")
    return path


def packed(elf: bytes) -> bytes:
    return pyarrow.compress(elf, "zstd", asbytes=True) + len(elf).to_bytes(4, "little")


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernel, "ROOT", tmp_path)


def test_an_image_is_unpacked_and_again_when_it_changes(tmp_path: Path) -> None:
    for elf in (ELF, ELF + b"later"):
        assert kernel.bootable(image(tmp_path, packed(elf))).read_bytes() == elf


@pytest.mark.parametrize(
    ("payload", "magic"),
    [
        (packed(ELF.replace(PVH, b"")), b"HdrS"),
        (b"\x1f\x8b" + bytes(100), b"HdrS"),
        (packed(ELF), b"none"),
    ],
    ids=["no entry of its own", "another compression", "no bzImage"],
)
def test_another_image_boots_as_it_is(tmp_path: Path, payload: bytes, magic: bytes) -> None:
    path = image(tmp_path, payload, magic)
    assert kernel.bootable(path) == path


def test_the_stock_kernel_is_unpacked(tools: Tools) -> None:
    if tools.release.endswith("-amd64"):  # Debian's
        assert kernel.bootable(tools.kernel) != tools.kernel
