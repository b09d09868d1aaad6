/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Generated from hw/regs/anemone.rdl by `make regs`; change that, not this. */
#ifndef ANEMONE_REGS_H
#define ANEMONE_REGS_H

/*
 * Anemone memory expander: byte offsets of its 64-bit registers, and their fields in place.
 */

/* Identifies an Anemone. */
#define ANEMONE_ID 0x000
/* ANEMONE1 in ASCII, first letter in the highest byte. */
#define ANEMONE_ID_MAGIC_SHIFT 0
#define ANEMONE_ID_MAGIC_MASK 0xffffffffffffffffULL
#define ANEMONE_ID_MAGIC_VALUE 0x414e454d4f4e4531ULL

/* Version of this register map. */
#define ANEMONE_VERSION 0x008
/* Incremented for changes that software may ignore. */
#define ANEMONE_VERSION_MINOR_SHIFT 0
#define ANEMONE_VERSION_MINOR_MASK 0x000000000000ffffULL
#define ANEMONE_VERSION_MINOR_VALUE 0x2ULL
/* Incremented for changes that software has to know. */
#define ANEMONE_VERSION_MAJOR_SHIFT 16
#define ANEMONE_VERSION_MAJOR_MASK 0x00000000ffff0000ULL
#define ANEMONE_VERSION_MAJOR_VALUE 0x1ULL

/* Sizes of this configuration. */
#define ANEMONE_CAPABILITY 0x010
/* Pipelines, each with its own rule, table and states. */
#define ANEMONE_CAPABILITY_PIPELINES_SHIFT 0
#define ANEMONE_CAPABILITY_PIPELINES_MASK 0x00000000000000ffULL
/* Memory channels. */
#define ANEMONE_CAPABILITY_CHANNELS_SHIFT 8
#define ANEMONE_CAPABILITY_CHANNELS_MASK 0x000000000000ff00ULL
/* log2 of the 64-bit state words per pipeline and channel. */
#define ANEMONE_CAPABILITY_STATES_LOG2_SHIFT 16
#define ANEMONE_CAPABILITY_STATES_LOG2_MASK 0x0000000000ff0000ULL
/* log2 of the entries of a pipeline's table. */
#define ANEMONE_CAPABILITY_TABLE_LOG2_SHIFT 24
#define ANEMONE_CAPABILITY_TABLE_LOG2_MASK 0x00000000ff000000ULL
/* Bits of a device byte address. */
#define ANEMONE_CAPABILITY_ADDRESS_BITS_SHIFT 32
#define ANEMONE_CAPABILITY_ADDRESS_BITS_MASK 0x000000ff00000000ULL
/* Bits of a counter index and of a base index. */
#define ANEMONE_CAPABILITY_COUNTER_INDEX_BITS_SHIFT 40
#define ANEMONE_CAPABILITY_COUNTER_INDEX_BITS_MASK 0x0000ff0000000000ULL
/* Channels with flat memory mode: all or none. */
#define ANEMONE_CAPABILITY_FLAT_CHANNELS_SHIFT 48
#define ANEMONE_CAPABILITY_FLAT_CHANNELS_MASK 0x00ff000000000000ULL

/* Built-in features, one bit per code. */
#define ANEMONE_FEATURES 0x018
/* Update ops. */
#define ANEMONE_FEATURES_OPS_SHIFT 0
#define ANEMONE_FEATURES_OPS_MASK 0x000000000000ffffULL
/* Counter widths. */
#define ANEMONE_FEATURES_WIDTHS_SHIFT 16
#define ANEMONE_FEATURES_WIDTHS_MASK 0x00000000000f0000ULL
/* Predicates of the notify stage. */
#define ANEMONE_FEATURES_PREDICATES_SHIFT 24
#define ANEMONE_FEATURES_PREDICATES_MASK 0x00000000ff000000ULL
/* Read effects. */
#define ANEMONE_FEATURES_EFFECTS_SHIFT 32
#define ANEMONE_FEATURES_EFFECTS_MASK 0x0000000f00000000ULL
/* Sources of an update's operand. */
#define ANEMONE_FEATURES_OPERAND_SOURCES_SHIFT 40
#define ANEMONE_FEATURES_OPERAND_SOURCES_MASK 0x00000f0000000000ULL
/* Far lines per near line in flat memory mode; 0: not built in. */
#define ANEMONE_FEATURES_FLAT_RATIO_SHIFT 48
#define ANEMONE_FEATURES_FLAT_RATIO_MASK 0x000f000000000000ULL
/* The acknowledge window. */
#define ANEMONE_FEATURES_ACKNOWLEDGES_SHIFT 56
#define ANEMONE_FEATURES_ACKNOWLEDGES_MASK 0x0100000000000000ULL
/* Hashes of offsets. */
#define ANEMONE_FEATURES_HASH_SHIFT 57
#define ANEMONE_FEATURES_HASH_MASK 0x0200000000000000ULL
/* Flat memory mode, and rules with a near filter, which are refused without it. */
#define ANEMONE_FEATURES_FLAT_MEMORY_SHIFT 63
#define ANEMONE_FEATURES_FLAT_MEMORY_MASK 0x8000000000000000ULL

