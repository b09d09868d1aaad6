# SPDX-License-Identifier: Apache-2.0
# Generated from hw/regs/anemone.rdl by `make regs`; change that, not this.
"""Anemone memory expander: offsets of its registers, their fields and codes."""

from __future__ import annotations

from enum import IntEnum

from anemone.hardware.fields import Array, Field, Register


class FaultMemory(IntEnum):
    LINES = 0  # flat memory mode: lines of the sets in flight
    WRITES = 1  # flat memory mode: data of pending writes
    ANSWERS = 2  # flat memory mode: pending read responses
    LOOKUPS = 3  # flat memory mode: requests in the near lookup
    FETCHES = 4  # flat memory mode: queued reads of far memory
    EVENTS = 5  # flat memory mode: accesses not decided as hit or miss
    LEAVING_ANSWERS = 6  # flat memory mode: read responses in the output queue to the host
    LEAVING_LINES = 7  # flat memory mode: lines queued to near or far memory
    READ_ORDER = 8  # counts of reads issued and answered, per id
    WRITE_ORDER = 9  # counts of writes issued and answered, per id
    REGION_WRITES = 16  # writes into the telemetry region that wait for their data
    ACKNOWLEDGES = 17  # telemetry lines queued to be acknowledged
    TABLES = 18  # translation tables, with parity: an event whose entry has an error is unmapped
    WAITING_EVENTS = 19  # events that wait for a serial read-modify-write or an acknowledgement
    RESET_VALUES = 20  # the rules' reset values in all acknowledge units; reported for channel 0
    MEMORY_DATA = 21  # on a board: queued read data
    MEMORY_ANSWERS = 22  # on a board: queued write responses
    ORDERED_EVENTS = 23  # flat memory mode: events that wait for a telemetry read
    ORDERED_READS = 24  # flat memory mode: telemetry reads that wait for events
    TELEMETRY_LINES = 25  # telemetry lines in the reorder buffer
    LINE_ORDER = 26  # destinations of the engine's next lines
    READY_LINES = 27  # prefetched telemetry lines: three copies with a majority vote


class NearFilter(IntEnum):
    ANY = 0  # all
    HIT = 1  # near memory had the line, or the line is dedicated
    MISS = 2  # near memory did not have the line


class CounterWidth(IntEnum):
    BITS8 = 0  # eight counters per state word
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
    MIN = 8  # the smaller one, unsigned
    SUBSAT = 9  # counter - operand, 0 on underflow
    LAST = 10  # operand
    EWMA2 = 11  # counter + ((operand - counter) >> 1), rounded down
    EWMA4 = 12  # counter + ((operand - counter) >> 2), rounded down
    EWMA8 = 13  # counter + ((operand - counter) >> 3), rounded down


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


class SwapPolicy(IntEnum):
    EVERY = 0  # at every miss
    NTH = 1  # at the n-th consecutive miss to a line of a set, n <= 255
    ONE_IN = 2  # at every n-th miss of the channel
    NEVER = 3  # never


