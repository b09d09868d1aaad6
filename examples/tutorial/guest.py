# SPDX-License-Identifier: Apache-2.0
"""walk.c in a guest, on the expander's memory, counted by guest.toml."""

from pathlib import Path

from anemone.cosim import Guest, build_anemonectl, build_module, build_program, cxl, find_tools

tools = find_tools()
with cxl.server() as server:
    memory = cxl.CxlMemory(tools, server)
    with Guest(
        server,
        modules=[build_module(tools)],
        programs=[build_program(Path("walk.c")), build_anemonectl()],
        files={**memory.files, "/guest.toml": Path("guest.toml").read_text()},
        answers={"settled": lambda _: server.command("settle") and None},
        options=memory.options,
        kernel=memory.kernel,
    ) as guest:
        guest.run(memory.online)
        guest.run("insmod /mod/anemone.ko merged=1; mkdir -p /run")
        guest.run("echo madvise >/sys/kernel/mm/transparent_hugepage/enabled")
        print(
            guest.run("""
            anemonectl add --host-addresses -f /guest.toml
            walk 1 "ask settled; anemonectl read hot >/dev/null"
            ask settled
            anemonectl read hot
        """)
        )
