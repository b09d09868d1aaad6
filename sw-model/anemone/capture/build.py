# SPDX-License-Identifier: Apache-2.0
"""Builds the captured programs: instrumented, and linked with our runtime instead of libtsan.

Each is a static executable at a fixed address, and the runtime places heap and stack, so that a
program's addresses are the same in every run. Programs are rebuilt under build/capture only if
their sources or the compiler changed.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from anemone.capture.debian import fetch_sqlite
from anemone.io.build_cache import built
from anemone.io.errors import Bare, InputError

ROOT = Path(__file__).resolve().parents[3]
RUNTIME = ROOT / "sim" / "capture"
WORKLOADS = ROOT / "sim" / "workloads"
BUILT = ROOT / "build" / "capture"

FILTER = ("config", "pages", "cache", "prefetch", "core", "filter")
ENTRY = ("runtime", "allocator", "tsan_entry", "libc_calls")
PLUGIN = ("plugin", "thread", "machine", "output", "instruction")  # in sim/capture/qemu
LOADS_PLUGIN = ("loads_plugin", "loads", "output", "instruction")
CORE_MODEL = ("config", "core", "hierarchy", "memory", "instructions", "past")  # in sim/core

# Some compilers enable these by default. Checked copies (__memcpy_chk) would bypass redirect.syms,
# and a stack protector reads thread-local storage, which does not exist when libc first calls the
# runtime.
_PLAIN = ["-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fcf-protection=none"]
_COMMON = ["-O2", "-g0", "-fno-pie", "-fno-builtin", *_PLAIN]
_CXX = ["-std=c++17", "-Wall", "-Wextra"]
_RUNTIME = [*_CXX, *_COMMON]
# With -fno-builtin library calls stay calls, so that redirect.syms can intercept them.
_SEEN = [*_COMMON, "-fsanitize=thread"]
# Single-threaded and without extensions.
_SQLITE = ["-w", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"]


def compiler() -> list[str]:
    """The C++ compiler's command: CXX, or g++. Raises InputError if there is none."""
    command = shlex.split(os.environ.get("CXX", "")) or ["g++"]
    for tool in (command[0], "objcopy"):
        if shutil.which(tool) is None:
            allowed = "g++ 11 or newer, with binutils (apt-get install g++)"
            raise InputError("capture", "building", tool, Bare("missing"), allowed)
    return command


@functools.cache
def compiler_version() -> str:
    out = subprocess.run([*compiler(), "--version"], capture_output=True, text=True, check=False)
    return (out.stdout.splitlines() or ["?"])[0]


def build_program(name: str) -> Path:
    """The captured program `name` (a source in sim/workloads), built if necessary.

    SQLite's source is fetched first. Raises InputError (one line) if that or the build fails.
    """
    extra: list[Path] = []
    if name == "sqlite":
        fetch_sqlite(BUILT / "sqlite-source")
        extra = [BUILT / "sqlite-source" / "sqlite3.c"]
    return build(WORKLOADS / f"{name}.cpp", extra)


def build(source: Path, extra: list[Path]) -> Path:
    """An executable from one C++ source and further C sources, all instrumented."""
    include = [f"-I{folder}" for folder in dict.fromkeys([RUNTIME, *(e.parent for e in extra)])]
    seen = [(source, [*_CXX, *include, *_SEEN])]
    seen += [(file, ["-x", "c", *_SQLITE, *_SEEN]) for file in extra]
    runtime = [(RUNTIME / f"{name}.cpp", _RUNTIME) for name in (*FILTER, *ENTRY)]
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda job: _object(*job), [*reversed(seen), *runtime]))
    link = [*compiler(), "-static", "-no-pie", *map(str, objects)]
    return built(
        BUILT / "programs" / source.stem,
        [*objects, *link],
        lambda program: _run([*link, "-o", str(program)], source.stem),
    )


def build_library() -> Path:
    """The filter as a shared library, for the tests."""
    sources = [RUNTIME / f"{name}.cpp" for name in (*FILTER, "capi")]
    headers = [path for path in _contents(sources) if path not in sources]
    return compile_library(BUILT / "programs" / "libfilter.so", sources, headers, [*_CXX, "-O2"])


