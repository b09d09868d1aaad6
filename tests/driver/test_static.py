# SPDX-License-Identifier: Apache-2.0
"""Compilers and checkers accept the driver, and its manual pages are complete."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.driver.conftest import ROOT

DRIVER = ROOT / "driver"
UAPI = DRIVER / "include/uapi/linux/anemone.h"
PAGES = [DRIVER / "man/anemone.4", DRIVER / "tools/man/anemonectl.8"]
BUILT = shutil.ignore_patterns("*.o", "*.ko", "*.cmd", "*.mod*", "Module.symvers", "build")


def sh(*command: object, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=580,
                          check=False, **more)  # fmt: skip


# --- The module ---------------------------------------------------------------------------------


def headers_of(kernel: str) -> Path:
    """The build folder of a kernel's headers; skips the test where it is not installed."""
    if kernel == "6.1":
        found = sh(ROOT / "mk/oldest-kernel.sh", "headers")
        if found.returncode == 2:
            pytest.skip(f"no headers of Linux 6.1: {found.stderr.strip().splitlines()[-1]}")
        assert found.returncode == 0, found.stderr
        return Path(dict(line.split("=", 1) for line in found.stdout.splitlines())["build"])
    installed = sorted(Path("/lib/modules").glob(f"{kernel}*/build/Makefile"))
    if not installed:
        pytest.skip("no headers of Linux 6.12: linux-headers-6.12-amd64 is what setup asks apt for")
    return installed[-1].parent


@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_the_module_builds_without_a_warning(kernel: str, tmp_path: Path) -> None:
    """The module and the paper's listings build as with DKMS, with stricter warnings and sparse."""
    headers = headers_of(kernel)
    tree = tmp_path / "driver"  # a copy, because a module's build writes into its source folder
    shutil.copytree(DRIVER, tree, ignore=BUILT)
    more = "W=1 C=2 CHECK=sparse CONFIG_ANEMONE_LISTINGS=m"
    # dkms.conf is a shell file; its commands run in the source folder, with this variable.
    script = (
        f'. ./dkms.conf && test -n "$PACKAGE_NAME$PACKAGE_VERSION" && eval "${{MAKE[0]}} {more}"'
    )
    environment = os.environ | {"kernel_source_dir": str(headers)}
    built = sh("bash", "-euc", script, cwd=tree, env=environment)
    output = built.stdout + built.stderr
    assert built.returncode == 0, output[-4000:]
    # A message of the kernel's scripts, because the headers have no vmlinux with its types.
    output = "\n".join(
        line for line in output.splitlines() if "Skipping BTF generation" not in line
    )
    assert not re.search(r"warning|error:", output, re.I), output[-4000:]
    checked = re.findall(r"^  CHECK +(\S+)", output, re.M)
    assert {Path(name).name for name in checked} >= {p.name for p in DRIVER.glob("*.c")}
    named = re.search(r'^BUILT_MODULE_NAME\[0\]="(\w+)"$', (tree / "dkms.conf").read_text(), re.M)
    assert named and (tree / f"{named[1]}.ko").exists()


# --- Style --------------------------------------------------------------------------------------

# Rules of checkpatch for the kernel's own code, which this is not.
UAPI_IGNORES = {
    "BIT_MACRO": "the kernel's macro, which user space does not have",
}
MODULE_IGNORES = {
    "LINUX_VERSION_CODE": "out of the tree it is built for kernels of several versions",
    "CONSTANT_COMPARISON": "it takes LINUX_VERSION_CODE for a constant that is on the wrong side",
    "MACRO_ARG_REUSE": "of names that are pasted",
}


@pytest.fixture(scope="module")
def checkpatch() -> Path:
    """checkpatch.pl from the kernel's source in the cache."""
    found = sh(ROOT / "mk/kernel-source.sh")
    if found.returncode == 2:
        pytest.skip(f"no kernel source: {found.stderr.strip().splitlines()[-1]}")
    assert found.returncode == 0, found.stderr
    return Path(found.stdout.strip()) / "scripts/checkpatch.pl"


def sources(of: str) -> list[Path]:
    """The C sources of the module or of the user's header, which have different style rules."""
    listed = sh("git", "ls-files", "-co", "--exclude-standard", "driver", cwd=ROOT).stdout
    files = [ROOT / name for name in listed.splitlines() if name.endswith((".c", ".h"))]
    kinds: dict[str, list[Path]] = {"module": [], "uapi": []}
    for file in files:
        if "SPDX" not in file.read_text() or "Generated from" in file.read_text():
            continue
        kinds["uapi" if file == UAPI else "module"].append(file)
    assert all(kinds.values())
    return kinds[of]


