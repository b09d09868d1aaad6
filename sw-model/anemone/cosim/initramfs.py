# SPDX-License-Identifier: Apache-2.0
"""A guest's root file system as a cpio archive ("newc"); making it needs no root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

_FOLDER, _FILE, _LINK = 0o040755, 0o100755, 0o120777

Content = bytes | str | Path  # a file's bytes, its text, or a file of the host to copy


def archive(files: Mapping[str, Content], links: Mapping[str, str]) -> bytes:
    """An archive of files (all executable), symbolic links (by path in the guest) and folders."""
    entries: dict[str, tuple[int, bytes]] = {}
    for path in (*files, *links):
        for parent in reversed(PurePosixPath(path).parents):
            if str(parent) != "/":
                entries[str(parent)] = (_FOLDER, b"")
    for path, content in files.items():
        if isinstance(content, Path):
            content = content.read_bytes()
        entries[path] = (_FILE, content.encode() if isinstance(content, str) else content)
    for path, target in links.items():
        entries[path] = (_LINK, target.encode())
    numbered = enumerate(entries.items(), 1)
    parts = [_entry(path.lstrip("/"), i, *entry) for i, (path, entry) in numbered]
    return b"".join([*parts, _entry("TRAILER!!!", 0, 0, b"")])


def _entry(name: str, inode: int, mode: int, content: bytes) -> bytes:
    fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name.encode()) + 1, 0)
    head = b"070701" + "".join(f"{field:08x}" for field in fields).encode()
    return _padded(head + name.encode() + b"\0") + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
