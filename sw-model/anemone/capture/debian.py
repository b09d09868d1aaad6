# SPDX-License-Identifier: Apache-2.0
"""Fetches SQLite's amalgamation from the system's package archive when it is needed.

The source package libdbd-sqlite3-perl of Debian and Ubuntu has sqlite3.c as SQLite's authors
publish it. (The package sqlite3 has only its parts and needs Tcl to combine them.) Most machines
have no source index. So apt gets its own list, derived from the machine's, and its own folders;
this needs no root and does not change the system's lists.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from anemone.io.errors import Bare, InputError

PACKAGE = "libdbd-sqlite3-perl"
FILES = ("sqlite3.c", "sqlite3.h")
_APT_SECONDS = 600
_OTHERS = "the other samples need no package: anemone capture graph kvstore stream"


def source_list(etc: Path, codename: str) -> str:
    """The machine's entries for its own release, as deb822 stanzas of type deb-src.

    etc: apt's folder (/etc/apt). Entries of other suites are left out, because third-party archives
    rarely have sources and one missing index fails the whole update.
    """
    wanted = {codename + tail for tail in ("", "-updates", "-security")}
    stanzas = []
    for path in sorted([etc / "sources.list", *(etc / "sources.list.d").glob("*")]):
        if not path.is_file():
            continue
        text = path.read_text(errors="replace")
        if path.suffix == ".sources":
            stanzas += [_deb822(part, wanted) for part in re.split(r"\n[ \t]*\n", text)]
        elif path.suffix == ".list":
            stanzas += [_one_line(line, wanted) for line in text.splitlines()]
    return "\n".join(dict.fromkeys(s for s in stanzas if s))


def _stanza(uris: str, suites: list[str], components: str, signed_by: str) -> str:
    lines = ["Types: deb-src", f"URIs: {uris}", f"Suites: {' '.join(suites)}"]
    lines.append(f"Components: {components}")
    if signed_by:
        lines.append(f"Signed-By: {signed_by}")
    return "\n".join(lines) + "\n"


def _deb822(text: str, wanted: set[str]) -> str:
    fields: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t") and name:
            fields[name] += "\n" + line  # an inline key spans several lines
        elif ":" in line:
            name, value = line.split(":", 1)
            name = name.strip().lower()
            fields[name] = value.strip()
    suites = [s for s in fields.get("suites", "").split() if s in wanted]
    if not suites or fields.get("enabled", "yes").lower() in ("no", "false", "0"):
        return ""
    components = " ".join(fields.get("components", "main").split())
    uris = " ".join(fields.get("uris", "").split())
    return _stanza(uris, suites, components, fields.get("signed-by", ""))


def _one_line(line: str, wanted: set[str]) -> str:
    match = re.match(r"deb(?:-src)?\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+)", line.strip())
    if match is None or match[3] not in wanted:
        return ""
    signed_by = re.search(r"signed-by=(\S+)", match[1] or "")
    return _stanza(match[2], [match[3]], match[4].strip(), signed_by[1] if signed_by else "")


def fetch_sqlite(folder: Path, etc: Path = Path("/etc/apt")) -> str:
    """Put sqlite3.c and sqlite3.h into `folder`, unless they are there.

    Returns the source package's version. Raises InputError.
    """
    stamp = folder / "version"
    if stamp.exists():
        return stamp.read_text().strip()
    if shutil.which("apt-get") is None:
        raise _cannot("apt-get", "missing", f"Debian or Ubuntu; {_OTHERS}")
    listed = source_list(etc, _codename())
    if not listed:
        raise _cannot("sources", "empty", f"an entry for this release in {etc}; {_OTHERS}")

    work = folder.with_name(folder.name + ".part")
    shutil.rmtree(work, ignore_errors=True)
    for name in ("lists/partial", "cache/archives/partial", "source"):
        (work / name).mkdir(parents=True)
    (work / "machine.sources").write_text(listed)
    options = {
        "Dir::Etc::sourcelist": work / "machine.sources",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": work / "lists",
        "Dir::Cache": work / "cache",
        "Debug::NoLocking": 1,  # nothing else uses these folders
        "APT::Sandbox::User": "root",  # the user _apt could not write to them
        "Acquire::Languages": "none",
    }
    apt = ["apt-get", "-q", *(word for k, v in options.items() for word in ("-o", f"{k}={v}"))]
    try:
        _run([*apt, "update"], work)
        _run([*apt, "source", "--download-only", PACKAGE], work / "source")
        version = _unpack(work / "source", folder)
        (folder / "version").write_text(version + "\n")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return version


def _unpack(source: Path, folder: Path) -> str:
    archive = next(source.glob("*.orig.tar.*"), None)
    description = next(source.glob("*.dsc"), None)
    if archive is None or description is None:
        raise _cannot(PACKAGE, "incomplete", "a source package with its archive")
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            name = Path(member.name).name
            if name in FILES and member.isfile():
                content = tar.extractfile(member)
                assert content is not None
                (folder / name).write_bytes(content.read())
    for name in FILES:
        if not (folder / name).exists():
            raise _cannot(f"{archive.name}/{name}", "missing", f"SQLite's amalgamation; {_OTHERS}")
    version = re.search(r"^Version: (\S+)$", description.read_text(errors="replace"), re.M)
    return f"{PACKAGE} {version[1] if version else '?'}"


def _codename() -> str:
    try:
        release = Path("/etc/os-release").read_text()
    except OSError:
        return ""
    match = re.search(r'^VERSION_CODENAME="?([\w-]+)', release, re.M)
    return match[1] if match else ""


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_APT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise _cannot(command[0], type(e).__name__, f"an archive within reach; {_OTHERS}") from e
    if done.returncode:
        errors = [x for x in done.stderr.splitlines() if x.startswith("E:")] or ["E: failed"]
        raise _cannot(command[0], errors[-1][2:].strip(), f"an archive within reach; {_OTHERS}")


def _cannot(what: str, value: str, allowed: str) -> InputError:
    return InputError("capture sqlite", "fetching its source", what, Bare(value), allowed)
