// SPDX-License-Identifier: GPL-2.0
/* Registers and telemetry lines of one controller (docs/expander.md). */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "hw.h"

/*
 * A clear goes through table and states in 8192 cycles, 20 us at 400 MHz. A simulator may be slower
 * by any factor, so reads are counted, too: a read takes at least eight cycles on any bus, so a
 * clear has ended after an eighth as many reads as it has cycles.
 */
#define CLEAR_TIMEOUT_MS 2000
#define CYCLES_OF_A_READ 8

/*
 * Accepted requests end within a few memory latencies (microseconds); this many reads take at least
 * 20 ms.
 */
#define QUIET_READS 1000

/* Whether the device must not be accessed: it is suspended, removed or given up. */
static bool anemone_hw_inaccessible(const struct anemone_hw *hw)
{
	return READ_ONCE(hw->down) || READ_ONCE(hw->failed);
}

u64 anemone_hw_read(struct anemone_hw *hw, u32 offset)
{
	if (anemone_hw_inaccessible(hw))
		return 0;
	return hw->io->read(hw, offset);
}

void anemone_hw_write(struct anemone_hw *hw, u32 offset, u64 value)
{
	if (anemone_hw_inaccessible(hw))
		return;
	hw->io->write(hw, offset, value);
}

void anemone_hw_fail(struct anemone_hw *hw, const char *why)
{
	/* Atomic, because an invalidation calls this without the controller's lock. */
	if (xchg(&hw->failed, true))
		return;
	dev_err(hw->dev, "given up: %s; remove the device and scan for it again\n", why);
	if (hw->on_failure)
		hw->on_failure(hw);
}

bool anemone_hw_alive(struct anemone_hw *hw)
{
	u64 id;

	if (anemone_hw_inaccessible(hw))
		return false;
	id = hw->io->read(hw, ANEMONE_ID);
	if (id == ANEMONE_ID_MAGIC_VALUE)
		return true;
	anemone_hw_fail(hw, id == ~0ULL ? "it reads as all ones" : "its identity has changed");
	return false;
}

int anemone_hw_identify(struct anemone_hw *hw)
{
	struct anemone_shape *shape = &hw->shape;
	u64 capability, version;

	if (anemone_hw_read(hw, ANEMONE_ID) != ANEMONE_ID_MAGIC_VALUE)
		return -ENODEV;
	version = anemone_hw_read(hw, ANEMONE_VERSION);
	capability = anemone_hw_read(hw, ANEMONE_CAPABILITY);
	*shape = (struct anemone_shape){
		.version = version,
		.pipelines = ANEMONE_GET(CAPABILITY_PIPELINES, capability),
		.channels = ANEMONE_GET(CAPABILITY_CHANNELS, capability),
		.table_log2 = ANEMONE_GET(CAPABILITY_TABLE_LOG2, capability),
		.address_bits = ANEMONE_GET(CAPABILITY_ADDRESS_BITS, capability),
		.features = anemone_hw_read(hw, ANEMONE_FEATURES),
		.window = anemone_hw_read(hw, ANEMONE_WINDOW),
	};
	shape->flat = ANEMONE_GET(FEATURES_FLAT_MEMORY, shape->features);
	if (ANEMONE_GET(VERSION_MAJOR, version) != ANEMONE_VERSION_MAJOR_VALUE) {
		dev_err(hw->dev, "register map %llu.%llu is not known, this driver is for %llu\n",
			ANEMONE_GET(VERSION_MAJOR, version), ANEMONE_GET(VERSION_MINOR, version),
			ANEMONE_VERSION_MAJOR_VALUE);
		return -EPROTO;
	}
	/* The device reports these sizes, so check those that index arrays here. */
	if (!shape->pipelines || shape->pipelines > ANEMONE_PIPELINE_COUNT_MAX ||
	    !shape->channels || shape->channels > ANEMONE_CHANNELS_MAX ||
	    !is_power_of_2(shape->channels) || shape->table_log2 > 18 ||
	    ((u64)shape->pipelines << shape->table_log2) > ANEMONE_TABLE_ENTRIES_MAX ||
	    ANEMONE_GET(CAPABILITY_STATES_LOG2, capability) < 3 ||
	    ANEMONE_GET(CAPABILITY_STATES_LOG2, capability) > 21 || shape->address_bits > 52 ||
	    shape->address_bits < 12)
		goto senseless;
	shape->states = 1U << ANEMONE_GET(CAPABILITY_STATES_LOG2, capability);
	if (!is_power_of_2(shape->window) ||
	    shape->window < (u64)shape->pipelines * shape->channels * anemone_lines(shape) *
				    ANEMONE_LINE_BYTES)
		goto senseless;
	return 0;
senseless:
	dev_err(hw->dev, "capability %#llx with window %#llx makes no sense\n", capability,
		shape->window);
	return -EPROTO;
}