/* Size of the telemetry region. */
#define ANEMONE_WINDOW 0x020
/* Bytes of one telemetry window: a power of two, 4096 or more. */
#define ANEMONE_WINDOW_BYTES_SHIFT 0
#define ANEMONE_WINDOW_BYTES_MASK 0xffffffffffffffffULL

/* Window in which a read applies the rule's read effect. */
#define ANEMONE_EFFECT_WINDOW 0x040
/* Reads in the window are telemetry reads; otherwise they go to memory. */
#define ANEMONE_EFFECT_WINDOW_ENABLE_SHIFT 0
#define ANEMONE_EFFECT_WINDOW_ENABLE_MASK 0x0000000000000001ULL
/* Device byte address, bits 51 to 12; a multiple of window.bytes. */
#define ANEMONE_EFFECT_WINDOW_BASE_SHIFT 12
#define ANEMONE_EFFECT_WINDOW_BASE_MASK 0x000ffffffffff000ULL

/* Window in which a read leaves the counters unchanged. */
#define ANEMONE_SNAPSHOT_WINDOW 0x048
/* Reads in the window are telemetry reads; otherwise they go to memory. */
#define ANEMONE_SNAPSHOT_WINDOW_ENABLE_SHIFT 0
#define ANEMONE_SNAPSHOT_WINDOW_ENABLE_MASK 0x0000000000000001ULL
/* Device byte address, bits 51 to 12; a multiple of window.bytes. */
#define ANEMONE_SNAPSHOT_WINDOW_BASE_SHIFT 12
#define ANEMONE_SNAPSHOT_WINDOW_BASE_MASK 0x000ffffffffff000ULL

/* Window in which a written line is removed from the counters; a read leaves them unchanged. */
#define ANEMONE_ACKNOWLEDGE_WINDOW 0x050
/* Reads in the window are telemetry reads; otherwise they go to memory. */
#define ANEMONE_ACKNOWLEDGE_WINDOW_ENABLE_SHIFT 0
#define ANEMONE_ACKNOWLEDGE_WINDOW_ENABLE_MASK 0x0000000000000001ULL
/* Device byte address, bits 51 to 12; a multiple of window.bytes. */
#define ANEMONE_ACKNOWLEDGE_WINDOW_BASE_SHIFT 12
#define ANEMONE_ACKNOWLEDGE_WINDOW_BASE_MASK 0x000ffffffffff000ULL

/* Whether a reset is safe. */
#define ANEMONE_QUIESCE_STATUS 0x058
/* Nothing is in flight on any channel. */
#define ANEMONE_QUIESCE_STATUS_QUIET_SHIFT 0
#define ANEMONE_QUIESCE_STATUS_QUIET_MASK 0x0000000000000001ULL

/* Errors since the last clear; write ones to clear. */
#define ANEMONE_ERROR_STATUS 0x080
/* A telemetry line was returned with bad parity. */
#define ANEMONE_ERROR_STATUS_PARITY_SHIFT 0
#define ANEMONE_ERROR_STATUS_PARITY_MASK 0x0000000000000001ULL
/* A write into the telemetry region was dropped. */
#define ANEMONE_ERROR_STATUS_DROPPED_WRITE_SHIFT 1
#define ANEMONE_ERROR_STATUS_DROPPED_WRITE_MASK 0x0000000000000002ULL
/* A telemetry read was answered with an error. */
#define ANEMONE_ERROR_STATUS_REFUSED_READ_SHIFT 2
#define ANEMONE_ERROR_STATUS_REFUSED_READ_MASK 0x0000000000000004ULL
/* Memory answered a read with an error. */
#define ANEMONE_ERROR_STATUS_MEMORY_READ_SHIFT 3
#define ANEMONE_ERROR_STATUS_MEMORY_READ_MASK 0x0000000000000008ULL
/* Memory answered a write with an error. */
#define ANEMONE_ERROR_STATUS_MEMORY_WRITE_SHIFT 4
#define ANEMONE_ERROR_STATUS_MEMORY_WRITE_MASK 0x0000000000000010ULL
/* A flipped bit in a memory of the expander was corrected. */
#define ANEMONE_ERROR_STATUS_CORRECTED_SHIFT 5
#define ANEMONE_ERROR_STATUS_CORRECTED_MASK 0x0000000000000020ULL
/*
 * A memory of the expander had an uncorrectable error: its contents are lost, and data are
 * poisoned.
 */
#define ANEMONE_ERROR_STATUS_UNCORRECTED_SHIFT 6
#define ANEMONE_ERROR_STATUS_UNCORRECTED_MASK 0x0000000000000040ULL
/*
 * A response of memory matched no outstanding request and was dropped; this can happen when
 * a reset cancelled the request.
 */
