# SPDX-License-Identifier: Apache-2.0
"""The source of SQLite's code: a list derived from the machine's, which is not changed."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from anemone.capture import debian
from anemone.io.errors import InputError

MODERN = """\
# what the installer wrote
Types: deb
URIs: http://archive.example/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://archive.example/debian-security
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main
"""
CLASSIC = """\
deb http://old.example/debian bookworm main  # a comment
deb [arch=amd64 signed-by=/key.gpg] http://old.example/more bookworm-updates main universe
# deb http://commented.example bookworm main
deb https://vendor.example/tools vendor-bookworm main
"""


def machine(folder: Path) -> Path:
    parts = folder / "sources.list.d"
    parts.mkdir()
    (parts / "debian.sources").write_text(MODERN)
    (parts / "vendor.list").write_text("deb https://vendor.example nodistro main\n")
    (parts / "old.list.save").write_text("deb http://saved.example bookworm main\n")
    (folder / "sources.list").write_text(CLASSIC)
    return folder


def test_the_list_has_this_releases_entries_as_sources_only(tmp_path: Path) -> None:
    before = {p: p.read_text() for p in machine(tmp_path).rglob("*") if p.is_file()}
    stanzas = debian.source_list(tmp_path, "bookworm").strip().split("\n\n")
    assert all(s.startswith("Types: deb-src\n") for s in stanzas)
    found = {
        (s.split("URIs: ")[1].split("\n")[0], s.split("Suites: ")[1].split("\n")[0])
        for s in stanzas
    }
    assert found == {
        ("http://archive.example/debian", "bookworm bookworm-updates"),
        ("http://archive.example/debian-security", "bookworm-security"),
        ("http://old.example/debian", "bookworm"),
        ("http://old.example/more", "bookworm-updates"),
    }
    text = "\n".join(stanzas)
    assert "Components: main contrib" in text and "Components: main universe" in text
    assert "Signed-By: /key.gpg" in text and "-----BEGIN PGP" in text and " abc" in text
    assert before == {p: p.read_text() for p in tmp_path.rglob("*") if p.is_file()}


def test_a_machine_of_another_release_has_none(tmp_path: Path) -> None:
    assert debian.source_list(machine(tmp_path), "noble") == ""


def package(folder: Path, members: dict[str, bytes]) -> Path:
    (folder / "x.dsc").write_text("Format: 3.0\nVersion: 1.72-1\n")
    with tarfile.open(folder / "x.orig.tar.gz", "w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return folder


def test_only_the_amalgamation_is_taken_from_a_package(tmp_path: Path) -> None:
    inside = {"x-1/sqlite3.c": b"c", "x-1/sqlite3.h": b"h", "../evil": b"e", "x-1/README": b"r"}
    target = tmp_path / "target"
    assert debian._unpack(package(tmp_path, inside), target).endswith(" 1.72-1")
    assert {p.name: p.read_bytes() for p in target.iterdir()} == {
        "sqlite3.c": b"c",
        "sqlite3.h": b"h",
    }


def test_a_package_without_it_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as e:
        debian._unpack(package(tmp_path, {"x-1/sqlite3.h": b"h"}), tmp_path / "target")
    assert "sqlite3.c" in str(e.value) and "\n" not in str(e.value)


@pytest.mark.parametrize("missing", ["apt-get", "sources"])
def test_a_machine_that_cannot_fetch_says_what_else_there_is(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = None if missing == "apt-get" else "/usr/bin/apt-get"
    monkeypatch.setattr(debian.shutil, "which", lambda name: there)
    with pytest.raises(InputError) as e:
        debian.fetch_sqlite(tmp_path / "sqlite", tmp_path)
    assert missing in str(e.value) and "anemone capture graph kvstore stream" in str(e.value)
    assert not (tmp_path / "sqlite").exists()