def compile_library(
    library: Path, sources: list[Path], headers: list[Path], flags: list[str]
) -> Path:
    """A shared library from C++ sources, built if necessary. Raises InputError (one line)."""
    command = [*compiler(), *flags, "-fPIC", "-shared", *map(str, sources)]
    return built(
        library,
        [*sources, *headers, *command, compiler_version()],
        lambda made: _run([*command, "-o", str(made)], library.stem),
    )


def compile_program(program: Path, source: Path, *headers: Path) -> Path:
    """A C program from one file, built if necessary. headers: our headers that it includes.

    Raises InputError (one line).
    """
    if shutil.which("gcc") is None:
        raise InputError(
            source.stem, "building", "gcc", Bare("missing"), "gcc (apt-get install gcc)"
        )
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", str(source)]
    return built(
        program,
        [source, *headers, *command],
        lambda made: _run([*command, "-o", str(made)], source.stem),
    )


def build_plugin(zydis: Path) -> Path:
    """The plugin for QEMU. zydis: folder of Zydis' headers and library (mk/capture-tools.sh)."""
    sources = [RUNTIME / "qemu" / f"{name}.cpp" for name in PLUGIN]
    sources += [RUNTIME / f"{name}.cpp" for name in FILTER if name != "filter"]
    return _plugin("plugin", zydis, _contents(sources), sources, [*_CXX, "-O2"])


def build_loads_plugin(zydis: Path) -> Path:
    """The plugin with the core model. zydis: as for build_plugin."""
    core = ROOT / "sim" / "core"
    sources = [RUNTIME / "qemu" / f"{name}.cpp" for name in LOADS_PLUGIN]
    sources += [core / f"{name}.cpp" for name in CORE_MODEL]
    contents = [*_contents(sources), *sorted(core.glob("*.hpp"))]
    flags = ["-std=c++20", *_CXX[1:], "-O3", "-march=x86-64-v2"]
    return _plugin("loads_plugin", zydis, contents, sources, flags)


def _plugin(
    name: str, zydis: Path, contents: list[Path], sources: list[Path], flags: list[str]
) -> Path:
    flags = [*flags, "-flto", "-fPIC", "-fvisibility=hidden"]
    flags += [f"-I{RUNTIME}", f"-I{zydis}/usr/include"]
    # QEMU's libraries are from another Debian release, so only the C library is linked dynamically.
    link = ["-shared", "-static-libstdc++", "-static-libgcc"]
    link += [f"-L{zydis}/usr/lib/x86_64-linux-gnu", "-lZydis", "-lZycore"]
    command = [*compiler(), *flags, *map(str, sources), *link]
    return built(
        BUILT / "programs" / f"{name}.so",
        [*contents, *command, compiler_version()],
        lambda plugin: _run([*command, "-o", str(plugin)], "the plugin for QEMU"),
    )


def _object(source: Path, flags: list[str]) -> Path:
    """The object of one source. In an instrumented one, library calls are redirected to the
    runtime.
    """
    command = [*compiler(), *flags, "-c", str(source)]
    renames = RUNTIME / "redirect.syms"

    def compile_to(made: Path) -> None:
        _run([*command, "-o", str(made)], source.name)
        if "-fsanitize=thread" in flags:
            _run(["objcopy", f"--redefine-syms={renames}", str(made)], source.name)

    inputs = [*command, compiler_version(), *_contents([source, renames])]
    return built(BUILT / "objects" / f"{source.stem}.o", inputs, compile_to)


def _contents(sources: list[Path]) -> list[Path]:
    """The sources, and every header that one of our sources may include."""
    ours = any(ROOT in s.parents and BUILT not in s.parents for s in sources)
    headers = [*RUNTIME.rglob("*.h*"), *WORKLOADS.glob("*.h*")] if ours else []
    return sorted([*sources, *headers])


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.splitlines() or ["failed"]
        error = next((x for x in lines if "error" in x), lines[0])
        raise InputError("capture", "building", what, Bare(error), "a clean build")