#define ANEMONE_ERROR_STATUS_STRAY_SHIFT 7
#define ANEMONE_ERROR_STATUS_STRAY_MASK 0x0000000000000080ULL

/* Which bits of error_status raise interrupt 0. */
#define ANEMONE_ERROR_ENABLE 0x088
#define ANEMONE_ERROR_ENABLE_PARITY_SHIFT 0
#define ANEMONE_ERROR_ENABLE_PARITY_MASK 0x0000000000000001ULL
#define ANEMONE_ERROR_ENABLE_DROPPED_WRITE_SHIFT 1
#define ANEMONE_ERROR_ENABLE_DROPPED_WRITE_MASK 0x0000000000000002ULL
#define ANEMONE_ERROR_ENABLE_REFUSED_READ_SHIFT 2
#define ANEMONE_ERROR_ENABLE_REFUSED_READ_MASK 0x0000000000000004ULL
#define ANEMONE_ERROR_ENABLE_MEMORY_READ_SHIFT 3
#define ANEMONE_ERROR_ENABLE_MEMORY_READ_MASK 0x0000000000000008ULL
#define ANEMONE_ERROR_ENABLE_MEMORY_WRITE_SHIFT 4
#define ANEMONE_ERROR_ENABLE_MEMORY_WRITE_MASK 0x0000000000000010ULL
#define ANEMONE_ERROR_ENABLE_CORRECTED_SHIFT 5
#define ANEMONE_ERROR_ENABLE_CORRECTED_MASK 0x0000000000000020ULL
#define ANEMONE_ERROR_ENABLE_UNCORRECTED_SHIFT 6
#define ANEMONE_ERROR_ENABLE_UNCORRECTED_MASK 0x0000000000000040ULL
#define ANEMONE_ERROR_ENABLE_STRAY_SHIFT 7
#define ANEMONE_ERROR_ENABLE_STRAY_MASK 0x0000000000000080ULL

/* Writes into the telemetry region that were dropped. */
#define ANEMONE_DROPPED_WRITES 0x090

/* Telemetry reads that were answered with an error. */
#define ANEMONE_REFUSED_READS 0x098

/* Words read from the expander's own memories in which a flipped bit was corrected. */
#define ANEMONE_FAULTS_CORRECTED 0x0a0

/* Words read from the expander's own memories with an uncorrectable error. */
#define ANEMONE_FAULTS_UNCORRECTED 0x0a8

/*
 * First fault since a reset or fault_control.rearm; an uncorrected one replaces a corrected
 * one.
 */
#define ANEMONE_FIRST_FAULT 0x0b0
/* Which memory. */
#define ANEMONE_FIRST_FAULT_MEMORY_SHIFT 0
#define ANEMONE_FIRST_FAULT_MEMORY_MASK 0x00000000000000ffULL
#define ANEMONE_FIRST_FAULT_CHANNEL_SHIFT 8
#define ANEMONE_FIRST_FAULT_CHANNEL_MASK 0x0000000000000300ULL
/* The fault was not corrected. */
#define ANEMONE_FIRST_FAULT_UNCORRECTED_SHIFT 12
#define ANEMONE_FIRST_FAULT_UNCORRECTED_MASK 0x0000000000001000ULL
/* The transaction is known. */
#define ANEMONE_FIRST_FAULT_ID_VALID_SHIFT 13
#define ANEMONE_FIRST_FAULT_ID_VALID_MASK 0x0000000000002000ULL
/* fault_set is known. */
#define ANEMONE_FIRST_FAULT_SET_VALID_SHIFT 14
#define ANEMONE_FIRST_FAULT_SET_VALID_MASK 0x0000000000004000ULL
/* AXI id of the transaction. */
#define ANEMONE_FIRST_FAULT_ID_SHIFT 16
#define ANEMONE_FIRST_FAULT_ID_MASK 0x00000000ffff0000ULL
/* There is one. */
#define ANEMONE_FIRST_FAULT_VALID_SHIFT 63
#define ANEMONE_FIRST_FAULT_VALID_MASK 0x8000000000000000ULL

/* The set, or the table entry, of the first fault. */
#define ANEMONE_FAULT_SET 0x0b8
/*
 * Near line number on the channel (dedicated lines follow those of the sets), or table entry
 * number.
 */
#define ANEMONE_FAULT_SET_LINE_SHIFT 0
#define ANEMONE_FAULT_SET_LINE_MASK 0x00007fffffffffffULL

/* Vectors whose cause is pending. */
#define ANEMONE_INTERRUPT_PENDING 0x0c0
/* An enabled bit of error_status is set. */
#define ANEMONE_INTERRUPT_PENDING_ERRORS_SHIFT 0
#define ANEMONE_INTERRUPT_PENDING_ERRORS_MASK 0x0000000000000001ULL
/* The pipeline's notification is valid. */
#define ANEMONE_INTERRUPT_PENDING_PIPELINES_SHIFT 1
#define ANEMONE_INTERRUPT_PENDING_PIPELINES_MASK 0x00000001fffffffeULL

