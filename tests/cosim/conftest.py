# SPDX-License-Identifier: Apache-2.0
"""What the tests of co-simulation share. Without QEMU or a kernel they are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from anemone.cosim import CosimError, Server, Tools, find_tools


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