# Identifies an Anemone.
ID = Register(0x000, magic=Field(0, 64))
ID_MAGIC = 0x414E454D4F4E4531
# Version of this register map.
VERSION = Register(0x008, minor=Field(0, 16), major=Field(16, 16))
VERSION_MINOR = 0x2
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
    flat_channels=Field(48, 8),
)
# Built-in features, one bit per code.
FEATURES = Register(
    0x018,
    ops=Field(0, 16),
    widths=Field(16, 4),
    predicates=Field(24, 8),
    effects=Field(32, 4),
    operand_sources=Field(40, 4),
    flat_ratio=Field(48, 4),
    acknowledges=Field(56, 1),
    hash=Field(57, 1),
    flat_memory=Field(63, 1),
)
# Size of the telemetry region.
WINDOW = Register(0x020, bytes=Field(0, 64))
# Window in which a read applies the rule's read effect.
EFFECT_WINDOW = Register(0x040, enable=Field(0, 1), base=Field(12, 40))
# Window in which a read leaves the counters unchanged.
SNAPSHOT_WINDOW = Register(0x048, enable=Field(0, 1), base=Field(12, 40))
# Window in which a written line is removed from the counters; a read leaves them unchanged.
ACKNOWLEDGE_WINDOW = Register(0x050, enable=Field(0, 1), base=Field(12, 40))
# Whether a reset is safe.
QUIESCE_STATUS = Register(0x058, quiet=Field(0, 1))
# Errors since the last clear; write ones to clear.
ERROR_STATUS = Register(
    0x080,
    parity=Field(0, 1),
    dropped_write=Field(1, 1),
    refused_read=Field(2, 1),
    memory_read=Field(3, 1),
    memory_write=Field(4, 1),
    corrected=Field(5, 1),
    uncorrected=Field(6, 1),
    stray=Field(7, 1),
)
# Which bits of error_status raise interrupt 0.
ERROR_ENABLE = Register(
    0x088,
    parity=Field(0, 1),
    dropped_write=Field(1, 1),
    refused_read=Field(2, 1),
    memory_read=Field(3, 1),
    memory_write=Field(4, 1),
    corrected=Field(5, 1),
    uncorrected=Field(6, 1),
    stray=Field(7, 1),
)
# Writes into the telemetry region that were dropped.
DROPPED_WRITES = Register(0x090, value=Field(0, 64))
# Telemetry reads that were answered with an error.
REFUSED_READS = Register(0x098, value=Field(0, 64))
# Words read from the expander's own memories in which a flipped bit was corrected.
FAULTS_CORRECTED = Register(0x0A0, value=Field(0, 64))
# Words read from the expander's own memories with an uncorrectable error.
FAULTS_UNCORRECTED = Register(0x0A8, value=Field(0, 64))
# First fault since a reset or fault_control.rearm; an uncorrected one replaces a corrected one.
FIRST_FAULT = Register(
    0x0B0,
    memory=Field(0, 8),
    channel=Field(8, 2),
    uncorrected=Field(12, 1),
    id_valid=Field(13, 1),
    set_valid=Field(14, 1),
    id=Field(16, 16),
    valid=Field(63, 1),
)
# The set, or the table entry, of the first fault.
FAULT_SET = Register(0x0B8, line=Field(0, 47))
# Vectors whose cause is pending.
INTERRUPT_PENDING = Register(0x0C0, errors=Field(0, 1), pipelines=Field(1, 32))
# Vectors that send messages.
INTERRUPT_ENABLE = Register(0x0C8, errors=Field(0, 1), pipelines=Field(1, 32))
# Write ones: the vector may send again.
INTERRUPT_ACKNOWLEDGE = Register(0x0D0, errors=Field(0, 1), pipelines=Field(1, 32))
# Target of fault_control.inject.
FAULT_INJECT = Register(0x0E0, memory=Field(0, 8), channel=Field(8, 2), double=Field(12, 1))
# Commands for fault injection and reporting.
FAULT_CONTROL = Register(0x0E8, inject=Field(0, 1), rearm=Field(1, 1))
# Response beats of memory that matched no outstanding request and were dropped.
STRAY_ANSWERS = Register(0x0F0, value=Field(0, 64))
# Stops the memory ports, so that a reset finds nothing in flight; like the pin of that name.
QUIESCE = Register(0x0F8, stop=Field(0, 1))
# Behaviour of the rule.
RULE_CONTROL = Register(
    0x100,
    enable=Field(0, 1),
    reads=Field(1, 1),
    writes=Field(2, 1),
    near=Field(4, 2),
    hash=Field(6, 1),
    counter_width=Field(8, 2),
    operand_source=Field(16, 2),
    op=Field(24, 4),
    notify_op=Field(32, 3),
    effect_kind=Field(40, 2),
    effect_op=Field(48, 4),
)
# First byte address that matches.
RULE_START = Register(0x108, address=Field(0, 53))
# End (exclusive) of the byte addresses that match.
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
# Loads the rule in the registers above into a pipeline; answered when the rule applies.
RULE_COMMIT = Register(0x148, pipeline=Field(0, 6))
# Hash of the offset: (offset * multiplier mod 2^27) * size >> 27.
RULE_HASH = Register(0x150, multiplier=Field(0, 27), size=Field(32, 25))