/* Vectors that send messages. */
#define ANEMONE_INTERRUPT_ENABLE 0x0c8
#define ANEMONE_INTERRUPT_ENABLE_ERRORS_SHIFT 0
#define ANEMONE_INTERRUPT_ENABLE_ERRORS_MASK 0x0000000000000001ULL
#define ANEMONE_INTERRUPT_ENABLE_PIPELINES_SHIFT 1
#define ANEMONE_INTERRUPT_ENABLE_PIPELINES_MASK 0x00000001fffffffeULL

/* Write ones: the vector may send again. */
#define ANEMONE_INTERRUPT_ACKNOWLEDGE 0x0d0
/* Errors still pending send again at once: clear error_status first. */
#define ANEMONE_INTERRUPT_ACKNOWLEDGE_ERRORS_SHIFT 0
#define ANEMONE_INTERRUPT_ACKNOWLEDGE_ERRORS_MASK 0x0000000000000001ULL
/* Also re-arms the pipeline's notification. */
#define ANEMONE_INTERRUPT_ACKNOWLEDGE_PIPELINES_SHIFT 1
#define ANEMONE_INTERRUPT_ACKNOWLEDGE_PIPELINES_MASK 0x00000001fffffffeULL

/* Target of fault_control.inject. */
#define ANEMONE_FAULT_INJECT 0x0e0
/* Memory to inject into; no effect if it is not built. */
#define ANEMONE_FAULT_INJECT_MEMORY_SHIFT 0
#define ANEMONE_FAULT_INJECT_MEMORY_MASK 0x00000000000000ffULL
#define ANEMONE_FAULT_INJECT_CHANNEL_SHIFT 8
#define ANEMONE_FAULT_INJECT_CHANNEL_MASK 0x0000000000000300ULL
/* Flip two bits, which is uncorrectable except in ready_lines. */
#define ANEMONE_FAULT_INJECT_DOUBLE_SHIFT 12
#define ANEMONE_FAULT_INJECT_DOUBLE_MASK 0x0000000000001000ULL

/* Commands for fault injection and reporting. */
#define ANEMONE_FAULT_CONTROL 0x0e8
/* Flip one bit, or two, once, in the next word written to the memory in fault_inject. */
#define ANEMONE_FAULT_CONTROL_INJECT_SHIFT 0
#define ANEMONE_FAULT_CONTROL_INJECT_MASK 0x0000000000000001ULL
/* Clear first_fault. */
#define ANEMONE_FAULT_CONTROL_REARM_SHIFT 1
#define ANEMONE_FAULT_CONTROL_REARM_MASK 0x0000000000000002ULL

/* Response beats of memory that matched no outstanding request and were dropped. */
#define ANEMONE_STRAY_ANSWERS 0x0f0

/*
 * Stops the memory ports, so that a reset finds nothing in flight; like the pin of that
 * name.
 */
#define ANEMONE_QUIESCE 0x0f8
/* No request is accepted; accepted ones complete, and so do the swaps of flat memory mode. */
#define ANEMONE_QUIESCE_STOP_SHIFT 0
#define ANEMONE_QUIESCE_STOP_MASK 0x0000000000000001ULL

/* Behaviour of the rule. */
#define ANEMONE_RULE_CONTROL 0x100
/* If 0, the rule matches nothing. */
#define ANEMONE_RULE_CONTROL_ENABLE_SHIFT 0
#define ANEMONE_RULE_CONTROL_ENABLE_MASK 0x0000000000000001ULL
/* Reads match. */
#define ANEMONE_RULE_CONTROL_READS_SHIFT 1
#define ANEMONE_RULE_CONTROL_READS_MASK 0x0000000000000002ULL
/* Writes match. */
#define ANEMONE_RULE_CONTROL_WRITES_SHIFT 2
#define ANEMONE_RULE_CONTROL_WRITES_MASK 0x0000000000000004ULL
/* Match by near hit or miss. Without flat memory mode an enabled rule must have any. */
#define ANEMONE_RULE_CONTROL_NEAR_SHIFT 4
#define ANEMONE_RULE_CONTROL_NEAR_MASK 0x0000000000000030ULL
/* Offsets are hashed, see rule_hash. */
#define ANEMONE_RULE_CONTROL_HASH_SHIFT 6
#define ANEMONE_RULE_CONTROL_HASH_MASK 0x0000000000000040ULL
#define ANEMONE_RULE_CONTROL_COUNTER_WIDTH_SHIFT 8
#define ANEMONE_RULE_CONTROL_COUNTER_WIDTH_MASK 0x0000000000000300ULL
/* Source of the update's operand. */
#define ANEMONE_RULE_CONTROL_OPERAND_SOURCE_SHIFT 16
#define ANEMONE_RULE_CONTROL_OPERAND_SOURCE_MASK 0x0000000000030000ULL
/* The update. */
#define ANEMONE_RULE_CONTROL_OP_SHIFT 24
#define ANEMONE_RULE_CONTROL_OP_MASK 0x000000000f000000ULL
/* Predicate on the updated value. */
#define ANEMONE_RULE_CONTROL_NOTIFY_OP_SHIFT 32
#define ANEMONE_RULE_CONTROL_NOTIFY_OP_MASK 0x0000000700000000ULL
/* Effect of a read in the effect window. */
#define ANEMONE_RULE_CONTROL_EFFECT_KIND_SHIFT 40
#define ANEMONE_RULE_CONTROL_EFFECT_KIND_MASK 0x0000030000000000ULL
/* The read effect's update, when effect_kind is op. */
#define ANEMONE_RULE_CONTROL_EFFECT_OP_SHIFT 48
#define ANEMONE_RULE_CONTROL_EFFECT_OP_MASK 0x000f000000000000ULL