static void anemone_hw_acknowledge_all(struct anemone_hw *hw)
{
	anemone_hw_write(hw, ANEMONE_ERROR_STATUS, ~0ULL);
	anemone_hw_write(hw, ANEMONE_INTERRUPT_ACKNOWLEDGE, ~0ULL);
}

/* Register map 1.1 added the quiesce registers. */
static bool anemone_hw_can_quiesce(const struct anemone_hw *hw)
{
	return ANEMONE_GET(VERSION_MINOR, hw->shape.version) >= 1;
}

int anemone_hw_quiesce(struct anemone_hw *hw)
{
	unsigned int reads;

	if (!anemone_hw_can_quiesce(hw))
		return -EOPNOTSUPP;
	anemone_hw_write(hw, ANEMONE_QUIESCE, ANEMONE_PUT(QUIESCE_STOP, 1));
	for (reads = 0; reads < QUIET_READS; reads++) {
		u64 status = anemone_hw_read(hw, ANEMONE_QUIESCE_STATUS);

		if (anemone_hw_inaccessible(hw) || (status == ~0ULL && !anemone_hw_alive(hw)))
			return -EIO;
		if (ANEMONE_GET(QUIESCE_STATUS_QUIET, status))
			return 0;
		usleep_range(20, 100);
	}
	return -ETIMEDOUT;
}

/* Whether the device answers, and its region is still where the host reads it. */
static bool anemone_hw_region_alive(struct anemone_hw *hw)
{
	if (!anemone_hw_alive(hw))
		return false;
	if (!hw->region_moved || !hw->region_moved(hw))
		return true;
	anemone_hw_abandon(hw, "its telemetry region is not where it was");
	return false;
}

/* Counters that were just cleared read as zero; a missing region or other memory does not. */
static int anemone_hw_check_region(struct anemone_hw *hw)
{
	u64 words[ANEMONE_CHANNELS_MAX * ANEMONE_LINE_WORDS];
	int err;

	/* A read returns after posted writes, so the windows are in place now. */
	if (!anemone_hw_alive(hw))
		return -EIO;
	err = anemone_hw_lines(hw, 0, hw->snapshot, 0, 1, words);
	if (!err && memchr_inv(words, 0, hw->shape.channels * ANEMONE_LINE_BYTES)) {
		anemone_hw_abandon(hw, "its telemetry region does not answer");
		err = -EIO;
	}
	return err;
}

