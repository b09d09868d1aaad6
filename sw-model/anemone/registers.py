# SPDX-License-Identifier: Apache-2.0
# Generated from hw/regs/anemone.rdl by `make regs`; change that, not this.
"""Anemone memory expander: offsets of its registers, their fields and codes."""

from __future__ import annotations

from enum import IntEnum

from anemone.fields import Array, Field, Register


class CounterWidth(IntEnum):
    BITS8 = 0  # eight counters a state word
    BITS16 = 1  # four
    BITS32 = 2  # two
    BITS64 = 3  # one


class OperandSource(IntEnum):
    IMMEDIATE = 0  # rule_operand
    LINE = 1  # the address of the request's 64 B line
    IS_WRITE = 2  # 1 for a write, 0 for a read


class UpdateOp(IntEnum):
    ADD = 0  # counter + operand
    SUB = 1  # counter - operand
    SHR = 2  # counter >> (operand mod 64)
    SHL = 3  # counter << (operand mod 64)
    XOR = 4  # counter ^ operand
    OR = 5  # counter | operand
    MAX = 6  # the larger one, unsigned
    ADDSAT = 7  # counter + operand, all ones on overflow


class Predicate(IntEnum):
    NONE = 0  # never
    EQUAL = 1  # counter = operand
    GREATER_EQUAL = 2  # counter >= operand, unsigned, as all below
    GREATER = 3  # counter > operand
    LESS = 4  # counter < operand
    LESS_EQUAL = 5  # counter <= operand


class ReadEffect(IntEnum):
    NONE = 0  # the counters stay
    RESET = 1  # the counters become the operand
    OP = 2  # the counters are updated by effect_op


# Tells that this is an Anemone.
ID = Register(0x000, magic=Field(0, 64))
ID_MAGIC = 0x414E454D4F4E4531
# Version of this register map.
VERSION = Register(0x008, minor=Field(0, 16), major=Field(16, 16))
VERSION_MINOR = 0x0
VERSION_MAJOR = 0x1
# Sizes of this configuration.
CAPABILITY = Register(
    0x010,
    pipelines=Field(0, 8),
    channels=Field(8, 8),
    states_log2=Field(16, 8),
    table_log2=Field(24, 8),
    address_bits=Field(32, 8),
    counter_index_bits=Field(40, 8),
)
# What is built in, a bit a code.
FEATURES = Register(
    0x018,
    ops=Field(0, 16),
    widths=Field(16, 4),
    predicates=Field(24, 8),
    effects=Field(32, 4),
    operand_sources=Field(40, 4),
    flat_memory=Field(63, 1),
)
# Size of the telemetry region.
WINDOW = Register(0x020, bytes=Field(0, 64))
# Window in which a read applies the rule's read effect.
EFFECT_WINDOW = Register(0x040, enable=Field(0, 1), base=Field(12, 40))
# Window in which a read leaves the counters as they are.
SNAPSHOT_WINDOW = Register(0x048, enable=Field(0, 1), base=Field(12, 40))
# What went wrong since it was last cleared; write ones to clear.
ERROR_STATUS = Register(
    0x080,
    parity=Field(0, 1),
    dropped_write=Field(1, 1),
    refused_read=Field(2, 1),
    memory_read=Field(3, 1),
    memory_write=Field(4, 1),
)
# Which bits of error_status raise interrupt 0.
ERROR_ENABLE = Register(
    0x088,
    parity=Field(0, 1),
    dropped_write=Field(1, 1),
    refused_read=Field(2, 1),
    memory_read=Field(3, 1),
    memory_write=Field(4, 1),
)
# Writes into the telemetry region that were dropped.
DROPPED_WRITES = Register(0x090, value=Field(0, 64))
# Telemetry reads that were answered with an error.
REFUSED_READS = Register(0x098, value=Field(0, 64))
# Vectors whose cause stands.
INTERRUPT_PENDING = Register(0x0C0, errors=Field(0, 1), pipelines=Field(1, 32))
# Vectors that send messages.
INTERRUPT_ENABLE = Register(0x0C8, errors=Field(0, 1), pipelines=Field(1, 32))
# Write ones: the vector may send again.
INTERRUPT_ACKNOWLEDGE = Register(0x0D0, errors=Field(0, 1), pipelines=Field(1, 32))
# What the rule does.
RULE_CONTROL = Register(
    0x100,
    enable=Field(0, 1),
    reads=Field(1, 1),
    writes=Field(2, 1),
    counter_width=Field(8, 2),
    operand_source=Field(16, 2),
    op=Field(24, 4),
    notify_op=Field(32, 3),
    effect_kind=Field(40, 2),
    effect_op=Field(48, 4),
)
# First byte address that matches.
RULE_START = Register(0x108, address=Field(0, 53))
# First byte address past those that match.
RULE_END = Register(0x110, address=Field(0, 53))
# key = (address & rule_primary_mask) >> rule_shifts.primary
RULE_PRIMARY_MASK = Register(0x118, value=Field(0, 64))
# index = base + ((address & rule_sub_mask) >> rule_shifts.sub)
RULE_SUB_MASK = Register(0x120, value=Field(0, 64))
# Shifts of key and offset.
RULE_SHIFTS = Register(0x128, primary=Field(0, 6), sub=Field(8, 6))
# Operand of the update; also a shift's amount.
RULE_OPERAND = Register(0x130, value=Field(0, 64))
# Operand of the predicate.
RULE_NOTIFY_OPERAND = Register(0x138, value=Field(0, 64))
# Operand of the read effect, or the value of a reset.
RULE_EFFECT_OPERAND = Register(0x140, value=Field(0, 64))
# Gives the rule in the registers above to a pipeline. The write is answered when the rule applies.
RULE_COMMIT = Register(0x148, pipeline=Field(0, 6))

# Of 32, capability says how many are built.
PIPELINE = Array(0x1000, 0x100, 32)
# Events that updated a counter.
PIPELINE_MATCHED = Register(0x000, value=Field(0, 64))
# Events whose key has no table entry.
PIPELINE_UNMAPPED = Register(0x008, value=Field(0, 64))
# Events whose index is past the last counter.
PIPELINE_OUT_OF_RANGE = Register(0x010, value=Field(0, 64))
# Updates on which the predicate held.
PIPELINE_NOTIFICATIONS = Register(0x018, value=Field(0, 64))
# Telemetry lines returned with bad parity.
PIPELINE_PARITY_ERRORS = Register(0x020, value=Field(0, 64))
# The first counter on which the predicate held since the last acknowledge.
PIPELINE_NOTIFICATION = Register(0x028, valid=Field(0, 1), channel=Field(8, 2), index=Field(32, 24))
# Commands to the pipeline.
PIPELINE_CONTROL = Register(0x030, clear=Field(0, 1))
# What the pipeline is doing.
PIPELINE_STATUS = Register(0x038, clearing=Field(0, 1))

# Entry pipeline << table_log2 | key. Each write changes one entry, between two events.
TABLE = Array(0x200000, 8, 262144)
#
TABLE_ENTRY = Register(0x000, base=Field(0, 24), mapped=Field(63, 1))