/* First byte address that matches. */
#define ANEMONE_RULE_START 0x108
#define ANEMONE_RULE_START_ADDRESS_SHIFT 0
#define ANEMONE_RULE_START_ADDRESS_MASK 0x001fffffffffffffULL

/* End (exclusive) of the byte addresses that match. */
#define ANEMONE_RULE_END 0x110
#define ANEMONE_RULE_END_ADDRESS_SHIFT 0
#define ANEMONE_RULE_END_ADDRESS_MASK 0x001fffffffffffffULL

/* key = (address & rule_primary_mask) >> rule_shifts.primary */
#define ANEMONE_RULE_PRIMARY_MASK 0x118

/* index = base + ((address & rule_sub_mask) >> rule_shifts.sub) */
#define ANEMONE_RULE_SUB_MASK 0x120

/* Shifts of key and offset. */
#define ANEMONE_RULE_SHIFTS 0x128
#define ANEMONE_RULE_SHIFTS_PRIMARY_SHIFT 0
#define ANEMONE_RULE_SHIFTS_PRIMARY_MASK 0x000000000000003fULL
#define ANEMONE_RULE_SHIFTS_SUB_SHIFT 8
#define ANEMONE_RULE_SHIFTS_SUB_MASK 0x0000000000003f00ULL

/* Operand of the update; also a shift's amount. */
#define ANEMONE_RULE_OPERAND 0x130

/* Operand of the predicate. */
#define ANEMONE_RULE_NOTIFY_OPERAND 0x138

/* Operand of the read effect, or the value of a reset. */
#define ANEMONE_RULE_EFFECT_OPERAND 0x140

/* Loads the rule in the registers above into a pipeline; answered when the rule applies. */
#define ANEMONE_RULE_COMMIT 0x148
/*
 * A rule that needs a feature which features does not name is answered with an error, and
 * the pipeline keeps its rule. For a disabled rule only the read effect is checked.
 */
#define ANEMONE_RULE_COMMIT_PIPELINE_SHIFT 0
#define ANEMONE_RULE_COMMIT_PIPELINE_MASK 0x000000000000003fULL

/* Hash of the offset: (offset * multiplier mod 2^27) * size >> 27. */
#define ANEMONE_RULE_HASH 0x150
/* Odd. An event whose offset is 2^27 or more counts as out_of_range. */
#define ANEMONE_RULE_HASH_MULTIPLIER_SHIFT 0
#define ANEMONE_RULE_HASH_MULTIPLIER_MASK 0x0000000007ffffffULL
/* Counters that the hash chooses from: 1 to the counters of a channel. */
#define ANEMONE_RULE_HASH_SIZE_SHIFT 32
#define ANEMONE_RULE_HASH_SIZE_MASK 0x01ffffff00000000ULL

/* Registers of flat i; ANEMONE_FLAT_* are offsets from there. */
#define ANEMONE_FLAT(i) (0x800 + 0x100 * (i))
#define ANEMONE_FLAT_COUNT_MAX 4

/* Sets (near lines) of the channel. This register and the next two are sampled at the start. */
#define ANEMONE_FLAT_NEAR_LINES 0x00
/* Lines of 64 B, 1 or more; with 0 a start has no effect. */
#define ANEMONE_FLAT_NEAR_LINES_LINES_SHIFT 0
#define ANEMONE_FLAT_NEAR_LINES_LINES_MASK 0x00007fffffffffffULL

/* First address of dedicated near memory. */
#define ANEMONE_FLAT_DEDICATED_START 0x08
/* Device byte address, bits 51 to 12. */
#define ANEMONE_FLAT_DEDICATED_START_PAGE_SHIFT 12
#define ANEMONE_FLAT_DEDICATED_START_PAGE_MASK 0x000ffffffffff000ULL

/*
 * End (exclusive) of dedicated near memory; there is none if this is not above
 * dedicated_start.
 */