@pytest.mark.parametrize(("of", "ignored"), [("module", MODULE_IGNORES), ("uapi", UAPI_IGNORES)])
def test_checkpatch(checkpatch: Path, of: str, ignored: dict[str, str]) -> None:
    command = ["perl", checkpatch, "--no-tree", "--strict", "--terse", "--show-types",
               "--max-line-length=100"]  # fmt: skip
    ran = sh(*command, "--ignore=" + ",".join(ignored), "-f", *sources(of))
    found = [line for line in ran.stdout.splitlines() if re.search("ERROR:|WARNING:|CHECK:", line)]
    assert not found, "\n".join(found)
    assert ran.returncode == 0, ran.stdout + ran.stderr


# --- The user's header --------------------------------------------------------------------------


def test_uapi_includes_only_what_user_space_has() -> None:
    includes = re.findall(r"#include\s+(\S+)", UAPI.read_text())
    assert includes == ["<linux/ioctl.h>", "<linux/types.h>"]


def structures() -> dict[str, list[str]]:
    """The members of the header's structures by name, without flexible arrays."""
    found = {}
    text = re.sub(r"/\*.*?\*/", "", UAPI.read_text(), flags=re.S)
    # Members of an anonymous union are members of the structure.
    text = re.sub(r"union \{(.*?)\};", r"\1", text, flags=re.S)
    for name, body in re.findall(r"struct (anemone_\w+) \{(.*?)\};", text, re.S):
        members = []
        for declaration in body.split(";"):
            listed = re.sub(r"^\s*(struct \w+|\w+)\s", "", declaration)
            members += [re.sub(r"\[\w+\]", "", m).strip() for m in listed.split(",") if m.strip()]
        found[name] = [m for m in members if not m.endswith("[]")]
    return found


def layout(tmp_path: Path, *flags: str) -> list[str]:
    """Sizes and offsets + 1, read as symbol sizes of an object file, which needs no C library."""
    lines = ["#include <stddef.h>", "#include <linux/anemone.h>"]
    for name, members in structures().items():
        lines.append(f"char {name}[sizeof(struct {name})];")
        lines += [f"char {name}__{m}[1 + offsetof(struct {name}, {m})];" for m in members]
    source, made = tmp_path / "layout.c", tmp_path / "layout.o"
    source.write_text("\n".join(lines) + "\n")
    # Debian's compiler has no 32-bit folder for asm/, but the 64-bit one is equal.
    asm = "/usr/include/" + sh("gcc", "-print-multiarch").stdout.strip()
    ran = sh("gcc", *flags, "-Wall", "-Wextra", "-Wpadded", "-Werror", "-c", "-fno-common",
             "-I", DRIVER / "include/uapi", "-idirafter", asm, source, "-o", made)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    symbols = [line.split() for line in sh("nm", "-S", made).stdout.splitlines()]
    found = sorted(f"{name} {int(size, 16)}" for _, size, _, name in symbols)
    assert len(found) == len(lines) - 2
    return found


def test_uapi_is_the_same_for_32_and_64_bits(tmp_path: Path) -> None:
    """-Wpadded also finds no padding, which a kernel could not check to be zero."""
    assert len(structures()) >= 15
    assert layout(tmp_path, "-m64", "-std=c11") == layout(tmp_path, "-m32", "-std=c11")
    assert layout(tmp_path, "-m64", "-std=gnu89")


def test_uapi_is_cplusplus(tmp_path: Path) -> None:
    source = tmp_path / "u.cc"
    source.write_text("#include <linux/anemone.h>\nunsigned call = ANEMONE_ADD;\n"
                      "int main() { return sizeof(anemone_add) == 0; }\n")  # fmt: skip
    made = sh("g++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", DRIVER / "include/uapi",
              source)  # fmt: skip
    assert made.returncode == 0, made.stderr


def test_uapi_has_released_call_numbers() -> None:
    """driver/kunit/uapi_test.c checks every call number of the header."""
    calls = set(re.findall(r"#define (ANEMONE_\w+) _IO", UAPI.read_text()))
    held = set(re.findall(r"EQ\(test, (\w+)", (DRIVER / "kunit/uapi_test.c").read_text()))
    assert calls <= held


# --- Pages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_pages_are_good_troff(page: Path) -> None:
    made = sh("groff", "-man", "-t", "-ww", "-Tutf8", page)
    assert made.returncode == 0 and made.stderr == "" and len(made.stdout) > 2000
    if shutil.which("man"):
        made = sh(
            "man", "--warnings", "-E", "UTF-8", "-l", page, env=os.environ | {"MANWIDTH": "80"}
        )
        assert made.stderr == ""


