# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the telemetry region where one channel has all lines, so bursts span many."""

from __future__ import annotations

from cocotbext.axi import AxiBurstType, AxiResp

from anemone.telemetry.rules import Rule
from tests.expander.bench import control as reg
from tests.expander.bench.host import Host, hosted

COUNT = Rule(
    name="lines", end=1 << 14, primary_mask=0, sub_mask=0x3C0, sub_shift=6, effect_op="reset"
)


@hosted
async def a_burst_reads_line_after_line(host: Host) -> None:
    """A burst reads lines of a pipeline and continues into the next one; a WRAP burst wraps
    around.
    """
    for p in range(2):
        await host.rule(p, COUNT)
        await host.map(p, (0, 0))
    for state in range(16):
        await host.touch(64 * state, 1 + state % 3)
    states = [1 + state % 3 for state in range(16)]
    addr = host.windows.address(0, 0, 0, False)
    answer = await host.memory[0].read(addr, 64 * 4)
    assert words(answer.data) == 2 * states and answer.resp == AxiResp.OKAY
    answer = await host.memory[0].read(addr + 64, 64 * 4, burst=AxiBurstType.WRAP)
    lines = words(answer.data)
    assert answer.resp == AxiResp.OKAY and sorted(lines) == sorted(2 * states)
    effect = host.windows.address(0, 0, 0, True)
    answer = await host.memory[0].read(effect, 64 * 3)
    assert words(answer.data) == states + states[:8]
    answer = await host.memory[0].read(effect, 64 * 4)
    assert words(answer.data) == [0] * 24 + states[8:]


@hosted
async def a_burst_past_the_end_is_refused_there(host: Host) -> None:
    """The beats up to the end return lines, the others are refused."""
    last = host.windows.address(host.size.pipelines - 1, host.size.lines - 1, 0, False)
    answer = await host.memory[0].read(last, 64 * 3)
    assert answer.resp == AxiResp.DECERR
    assert await host.get(reg.REFUSED_READS) == 2


def words(data: bytes) -> list[int]:
    """64-bit words."""
    return [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]
