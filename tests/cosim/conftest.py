# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of co-simulation, which are skipped without QEMU or a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from anemone.cosim import (
    CosimError,
    Guest,
    Server,
    Tools,
    build_module,
    build_program,
    find_tools,
)

PROGRAMS = Path(__file__).parent / "guest"
DEVICE = "/sys/bus/pci/devices/0000:01:00.0"
HUGE = 1 << 21
# Module parameters that declare the guest's memory, except its first huge page, to be the device's:
# no host has a device's memory at 0.
GUEST_MEMORY = f"host_base={HUGE} host_size={1 << 33}"

BootGuest = Callable[..., AbstractContextManager[Guest]]


@pytest.fixture(scope="session")
def tools() -> Tools:
    try:
        return find_tools()
    except CosimError as e:
        pytest.skip(str(e))


@pytest.fixture
def server(tools: Tools) -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def boot(tools: Tools, server: Server) -> BootGuest:
    """Boots a guest with the driver loaded, with these parameters, and these programs of guest/."""

    @contextmanager
    def booted(
        *programs: str,
        options: Sequence[str] = (),
        cpus: int = 1,
        kernel: str = "",
        parameters: str = "",
    ) -> Iterator[Guest]:
        built = [build_program(PROGRAMS / f"{name}.c") for name in programs]
        modules = [build_module(tools)]
        with Guest(
            server, modules=modules, programs=built, options=options, cpus=cpus, kernel=kernel
        ) as guest:
            guest.run(f"insmod /mod/anemone.ko merged=1 {parameters}")
            yield guest

    return booted
