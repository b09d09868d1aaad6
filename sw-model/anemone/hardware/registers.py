# SPDX-License-Identifier: Apache-2.0
# Generated from hw/regs/anemone.rdl by `make regs`; change that, not this.
"""Anemone memory expander: offsets of its registers, their fields and codes."""

from __future__ import annotations

from enum import IntEnum

from anemone.hardware.fields import Array, Field, Register


class FaultMemory(IntEnum):
    LINES = 0  # flat memory mode: the lines of the sets in flight
    WRITES = 1  # flat memory mode: data of writes that wait
    ANSWERS = 2  # flat memory mode: answers to reads that wait
    LOOKUPS = 3  # flat memory mode: requests that are looked up
    FETCHES = 4  # flat memory mode: reads of far memory that wait
    EVENTS = 5  # flat memory mode: accesses that are not decided
    LEAVING_ANSWERS = 6  # flat memory mode: answers to reads on their way to a host that waits
    LEAVING_LINES = 7  # flat memory mode: lines on their way to near or far memory
    READ_ORDER = 8  # reads of each id that were issued and answered
    WRITE_ORDER = 9  # writes of each id, likewise
    REGION_WRITES = 16  # writes into the telemetry region that wait for their data
    ACKNOWLEDGES = 17  # lines that wait to be taken away
    TABLES = 18  # translation tables, which have parity: an event whose entry is bad is unmapped
    WAITING_EVENTS = 19  # events that wait behind a walk or an acknowledgement
    RESET_VALUES = (
        20  # reset values of the rules for acknowledgements, all channels'; told of channel 0
    )
    MEMORY_DATA = 21  # on a board: memory's read data that wait for the host
    MEMORY_ANSWERS = 22  # on a board: memory's answers to writes, likewise
    ORDERED_EVENTS = 23  # flat memory mode: events that wait for a telemetry read
    ORDERED_READS = 24  # flat memory mode: telemetry reads that wait for events
    TELEMETRY_LINES = 25  # telemetry lines that wait
    LINE_ORDER = 26  # whose the engine's next lines are
    READY_LINES = 27  # telemetry lines that are about to leave: three copies, the majority counts


class NearFilter(IntEnum):
    ANY = 0  # all
    HIT = 1  # near memory had the line, or it is a dedicated one
    MISS = 2  # near memory had not


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


class SwapPolicy(IntEnum):
    EVERY = 0  # at every miss
    NTH = 1  # at the n-th miss in a row to a line of a set, to 255
    ONE_IN = 2  # at every n-th miss of the channel
    NEVER = 3  # never