int anemone_hw_start(struct anemone_hw *hw, u64 region_bytes)
{
	static const struct anemone_rule off;
	u64 window = hw->shape.window;
	unsigned int pipeline;
	int err;

	hw->stale_vectors = 0;
	/* If no reset followed a quiesce, memory would stay stopped for ever. */
	if (anemone_hw_can_quiesce(hw))
		anemone_hw_write(hw, ANEMONE_QUIESCE, 0);
	/* A window begins at a multiple of its size, wherever the region begins. */
	hw->effect = ALIGN(hw->region, window) - hw->region;
	hw->snapshot = hw->effect + window;
	/* The device reports the window's size, so these comparisons must not overflow. */
	if (hw->region + region_bytes - 1 < hw->region || window > region_bytes / 2 ||
	    hw->effect > region_bytes - 2 * window) {
		dev_err(hw->dev, "no room for two windows of %#llx in a region of %#llx at %#llx\n",
			window, region_bytes, hw->region);
		return -EPROTO;
	}
	hw->acknowledge = 0;
	if (ANEMONE_GET(FEATURES_ACKNOWLEDGES, hw->shape.features) &&
	    hw->snapshot <= region_bytes - 2 * window)
		hw->acknowledge = hw->snapshot + window;
	anemone_hw_write(hw, ANEMONE_INTERRUPT_ENABLE, 0);
	for (pipeline = 0; pipeline < hw->shape.pipelines; pipeline++) {
		anemone_hw_commit(hw, pipeline, &off);
		err = anemone_hw_clear(hw, pipeline);
		if (err)
			return err;
	}
	/* A window must not lie over other memory, not even for a moment. */
	if (!anemone_hw_region_alive(hw))
		return -EIO;
	anemone_hw_write(hw, ANEMONE_EFFECT_WINDOW,
			 (hw->region + hw->effect) | ANEMONE_PUT(EFFECT_WINDOW_ENABLE, 1));
	anemone_hw_write(hw, ANEMONE_SNAPSHOT_WINDOW,
			 (hw->region + hw->snapshot) | ANEMONE_PUT(SNAPSHOT_WINDOW_ENABLE, 1));
	if (hw->acknowledge)
		anemone_hw_write(hw, ANEMONE_ACKNOWLEDGE_WINDOW,
				 (hw->region + hw->acknowledge) |
					 ANEMONE_PUT(ACKNOWLEDGE_WINDOW_ENABLE, 1));
	anemone_hw_acknowledge_all(hw);
	anemone_hw_write(hw, ANEMONE_ERROR_ENABLE,
			 ANEMONE_ERROR_STATUS_PARITY_MASK | ANEMONE_ERROR_STATUS_UNCORRECTED_MASK);
	anemone_hw_write(hw, ANEMONE_INTERRUPT_ENABLE, ~0ULL);
	return anemone_hw_check_region(hw);
}

void anemone_hw_stop(struct anemone_hw *hw)
{
	static const struct anemone_rule off;
	unsigned int pipeline;

	anemone_hw_write(hw, ANEMONE_INTERRUPT_ENABLE, 0);
	for (pipeline = 0; pipeline < hw->shape.pipelines; pipeline++)
		anemone_hw_commit(hw, pipeline, &off);
	anemone_hw_write(hw, ANEMONE_EFFECT_WINDOW, 0);
	anemone_hw_write(hw, ANEMONE_SNAPSHOT_WINDOW, 0);
	if (hw->acknowledge)
		anemone_hw_write(hw, ANEMONE_ACKNOWLEDGE_WINDOW, 0);
	anemone_hw_acknowledge_all(hw);
}

void anemone_hw_abandon(struct anemone_hw *hw, const char *why)
{
	anemone_hw_stop(hw);
	anemone_hw_fail(hw, why);
}

int anemone_hw_clear(struct anemone_hw *hw, unsigned int pipeline)
{
	u32 at = ANEMONE_PIPELINE(pipeline);
	ktime_t limit = ktime_add_ms(ktime_get(), CLEAR_TIMEOUT_MS);
	unsigned int cycles = max(1U << hw->shape.table_log2, anemone_lines(&hw->shape));
	unsigned int reads = cycles / CYCLES_OF_A_READ;
	u64 status;

	/* A clear empties the latch, and so the pending bit, but its message may be on its way. */
	hw->stale_vectors |= anemone_hw_read(hw, ANEMONE_INTERRUPT_PENDING) & (2ULL << pipeline);
	anemone_hw_write(hw, at + ANEMONE_PIPELINE_CONTROL, ANEMONE_PIPELINE_CONTROL_CLEAR_MASK);
	for (;;) {
		bool late = ktime_after(ktime_get(), limit);

		status = anemone_hw_read(hw, at + ANEMONE_PIPELINE_STATUS);
		if (status == ~0ULL && !anemone_hw_alive(hw))
			break;
		if (!ANEMONE_GET(PIPELINE_STATUS_CLEARING, status))
			break;
		if (late && !reads) {
			anemone_hw_abandon(hw, "a clear does not end");
			break;
		}
		reads -= !!reads;
		usleep_range(20, 100);
	}
	/* A clear does not re-arm the interrupt vector. */
	anemone_hw_write(hw, ANEMONE_INTERRUPT_ACKNOWLEDGE, 2ULL << pipeline);
	return READ_ONCE(hw->failed) ? -EIO : 0;
}