#define ANEMONE_FLAT_DEDICATED_END 0x10
#define ANEMONE_FLAT_DEDICATED_END_PAGE_SHIFT 12
#define ANEMONE_FLAT_DEDICATED_END_PAGE_MASK 0x000ffffffffff000ULL

/* Which misses swap. May be written at any time; applies from the next decision on. */
#define ANEMONE_FLAT_POLICY 0x18
#define ANEMONE_FLAT_POLICY_POLICY_SHIFT 0
#define ANEMONE_FLAT_POLICY_POLICY_MASK 0x0000000000000003ULL
/* Parameter n of policies that count; 0 means 1. */
#define ANEMONE_FLAT_POLICY_N_SHIFT 32
#define ANEMONE_FLAT_POLICY_N_MASK 0xffffffff00000000ULL

/* Commands to the channel's flat memory mode. */
#define ANEMONE_FLAT_CONTROL 0x20
/*
 * Accept requests, which wait until then; after power-up near memory is initialised first.
 * Lasts until a reset. No effect, and started stays 0, if near_lines is 0 or the sizes do
 * not fit the memories.
 */
#define ANEMONE_FLAT_CONTROL_START_SHIFT 0
#define ANEMONE_FLAT_CONTROL_START_MASK 0x0000000000000001ULL
/* Forget the set in untrusted_set, so that the next one is recorded. */
#define ANEMONE_FLAT_CONTROL_REARM_SHIFT 1
#define ANEMONE_FLAT_CONTROL_REARM_MASK 0x0000000000000002ULL
/*
 * Discard the contents of the set in untrusted_set: its lines read as poison until they are
 * written, and untrusted_set is cleared. Requests wait meanwhile. No effect if untrusted_set
 * is not valid.
 */
#define ANEMONE_FLAT_CONTROL_REPAIR_SHIFT 2
#define ANEMONE_FLAT_CONTROL_REPAIR_MASK 0x0000000000000004ULL

/* State of the channel's flat memory mode. */
#define ANEMONE_FLAT_STATUS 0x28
#define ANEMONE_FLAT_STATUS_STARTED_SHIFT 0
#define ANEMONE_FLAT_STATUS_STARTED_MASK 0x0000000000000001ULL
/* Requests are accepted. */
#define ANEMONE_FLAT_STATUS_READY_SHIFT 1
#define ANEMONE_FLAT_STATUS_READY_MASK 0x0000000000000002ULL
/*
 * A repair is running. If untrusted_set is still valid at its end, memory refused a write:
 * repair again.
 */
#define ANEMONE_FLAT_STATUS_REPAIRING_SHIFT 2
#define ANEMONE_FLAT_STATUS_REPAIRING_MASK 0x0000000000000004ULL

/* The first set since a reset, rearm or repair whose sideband failed its check. */
#define ANEMONE_FLAT_UNTRUSTED_SET 0x30
/* Set index: the near line number on the channel. */
#define ANEMONE_FLAT_UNTRUSTED_SET_SET_SHIFT 0
#define ANEMONE_FLAT_UNTRUSTED_SET_SET_MASK 0x00003fffffffffffULL
/* There is one. */
#define ANEMONE_FLAT_UNTRUSTED_SET_VALID_SHIFT 63
#define ANEMONE_FLAT_UNTRUSTED_SET_VALID_MASK 0x8000000000000000ULL

/* Accesses to a line in near memory, without dedicated lines. */
#define ANEMONE_FLAT_HITS 0x40

/* Accesses to a line not in near memory. */
#define ANEMONE_FLAT_MISSES 0x48

/* Misses that swap. */
#define ANEMONE_FLAT_SWAPS 0x50

/* Reads of near memory that the accesses required. */
#define ANEMONE_FLAT_NEAR_READS 0x58

/* Writes of near memory that the accesses required. */
#define ANEMONE_FLAT_NEAR_WRITES 0x60

/* Reads of far memory that the accesses required. */
#define ANEMONE_FLAT_FAR_READS 0x68

/* Writes of far memory that the accesses required. */
#define ANEMONE_FLAT_FAR_WRITES 0x70

/* How many of these four were served from a swap in flight instead. */
#define ANEMONE_FLAT_FORWARDED 0x78

/* Reads and writes that near memory answered with an error. */
#define ANEMONE_FLAT_NEAR_ERRORS 0x80

/* Reads and writes that far memory answered with an error. */
#define ANEMONE_FLAT_FAR_ERRORS 0x88

/* Sets in which such an error disabled swapping. */
#define ANEMONE_FLAT_MARKED 0x90

/* Lines that near or far memory returned poisoned. */
#define ANEMONE_FLAT_POISONED 0x98

/* Reads of near memory with a corrected bit in the sideband. */
#define ANEMONE_FLAT_CORRECTED 0xa0

/*
 * Reads of near memory whose sideband failed its check; the access was answered with an
 * error.
 */
#define ANEMONE_FLAT_UNTRUSTED 0xa8

/* Responses of near or far memory that matched no outstanding request and were dropped. */
#define ANEMONE_FLAT_STRAYS 0xb0