def test_the_header_is_installed(tmp_path: Path) -> None:
    """The installed header compiles with only the kernel's headers."""
    done = sh("make", "-C", DRIVER, "install-files", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    assert not done.returncode, done.stderr
    program = tmp_path / "program.c"
    program.write_text("#include <linux/anemone.h>\nint main(void) { return ANEMONE_IOC; }\n")
    include = tmp_path / "usr/include"
    done = sh("gcc", "-Wall", "-Werror", "-fsyntax-only", f"-I{include}", program)
    assert not done.returncode, done.stderr
    assert (include / "linux/anemone.h").read_text() == UAPI.read_text()
    assert (tmp_path / "usr/share/man/man4/anemone.4").exists()


def test_a_module_builds_with_the_installed_kernel_interface(tmp_path: Path) -> None:
    """The paper's listings build outside of the driver's tree, as a module of another subsystem."""
    headers = headers_of("6.12")
    done = sh("make", "-C", DRIVER, "install-files", f"DESTDIR={tmp_path}")
    assert not done.returncode, done.stderr
    installed = tmp_path / "usr/local/src/anemone/include"
    module = tmp_path / "module"
    module.mkdir()
    shutil.copy(DRIVER / "listings/anemone_listings.c", module)
    (module / "Kbuild").write_text(f"obj-m := anemone_listings.o\nccflags-y := -I{installed}\n")
    # Only a warning, because Module.symvers comes with an installed module.
    done = sh("make", "-C", headers, f"M={module}", "KBUILD_MODPOST_WARN=1", "modules")
    assert not done.returncode, done.stdout + done.stderr
    assert (module / "anemone_listings.ko").exists()


def test_install_is_the_module_and_what_programs_need(tmp_path: Path) -> None:
    """`make install` runs with a kernel folder and a depmod that only print their arguments."""
    kernel, root = tmp_path / "kernel", tmp_path / "root"
    driver = tmp_path / "driver"  # a copy, because a build writes Module.symvers into it
    shutil.copytree(DRIVER, driver, ignore=BUILT)
    kernel.mkdir()
    (kernel / "Makefile").write_text(
        "modules modules_install:\n"
        "\t@echo $@ of $(M) to=$(INSTALL_MOD_PATH)\n"
        "\t@echo symbols >$(M)/Module.symvers\n"
        "kernelrelease:\n\t@echo 6.99.0\n"
    )
    depmod = tmp_path / "bin/depmod"
    depmod.parent.mkdir()
    depmod.write_text('#!/bin/sh\necho depmod "$@"\n')
    depmod.chmod(0o755)
    environment = os.environ | {"PATH": f"{depmod.parent}:{os.environ['PATH']}"}
    for prefix, folder in ((), "usr/local"), (("PREFIX=/usr",), "usr"):
        where = root / folder
        done = sh("make", "-s", "-C", driver, "install", f"KDIR={kernel}", f"DESTDIR={root}",
                  *prefix, env=environment)  # fmt: skip
        assert not done.returncode, done.stderr
        assert (where / "include/linux/anemone.h").read_text() == UAPI.read_text()
        assert (where / "share/man/man4/anemone.4").read_text() == PAGES[0].read_text()
        source = where / "src/anemone"
        for header in ("include/linux/anemone.h", "include/uapi/linux/anemone.h"):
            assert (source / header).read_text() == (DRIVER / header).read_text()
        assert (source / "Module.symvers").read_text() == "symbols\n"
        # All files go below DESTDIR.
        commands = [line for line in done.stdout.splitlines() if not line.startswith("make")]
        assert commands == [
            f"modules of {driver} to=",
            f"modules_install of {driver} to={root}",
            f"depmod -a -b {root} 6.99.0",
        ]


def test_the_devices_page_has_every_call_and_attribute() -> None:
    page = PAGES[0].read_text()
    for call in re.findall(r"#define (ANEMONE_\w+) _IO", UAPI.read_text()):
        assert re.search(rf"^\.BR {call} ", page, re.M), call
    attributes = re.findall(r"&dev_attr_(\w+)\.attr", (DRIVER / "sysfs.c").read_text())
    attributes += re.findall(r"&flat##c##_(\w+)\.attribute", (DRIVER / "flat.c").read_text())
    missing = [name for name in attributes if not re.search(rf"^\.BR? .*\b{name}\b", page, re.M)]
    assert attributes and not missing


def test_the_tools_page_has_every_command_and_option() -> None:
    page = PAGES[1].read_text().replace("\\-", "-")
    main = (DRIVER / "tools/main.cpp").read_text()
    for command in re.findall(r"&command_(\w+)", main):
        assert re.search(rf'^\.BI? "?{command}\b', page, re.M), command
    options = (DRIVER / "tools/options.cpp").read_text()
    limits = {
        "pipelines",
        "states",
        "table",
        "device-gib",
        "flat",
        "hash",
        "all-ops",
    }  # the options of `check`, by its --help
    for option in set(re.findall(r'\{\{"([a-z-]+)"', options)) - limits:
        short = {"file": "-f", "output": "-o"}.get(option, f"--{option}")
        assert short in page, option
