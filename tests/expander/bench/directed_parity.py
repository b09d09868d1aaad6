# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of parity errors: bits are flipped in the state memories of a running expander."""

from __future__ import annotations

from dataclasses import replace

from cocotb.types import LogicArray

from tests.engine.bench.directed_driver import memories
from tests.expander.bench import control as reg
from tests.expander.bench.directed_region import COUNT, COUNTED, counted
from tests.expander.bench.environment import find
from tests.expander.bench.host import Host, hosted

PARITY = 64  # the bits above the data, of the lower and the upper half
BITS = (0, 17, 63, PARITY, PARITY + 1)
ERROR = 1 << reg.ERRORS.index("parity")


def data(bit: int) -> int:
    """The change of the data by a flipped bit."""
    return 0 if bit >= PARITY else 1 << bit


async def flip(host: Host, bit: int, word: int = 0, line: int = 0, channel: int = 0) -> None:
    """Flip a bit of pipeline 0's states."""
    memory = memories(find(host.dut, "io_table_valid"), 0, channel)[word]
    value = int(str(memory[line].value), 2) ^ 1 << bit
    memory[line].value = LogicArray.from_unsigned(value, PARITY + 2)
    await host.get(reg.ID)


async def poisoned(host: Host, effect: bool = False, line: int = 0) -> tuple[list[int], bool]:
    """A line of channel 0 and its poison."""
    addr = host.windows.address(0, line, 0, effect)
    answer = await host.memory[0].read(addr, 64)
    words = [int.from_bytes(answer.data[i : i + 8], "little") for i in range(0, 64, 8)]
    assert answer.resp == 0
    return words, any(answer.user)


@hosted
async def a_flipped_bit_comes_with_poison(host: Host) -> None:
    """Each read of this line, and of no other, is poisoned and counted, and sets an error bit."""
    await counted(host)
    await host.touch(0x3000)
    for count, bit in enumerate(BITS):
        before = (await poisoned(host))[0]
        await flip(host, bit)
        seen, poison = await poisoned(host)
        assert poison and seen == [before[0] ^ data(bit), *before[1:]]
        assert not (await poisoned(host, line=1))[1]
        assert await host.get(reg.pipeline(0, reg.PARITY_ERRORS)) == count + 1
        assert await host.get(reg.pipeline(1, reg.PARITY_ERRORS)) == 0
        assert await host.get(reg.ERROR_STATUS) == ERROR
        await host.set(reg.ERROR_STATUS, ERROR)
        assert await host.get(reg.ERROR_STATUS) == 0
        await flip(host, bit)


@hosted
async def a_reset_clears_parity(host: Host) -> None:
    """A read with reset as its effect returns the poison; the next one has none."""
    await counted(host)
    await flip(host, 40)
    assert await poisoned(host, effect=True) == ([COUNTED[0] ^ 1 << 40, *COUNTED[1:]], True)
    assert await poisoned(host, effect=True) == ([0] * 8, False)


@hosted
async def an_update_op_keeps_the_poison(host: Host) -> None:
    """A read whose effect is an update op keeps the parity error."""
    await host.rule(0, replace(COUNT, width=64, effect_op="add", effect_operand=2))
    await flip(host, 3, word=5)
    assert await poisoned(host, effect=True) == ([8 * (k == 5) for k in range(8)], True)
    assert await poisoned(host) == ([2 + 8 * (k == 5) for k in range(8)], True)


@hosted
async def a_clear_clears_parity(host: Host) -> None:
    """And forgets the count."""
    await flip(host, PARITY)
    assert (await poisoned(host))[1]
    await host.set(reg.pipeline(0, reg.CLEAR), 1)
    while await host.get(reg.pipeline(0, reg.STATUS)):
        pass
    assert await poisoned(host) == ([0] * 8, False)
    assert await host.get(reg.pipeline(0, reg.PARITY_ERRORS)) == 0