/* Registers of pipeline i; ANEMONE_PIPELINE_* are offsets from there. */
#define ANEMONE_PIPELINE(i) (0x1000 + 0x100 * (i))
#define ANEMONE_PIPELINE_COUNT_MAX 32

/* Events that updated a counter. */
#define ANEMONE_PIPELINE_MATCHED 0x00

/* Events whose key has no table entry. */
#define ANEMONE_PIPELINE_UNMAPPED 0x08

/* Events whose index is past the last counter. */
#define ANEMONE_PIPELINE_OUT_OF_RANGE 0x10

/* Updates for which the predicate held. */
#define ANEMONE_PIPELINE_NOTIFICATIONS 0x18

/* Telemetry lines returned with bad parity. */
#define ANEMONE_PIPELINE_PARITY_ERRORS 0x20

/* The first counter for which the predicate held since the last acknowledge. */
#define ANEMONE_PIPELINE_NOTIFICATION 0x28
#define ANEMONE_PIPELINE_NOTIFICATION_VALID_SHIFT 0
#define ANEMONE_PIPELINE_NOTIFICATION_VALID_MASK 0x0000000000000001ULL
#define ANEMONE_PIPELINE_NOTIFICATION_CHANNEL_SHIFT 8
#define ANEMONE_PIPELINE_NOTIFICATION_CHANNEL_MASK 0x0000000000000300ULL
#define ANEMONE_PIPELINE_NOTIFICATION_INDEX_SHIFT 32
#define ANEMONE_PIPELINE_NOTIFICATION_INDEX_MASK 0x00ffffff00000000ULL

/* Commands to the pipeline. */
#define ANEMONE_PIPELINE_CONTROL 0x30
/* Zero all states, counts and table entries; status.clearing is 0 when it is done. */
#define ANEMONE_PIPELINE_CONTROL_CLEAR_SHIFT 0
#define ANEMONE_PIPELINE_CONTROL_CLEAR_MASK 0x0000000000000001ULL

/* State of the pipeline. */
#define ANEMONE_PIPELINE_STATUS 0x38
/* A clear is running: nothing is counted, lines read as zero, table writes wait. */
#define ANEMONE_PIPELINE_STATUS_CLEARING_SHIFT 0
#define ANEMONE_PIPELINE_STATUS_CLEARING_MASK 0x0000000000000001ULL

/* Entry pipeline << table_log2 | key. Each write changes one entry, between two events. */
#define ANEMONE_TABLE(i) (0x200000 + 8 * (i))
#define ANEMONE_TABLE_ENTRIES_MAX 262144
/*
 * Base index of the key. If it is past the last counter (2^counter_index_bits or more), its
 * events count as out_of_range.
 */
#define ANEMONE_TABLE_BASE_SHIFT 0
#define ANEMONE_TABLE_BASE_MASK 0x0000000000ffffffULL
/* The key has a base index. */
#define ANEMONE_TABLE_MAPPED_SHIFT 63
#define ANEMONE_TABLE_MAPPED_MASK 0x8000000000000000ULL

/* Codes of fault_memory. */
#define ANEMONE_FAULT_MEMORY_LINES 0   /* flat memory mode: lines of the sets in flight */
#define ANEMONE_FAULT_MEMORY_WRITES 1  /* flat memory mode: data of pending writes */
#define ANEMONE_FAULT_MEMORY_ANSWERS 2 /* flat memory mode: pending read responses */
#define ANEMONE_FAULT_MEMORY_LOOKUPS 3 /* flat memory mode: requests in the near lookup */
#define ANEMONE_FAULT_MEMORY_FETCHES 4 /* flat memory mode: queued reads of far memory */
#define ANEMONE_FAULT_MEMORY_EVENTS 5  /* flat memory mode: accesses not decided as hit or miss */
#define ANEMONE_FAULT_MEMORY_LEAVING_ANSWERS                                                       \
	6 /* flat memory mode: read responses in the output queue to the host */
#define ANEMONE_FAULT_MEMORY_LEAVING_LINES                                                         \
	7                                 /* flat memory mode: lines queued to near or far memory */
#define ANEMONE_FAULT_MEMORY_READ_ORDER 8 /* counts of reads issued and answered, per id */
#define ANEMONE_FAULT_MEMORY_WRITE_ORDER 9 /* counts of writes issued and answered, per id */
#define ANEMONE_FAULT_MEMORY_REGION_WRITES                                                         \
	16 /* writes into the telemetry region that wait for their data */
#define ANEMONE_FAULT_MEMORY_ACKNOWLEDGES 17 /* telemetry lines queued to be acknowledged */
#define ANEMONE_FAULT_MEMORY_TABLES                                                                \
	18 /* translation tables, with parity: an event whose entry has an error is unmapped */
#define ANEMONE_FAULT_MEMORY_WAITING_EVENTS                                                        \
	19 /* events that wait for a serial read-modify-write or an acknowledgement */
