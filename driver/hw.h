/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One controller's hardware: its registers, and its telemetry region.
 *
 * All of it goes through struct anemone_io, so that the same code runs on PCI and, in the KUnit
 * suite, on a mock. Callers hold the controller's lock; only anemone_hw_map, _alive and _fail may
 * be called without it, and from atomic context.
 */
#ifndef ANEMONE_HW_H
#define ANEMONE_HW_H

#include <linux/types.h>

#include "include/anemone_regs.h"

struct device;
struct anemone_hw;

#define ANEMONE_LINE_WORDS 8 /* of 64 bits, in a line of the telemetry region */
#define ANEMONE_LINE_BYTES (8 * ANEMONE_LINE_WORDS)
#define ANEMONE_CHANNELS_MAX 4

/* Value of a field in a word, and back. */
#define ANEMONE_GET(field, word) (((word) & ANEMONE_##field##_MASK) >> ANEMONE_##field##_SHIFT)
#define ANEMONE_PUT(field, value)                                                                  \
	(((u64)(value) << ANEMONE_##field##_SHIFT) & ANEMONE_##field##_MASK)

struct anemone_io {
	u64 (*read)(struct anemone_hw *hw, u32 offset);
	void (*write)(struct anemone_hw *hw, u32 offset, u64 value);
	/* Whole lines of the telemetry region; each by one access if the hardware's loads_once. */
	void (*read_lines)(struct anemone_hw *hw, u64 where, unsigned int lines, u64 *words);
	/* Each by one access, for who has stores_whole. */
	void (*write_lines)(struct anemone_hw *hw, u64 where, unsigned int lines, const u64 *words);
};

/* What the identity and capability registers say. */
struct anemone_shape {
	u32 version; /* major << 16 | minor */
	unsigned int pipelines, channels;
	unsigned int states; /* words of 64 bits of a pipeline on a channel */
	unsigned int table_log2;
	unsigned int address_bits;
	u64 features;
	u64 window; /* bytes of a telemetry window */
	bool flat;
};

struct anemone_hw {
	const struct anemone_io *io;
	struct device *dev;
	struct anemone_shape shape;
	u64 region;	   /* device address of the telemetry region's first byte */
	u64 stale_vectors; /* vectors whose message may come though a clear took its cause away */
	/* The windows' offsets in the region; of acknowledge, 0: there is none. */
	u64 effect, snapshot, acknowledge;
	bool atomic_loads, atomic_stores; /* what this processor does with lines */
	bool down;			  /* must not be touched: suspended, in reset, or gone */
	bool failed;			  /* given up, see anemone_hw_fail */
	void (*on_failure)(struct anemone_hw *hw);
	/* Whether the host has the region elsewhere by now; NULL: it goes with the registers. */
	bool (*region_moved)(struct anemone_hw *hw);
	void __iomem *registers, *lines; /* of the PCI implementation */
};

/* A rule as the registers rule_* take it. */
struct anemone_rule {
	u64 control, start, end, primary_mask, sub_mask, shifts, operand, notify_operand,
		effect_operand;
};

struct anemone_counts {
	u64 matched, unmapped, out_of_range, notifications, parity_errors;
};

/* Of a device that is down or given up, 0. */
u64 anemone_hw_read(struct anemone_hw *hw, u32 offset);
void anemone_hw_write(struct anemone_hw *hw, u32 offset, u64 value);

/* Identity and sizes into hw->shape; -ENODEV: not an Anemone, -EPROTO: one that is not understood.
 */
int anemone_hw_identify(struct anemone_hw *hw);
/* Everything off and clear, windows open, errors and interrupts enabled. */
int anemone_hw_start(struct anemone_hw *hw, u64 region_bytes);
void anemone_hw_stop(struct anemone_hw *hw);
/*
 * Before a reset: memory's ports take no request, until the next anemone_hw_start, and 0 says that
 * all they took is finished; -ETIMEDOUT: it does not end, -EOPNOTSUPP: before register map 1.1.
 */
int anemone_hw_quiesce(struct anemone_hw *hw);

/* Zero states, table and counts; takes as many cycles as there are. -EIO when it does not end. */
int anemone_hw_clear(struct anemone_hw *hw, unsigned int pipeline);
/* Applies, when it returns, to every event on every channel that the device takes from then on. */
void anemone_hw_commit(struct anemone_hw *hw, unsigned int pipeline,
		       const struct anemone_rule *rule);
/* Posted; takes effect between two events. */
void anemone_hw_map(struct anemone_hw *hw, unsigned int pipeline, u64 key, u32 base, bool mapped);
void anemone_hw_counts(struct anemone_hw *hw, unsigned int pipeline, struct anemone_counts *counts);
/*
 * Lines of all channels, through the window hw->effect, hw->snapshot or hw->acknowledge:
 * words[(line * channels + channel) * 8 + word].
 */
int anemone_hw_lines(struct anemone_hw *hw, unsigned int pipeline, u64 window, unsigned int first,
		     unsigned int lines, u64 *words);
/*
 * Takes such lines, which were read through hw->acknowledge, away from the counters, which have
 * changed when it returns. Overwrites `words`.
 */
int anemone_hw_acknowledge(struct anemone_hw *hw, unsigned int pipeline, unsigned int first,
			   unsigned int lines, u64 *words);
/* Whether the device still answers; gives it up otherwise. */
bool anemone_hw_alive(struct anemone_hw *hw);
/* Gives the device up: says so once, and every later call is refused with -EIO. */
void anemone_hw_fail(struct anemone_hw *hw, const char *why);
/* The same, of a device that answers: its windows are closed and its rules off before. */
void anemone_hw_abandon(struct anemone_hw *hw, const char *why);

static inline unsigned int anemone_lines(const struct anemone_shape *shape)
{
	return shape->states / ANEMONE_LINE_WORDS;
}

#endif