void anemone_hw_commit(struct anemone_hw *hw, unsigned int pipeline,
		       const struct anemone_rule *rule)
{
	anemone_hw_write(hw, ANEMONE_RULE_START, rule->start);
	anemone_hw_write(hw, ANEMONE_RULE_END, rule->end);
	anemone_hw_write(hw, ANEMONE_RULE_PRIMARY_MASK, rule->primary_mask);
	anemone_hw_write(hw, ANEMONE_RULE_SUB_MASK, rule->sub_mask);
	anemone_hw_write(hw, ANEMONE_RULE_SHIFTS, rule->shifts);
	if (rule->hash) /* the register exists only where hashes are built in */
		anemone_hw_write(hw, ANEMONE_RULE_HASH, rule->hash);
	anemone_hw_write(hw, ANEMONE_RULE_OPERAND, rule->operand);
	anemone_hw_write(hw, ANEMONE_RULE_NOTIFY_OPERAND, rule->notify_operand);
	anemone_hw_write(hw, ANEMONE_RULE_EFFECT_OPERAND, rule->effect_operand);
	anemone_hw_write(hw, ANEMONE_RULE_CONTROL, rule->control);
	anemone_hw_write(hw, ANEMONE_RULE_COMMIT, ANEMONE_PUT(RULE_COMMIT_PIPELINE, pipeline));
	/* Writes are posted; a read returns after them. */
	anemone_hw_read(hw, ANEMONE_RULE_CONTROL);
}

void anemone_hw_map(struct anemone_hw *hw, unsigned int pipeline, u64 key, u32 base, bool mapped)
{
	u64 entry = ((u64)pipeline << hw->shape.table_log2) | key;

	anemone_hw_write(hw, ANEMONE_TABLE(entry),
			 mapped ? ANEMONE_PUT(TABLE_MAPPED, 1) | ANEMONE_PUT(TABLE_BASE, base) : 0);
}

void anemone_hw_counts(struct anemone_hw *hw, unsigned int pipeline, struct anemone_counts *counts)
{
	u32 at = ANEMONE_PIPELINE(pipeline);

	counts->matched = anemone_hw_read(hw, at + ANEMONE_PIPELINE_MATCHED);
	counts->unmapped = anemone_hw_read(hw, at + ANEMONE_PIPELINE_UNMAPPED);
	counts->out_of_range = anemone_hw_read(hw, at + ANEMONE_PIPELINE_OUT_OF_RANGE);
	counts->notifications = anemone_hw_read(hw, at + ANEMONE_PIPELINE_NOTIFICATIONS);
	counts->parity_errors = anemone_hw_read(hw, at + ANEMONE_PIPELINE_PARITY_ERRORS);
}

static u64 anemone_hw_line_offset(const struct anemone_hw *hw, unsigned int pipeline,
				  unsigned int first)
{
	const struct anemone_shape *shape = &hw->shape;

	return ((u64)pipeline * anemone_lines(shape) + first) * shape->channels *
	       ANEMONE_LINE_BYTES;
}

int anemone_hw_lines(struct anemone_hw *hw, unsigned int pipeline, u64 window, unsigned int first,
		     unsigned int lines, u64 *words)
{
	unsigned int all = lines * hw->shape.channels;

	if (anemone_hw_inaccessible(hw))
		return -EIO;
	hw->io->read_lines(hw, window + anemone_hw_line_offset(hw, pipeline, first), all, words);
	/* A device that dropped off the bus reads as all ones, but so may counters. */
	if (words[0] != ~0ULL && words[all * ANEMONE_LINE_WORDS - 1] != ~0ULL)
		return 0;
	return anemone_hw_region_alive(hw) ? 0 : -EIO;
}

int anemone_hw_acknowledge(struct anemone_hw *hw, unsigned int pipeline, unsigned int first,
			   unsigned int lines, u64 *words)
{
	u64 where = hw->acknowledge + anemone_hw_line_offset(hw, pipeline, first);
	unsigned int channels = hw->shape.channels, last = (lines - 1) * channels;

	if (anemone_hw_inaccessible(hw))
		return -EIO;
	hw->io->write_lines(hw, where, lines * channels, words);
	/* Writes are posted; on each channel a read of the last line returns after them. */
	hw->io->read_lines(hw, where + last * ANEMONE_LINE_BYTES, channels, words);
	return 0;
}