#define ANEMONE_FAULT_MEMORY_RESET_VALUES                                                          \
	20 /* the rules' reset values in all acknowledge units; reported for channel 0 */
#define ANEMONE_FAULT_MEMORY_MEMORY_DATA 21    /* on a board: queued read data */
#define ANEMONE_FAULT_MEMORY_MEMORY_ANSWERS 22 /* on a board: queued write responses */
#define ANEMONE_FAULT_MEMORY_ORDERED_EVENTS                                                        \
	23 /* flat memory mode: events that wait for a telemetry read */
#define ANEMONE_FAULT_MEMORY_ORDERED_READS                                                         \
	24 /* flat memory mode: telemetry reads that wait for events */
#define ANEMONE_FAULT_MEMORY_TELEMETRY_LINES 25 /* telemetry lines in the reorder buffer */
#define ANEMONE_FAULT_MEMORY_LINE_ORDER 26      /* destinations of the engine's next lines */
#define ANEMONE_FAULT_MEMORY_READY_LINES                                                           \
	27 /* prefetched telemetry lines: three copies with a majority vote */

/* Codes of near_filter. */
#define ANEMONE_NEAR_FILTER_ANY 0  /* all */
#define ANEMONE_NEAR_FILTER_HIT 1  /* near memory had the line, or the line is dedicated */
#define ANEMONE_NEAR_FILTER_MISS 2 /* near memory did not have the line */

/* Codes of counter_width. */
#define ANEMONE_COUNTER_WIDTH_BITS8 0  /* eight counters per state word */
#define ANEMONE_COUNTER_WIDTH_BITS16 1 /* four */
#define ANEMONE_COUNTER_WIDTH_BITS32 2 /* two */
#define ANEMONE_COUNTER_WIDTH_BITS64 3 /* one */

/* Codes of operand_source. */
#define ANEMONE_OPERAND_SOURCE_IMMEDIATE 0 /* rule_operand */
#define ANEMONE_OPERAND_SOURCE_LINE 1      /* the address of the request's 64 B line */
#define ANEMONE_OPERAND_SOURCE_IS_WRITE 2  /* 1 for a write, 0 for a read */

/* Codes of update_op. */
#define ANEMONE_UPDATE_OP_ADD 0    /* counter + operand */
#define ANEMONE_UPDATE_OP_SUB 1    /* counter - operand */
#define ANEMONE_UPDATE_OP_SHR 2    /* counter >> (operand mod 64) */
#define ANEMONE_UPDATE_OP_SHL 3    /* counter << (operand mod 64) */
#define ANEMONE_UPDATE_OP_XOR 4    /* counter ^ operand */
#define ANEMONE_UPDATE_OP_OR 5     /* counter | operand */
#define ANEMONE_UPDATE_OP_MAX 6    /* the larger one, unsigned */
#define ANEMONE_UPDATE_OP_ADDSAT 7 /* counter + operand, all ones on overflow */
#define ANEMONE_UPDATE_OP_MIN 8    /* the smaller one, unsigned */
#define ANEMONE_UPDATE_OP_SUBSAT 9 /* counter - operand, 0 on underflow */
#define ANEMONE_UPDATE_OP_LAST 10  /* operand */
#define ANEMONE_UPDATE_OP_EWMA2 11 /* counter + ((operand - counter) >> 1), rounded down */
#define ANEMONE_UPDATE_OP_EWMA4 12 /* counter + ((operand - counter) >> 2), rounded down */
#define ANEMONE_UPDATE_OP_EWMA8 13 /* counter + ((operand - counter) >> 3), rounded down */

/* Codes of predicate. */
#define ANEMONE_PREDICATE_NONE 0          /* never */
#define ANEMONE_PREDICATE_EQUAL 1         /* counter = operand */
#define ANEMONE_PREDICATE_GREATER_EQUAL 2 /* counter >= operand, unsigned, as all below */
#define ANEMONE_PREDICATE_GREATER 3       /* counter > operand */
#define ANEMONE_PREDICATE_LESS 4          /* counter < operand */
#define ANEMONE_PREDICATE_LESS_EQUAL 5    /* counter <= operand */

/* Codes of read_effect. */
#define ANEMONE_READ_EFFECT_NONE 0  /* the counters stay */
#define ANEMONE_READ_EFFECT_RESET 1 /* the counters become the operand */
#define ANEMONE_READ_EFFECT_OP 2    /* the counters are updated by effect_op */

/* Codes of swap_policy. */
#define ANEMONE_SWAP_POLICY_EVERY 0  /* at every miss */
#define ANEMONE_SWAP_POLICY_NTH 1    /* at the n-th consecutive miss to a line of a set, n <= 255 */
#define ANEMONE_SWAP_POLICY_ONE_IN 2 /* at every n-th miss of the channel */
#define ANEMONE_SWAP_POLICY_NEVER 3  /* never */

#endif /* ANEMONE_REGS_H */