# At most 4; capability has the number built.
FLAT = Array(0x800, 0x100, 4)
# Sets (near lines) of the channel. This register and the next two are sampled at the start.
FLAT_NEAR_LINES = Register(0x000, lines=Field(0, 47))
# First address of dedicated near memory.
FLAT_DEDICATED_START = Register(0x008, page=Field(12, 40))
# End (exclusive) of dedicated near memory; there is none if this is not above dedicated_start.
FLAT_DEDICATED_END = Register(0x010, page=Field(12, 40))
# Which misses swap. May be written at any time; applies from the next decision on.
FLAT_POLICY = Register(0x018, policy=Field(0, 2), n=Field(32, 32))
# Commands to the channel's flat memory mode.
FLAT_CONTROL = Register(0x020, start=Field(0, 1), rearm=Field(1, 1), repair=Field(2, 1))
# State of the channel's flat memory mode.
FLAT_STATUS = Register(0x028, started=Field(0, 1), ready=Field(1, 1), repairing=Field(2, 1))
# The first set since a reset, rearm or repair whose sideband failed its check.
FLAT_UNTRUSTED_SET = Register(0x030, set=Field(0, 46), valid=Field(63, 1))
# Accesses to a line in near memory, without dedicated lines.
FLAT_HITS = Register(0x040, value=Field(0, 64))
# Accesses to a line not in near memory.
FLAT_MISSES = Register(0x048, value=Field(0, 64))
# Misses that swap.
FLAT_SWAPS = Register(0x050, value=Field(0, 64))
# Reads of near memory that the accesses required.
FLAT_NEAR_READS = Register(0x058, value=Field(0, 64))
# Writes of near memory that the accesses required.
FLAT_NEAR_WRITES = Register(0x060, value=Field(0, 64))
# Reads of far memory that the accesses required.
FLAT_FAR_READS = Register(0x068, value=Field(0, 64))
# Writes of far memory that the accesses required.
FLAT_FAR_WRITES = Register(0x070, value=Field(0, 64))
# How many of these four were served from a swap in flight instead.
FLAT_FORWARDED = Register(0x078, value=Field(0, 64))
# Reads and writes that near memory answered with an error.
FLAT_NEAR_ERRORS = Register(0x080, value=Field(0, 64))
# Reads and writes that far memory answered with an error.
FLAT_FAR_ERRORS = Register(0x088, value=Field(0, 64))
# Sets in which such an error disabled swapping.
FLAT_MARKED = Register(0x090, value=Field(0, 64))
# Lines that near or far memory returned poisoned.
FLAT_POISONED = Register(0x098, value=Field(0, 64))
# Reads of near memory with a corrected bit in the sideband.
FLAT_CORRECTED = Register(0x0A0, value=Field(0, 64))
# Reads of near memory whose sideband failed its check; the access was answered with an error.
FLAT_UNTRUSTED = Register(0x0A8, value=Field(0, 64))
# Responses of near or far memory that matched no outstanding request and were dropped.
FLAT_STRAYS = Register(0x0B0, value=Field(0, 64))

# At most 32; capability has the number built.
PIPELINE = Array(0x1000, 0x100, 32)
# Events that updated a counter.
PIPELINE_MATCHED = Register(0x000, value=Field(0, 64))
# Events whose key has no table entry.
PIPELINE_UNMAPPED = Register(0x008, value=Field(0, 64))
# Events whose index is past the last counter.
PIPELINE_OUT_OF_RANGE = Register(0x010, value=Field(0, 64))
# Updates for which the predicate held.
PIPELINE_NOTIFICATIONS = Register(0x018, value=Field(0, 64))
# Telemetry lines returned with bad parity.
PIPELINE_PARITY_ERRORS = Register(0x020, value=Field(0, 64))
# The first counter for which the predicate held since the last acknowledge.
PIPELINE_NOTIFICATION = Register(0x028, valid=Field(0, 1), channel=Field(8, 2), index=Field(32, 24))
# Commands to the pipeline.
PIPELINE_CONTROL = Register(0x030, clear=Field(0, 1))
# State of the pipeline.
PIPELINE_STATUS = Register(0x038, clearing=Field(0, 1))

# Entry pipeline << table_log2 | key. Each write changes one entry, between two events.
TABLE = Array(0x200000, 8, 262144)
#
TABLE_ENTRY = Register(0x000, base=Field(0, 24), mapped=Field(63, 1))