# Tells that this is an Anemone.
ID = Register(0x000, magic=Field(0, 64))
ID_MAGIC = 0x414E454D4F4E4531
# Version of this register map.
VERSION = Register(0x008, minor=Field(0, 16), major=Field(16, 16))
VERSION_MINOR = 0x1
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
# What is built in, a bit a code.
FEATURES = Register(
    0x018,
    ops=Field(0, 16),
    widths=Field(16, 4),
    predicates=Field(24, 8),
    effects=Field(32, 4),
    operand_sources=Field(40, 4),
    flat_ratio=Field(48, 4),
    acknowledges=Field(56, 1),
    flat_memory=Field(63, 1),
)
# Size of the telemetry region.
WINDOW = Register(0x020, bytes=Field(0, 64))
# Window in which a read applies the rule's read effect.
EFFECT_WINDOW = Register(0x040, enable=Field(0, 1), base=Field(12, 40))
# Window in which a read leaves the counters as they are.
SNAPSHOT_WINDOW = Register(0x048, enable=Field(0, 1), base=Field(12, 40))
# Window in which a written line is taken away from the counters; a read leaves them as they are.
ACKNOWLEDGE_WINDOW = Register(0x050, enable=Field(0, 1), base=Field(12, 40))
# Whether a reset is safe.
QUIESCE_STATUS = Register(0x058, quiet=Field(0, 1))
# What went wrong since it was last cleared; write ones to clear.
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
# Such words that could not be corrected.
FAULTS_UNCORRECTED = Register(0x0A8, value=Field(0, 64))
# The first of them since a reset or fault_control.rearm; one not corrected goes before others.
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
# Whose line it was, or which entry of the tables.
FAULT_SET = Register(0x0B8, line=Field(0, 47))
# Vectors whose cause stands.
INTERRUPT_PENDING = Register(0x0C0, errors=Field(0, 1), pipelines=Field(1, 32))
# Vectors that send messages.
INTERRUPT_ENABLE = Register(0x0C8, errors=Field(0, 1), pipelines=Field(1, 32))
# Write ones: the vector may send again.
INTERRUPT_ACKNOWLEDGE = Register(0x0D0, errors=Field(0, 1), pipelines=Field(1, 32))
# What fault_control.inject flips.
FAULT_INJECT = Register(0x0E0, memory=Field(0, 8), channel=Field(8, 2), double=Field(12, 1))
# Commands about flipped bits.
FAULT_CONTROL = Register(0x0E8, inject=Field(0, 1), rearm=Field(1, 1))
# Beats of memory's answers that nobody waited for and that were dropped.
STRAY_ANSWERS = Register(0x0F0, value=Field(0, 64))
# Stops the memory ports, so that a reset finds nothing under way, as the pin of that name.
QUIESCE = Register(0x0F8, stop=Field(0, 1))
# What the rule does.
RULE_CONTROL = Register(
    0x100,
    enable=Field(0, 1),
    reads=Field(1, 1),
    writes=Field(2, 1),
    near=Field(4, 2),
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

# Of 4, capability says how many are built.
FLAT = Array(0x800, 0x100, 4)
# Near lines of the channel's sets. This and the next two count as they stand at the start.
FLAT_NEAR_LINES = Register(0x000, lines=Field(0, 47))
# First address of dedicated near memory.
FLAT_DEDICATED_START = Register(0x008, page=Field(12, 40))
# First address past dedicated near memory; none is where this is not above the first one.
FLAT_DEDICATED_END = Register(0x010, page=Field(12, 40))
# Which misses swap. May be written at any time: it applies from one decision on.
FLAT_POLICY = Register(0x018, policy=Field(0, 2), n=Field(32, 32))
# Commands to the channel's flat memory mode.
FLAT_CONTROL = Register(0x020, start=Field(0, 1), rearm=Field(1, 1), repair=Field(2, 1))
# What it is doing.
FLAT_STATUS = Register(0x028, started=Field(0, 1), ready=Field(1, 1), repairing=Field(2, 1))
# The first set, since a reset, rearm or repair, whose sideband could not be believed.
FLAT_UNTRUSTED_SET = Register(0x030, set=Field(0, 46), valid=Field(63, 1))
# Accesses that near memory had the line of; dedicated ones are not counted.
FLAT_HITS = Register(0x040, value=Field(0, 64))
# Accesses that near memory had not the line of.
FLAT_MISSES = Register(0x048, value=Field(0, 64))
# Misses that swap.
FLAT_SWAPS = Register(0x050, value=Field(0, 64))
# Reads of near memory that the accesses asked for.
FLAT_NEAR_READS = Register(0x058, value=Field(0, 64))
# Writes of near memory, likewise.
FLAT_NEAR_WRITES = Register(0x060, value=Field(0, 64))
# Reads of far memory, likewise.
FLAT_FAR_READS = Register(0x068, value=Field(0, 64))
# Writes of far memory, likewise.
FLAT_FAR_WRITES = Register(0x070, value=Field(0, 64))
# Of these four, what was served from a swap in flight.
FLAT_FORWARDED = Register(0x078, value=Field(0, 64))
# Reads and writes that near memory refused.
FLAT_NEAR_ERRORS = Register(0x080, value=Field(0, 64))
# Reads and writes that far memory refused.
FLAT_FAR_ERRORS = Register(0x088, value=Field(0, 64))
# Sets that are not swapped any more, because of such an error.
FLAT_MARKED = Register(0x090, value=Field(0, 64))
# Lines that near or far memory returned poisoned.
FLAT_POISONED = Register(0x098, value=Field(0, 64))
# Reads of near memory in whose sideband a flipped bit was corrected.
FLAT_CORRECTED = Register(0x0A0, value=Field(0, 64))
# Reads of near memory whose sideband could not be believed: the access was refused.
FLAT_UNTRUSTED = Register(0x0A8, value=Field(0, 64))
# Answers of near or far memory that nobody waited for, and that were dropped.
FLAT_STRAYS = Register(0x0B0, value=Field(0, 64))

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
