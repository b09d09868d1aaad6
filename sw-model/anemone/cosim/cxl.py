# SPDX-License-Identifier: Apache-2.0
"""CXL memory for a guest, as a NUMA node, and the accesses to it that QEMU sees.

QEMU's CXL device holds the bytes. A plugin (sim/plugin) models a cache, and its misses go through a
ring to the server, which sends them to the Verilated expander.
"""

from __future__ import annotations

import lzma
import shlex
from collections.abc import Mapping

import numpy as np

from anemone.cosim.initramfs import Content
from anemone.cosim.programs import build_plugin
from anemone.cosim.server import Server
from anemone.cosim.tools import CosimError, Tools

# QEMU's address of the first CXL window if the guest has less than 3 GiB; `online` checks it.
BASE = 0x1_1000_0000
BYTES = 256 << 20
NODE = 1

_MODULES = ("cxl_acpi", "cxl_pci", "cxl_mem", "dax_cxl", "kmem")
# Words of struct anemone_ring (sim/vfio/ring.h).
_SEEN, _READS, _WRITES, _PAGES, _N_PAGES = 16, 17, 18, 24, 8192


class CxlMemory:
    """The CXL node of a guest on a running server that `server()` made.

    files, options, kernel: arguments for Guest. online: the script that creates the node in the
    guest.
    """

    def __init__(self, tools: Tools, server: Server) -> None:
        if server.ring is None:
            raise CosimError("the server has no ring: make it with cxl.server()")
        where = f"ring={server.ring},base={BASE:#x},bytes={BYTES:#x}"
        words = (
            "-machine cxl=on,cxl-fmw.0.targets.0=cxl,cxl-fmw.0.size=4G"
            # Under a hypervisor Linux refuses CXL regions, because it cannot invalidate caches.
            " -cpu max,-hypervisor"
            f" -object memory-backend-ram,id=far,share=on,size={BYTES >> 20}M"
            " -device pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl"
            " -device cxl-rp,port=0,bus=cxl,id=root,chassis=0,slot=2"
            " -device cxl-type3,bus=root,volatile-memdev=far"
            f" -plugin {build_plugin('accesses')},{where}"
        )
        self._ring = server.ring
        self._files = {f"/mod/{name}.ko": module(tools, name) for name in _MODULES}
        self._options = shlex.split(words)

    @property
    def files(self) -> Mapping[str, Content]:
        return self._files

    @property
    def options(self) -> list[str]:
        return self._options

    # Only pages of programs go to the node, none of the kernel.
    kernel = "memhp_default_state=online_movable"

    @property
    def online(self) -> str:
        """The script that makes one region of the window, which becomes a NUMA node."""
        return f"""
            set -e
            for name in {" ".join(_MODULES)}; do insmod /mod/$name.ko; done
            grep -q '^ *{BASE:x}-.*CXL Window 0' /proc/iomem
            cd /sys/bus/cxl/devices
            region=$(cat decoder0.0/create_ram_region)
            echo $region >decoder0.0/create_ram_region
            decoder=$(dirname $(ls -d decoder[1-9]*.0/dpa_size | head -n 1))
            echo 256 >$region/interleave_granularity
            echo 1 >$region/interleave_ways
            echo ram >$decoder/mode
            echo {BYTES} >$decoder/dpa_size
            echo {BYTES} >$region/size
            echo $decoder >$region/target0
            echo 1 >$region/commit
            echo $region >/sys/bus/cxl/drivers/cxl_region/bind
            cd /sys/devices/system/node/node{NODE}
            grep -q 'MemTotal: *{BYTES >> 10} kB' meminfo
        """

    def counts(self) -> dict[str, int]:
        """The plugin's counts: accesses before its cache, reads and writes behind it."""
        words = np.fromfile(self._ring, "<u8", _PAGES).tolist()
        return {
            "seen": int(words[_SEEN]),
            "reads": int(words[_READS]),
            "writes": int(words[_WRITES]),
        }

    def pages(self) -> np.ndarray:
        """Accesses behind the cache, by huge page of the memory."""
        words = np.fromfile(self._ring, "<u8", _PAGES + _N_PAGES)
        return words[_PAGES : _PAGES + (BYTES >> 21)].astype(np.int64)


def server() -> Server:
    """A server whose device is at the node's addresses and takes its accesses."""
    return Server(host_base=BASE, host_size=BYTES, ring=True)


def module(tools: Tools, name: str) -> bytes:
    """A module of the guest's kernel, unpacked."""
    found = sorted(tools.modules.rglob(f"{name}.ko*"))
    if not found:
        raise CosimError(f"no module {name} in {tools.modules}")
    content = found[0].read_bytes()
    return lzma.decompress(content) if found[0].suffix == ".xz" else content
