# SPDX-License-Identifier: Apache-2.0
"""A probe that fails leaves nothing behind, and the next one works. driver/kunit/probe_test.c lets
each step fail; here each allocation fails, in these steps and below them."""

from __future__ import annotations

import re

import pytest

from anemone.cosim import Server, Tools
from tests.cosim.conftest import BootGuest
from tests.cosim.test_lifecycle import steer
from tests.cosim.test_watched import no_leak

DEBUGFS = "mount -t debugfs debugfs /sys/kernel/debug"
ANY_MAY_FAIL = """
cd /sys/kernel/debug
for one in failslab fail_page_alloc; do echo N >$one/ignore-gfp-wait; done
echo 0 >fail_page_alloc/min-order
"""
# The kernel's message about an allocation that it made fail has the calls that led to it.
FAULT = re.compile(r"FAULT_INJECTION: forcing a failure.*?</TASK>", re.DOTALL)
# The steps of the probe, if the kernel can make allocations fail.
STEPS = (
    "pcim_enable_device", "new_controller", "anemone_cxl_find", "anemone_discover",
    "__devm_request_region", "devm_ioremap", "devm_ioremap_wc", "pci_alloc_irq_vectors",
    "devm_request_threaded_irq", "misc_register", "anemone_debugfs_add", "device_add_groups",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["ones", "never-done"])
def test_a_broken_device(kind: str, server: Server, boot: BootGuest) -> None:
    with boot("binds") as guest:
        steer(guest, server)
        guest.run(DEBUGFS)
        guest.run(f"ask fault {kind} && binds refused && ask fault none && binds works")
        guest.run("rmmod anemone")
        no_leak(guest)
        guest.kernel_log()


def test_each_allocation_fails(tools: Tools, server: Server, boot: BootGuest) -> None:
    """In a kernel that can make them fail; another kernel only repeats the steps."""
    with boot("binds", kernel="log_buf_len=8M") as guest:
        steer(guest, server)
        guest.run(f"{DEBUGFS}; binds works")
        if tools.checked:
            guest.run(ANY_MAY_FAIL)
            output = guest.run("binds allocations", timeout=1800)
            assert "allocations failed" in output
        guest.run("rmmod anemone")
        no_leak(guest)
        log = guest.kernel_log(but=FAULT)
    if tools.checked:
        ways = FAULT.findall(log)
        assert not [step for step in STEPS if not any(f"{step}+" in way for way in ways)]
