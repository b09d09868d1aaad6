/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One controller's hardware: its registers, and its telemetry region.
 *
 * All accesses go through struct anemone_io, so that the same code runs on PCI and on KUnit's mock.
 * Callers hold the controller's lock. Only anemone_hw_map, _alive and _fail may be called without
 * it, also in atomic context.
 */
#ifndef ANEMONE_HW_H
#define ANEMONE_HW_H

#include <linux/types.h>

#include "include/anemone_regs.h"

struct device;
struct anemone_hw;

#define ANEMONE_LINE_WORDS 8 /* 64-bit words of a line of the telemetry region */
#define ANEMONE_LINE_BYTES (8 * ANEMONE_LINE_WORDS)
#define ANEMONE_CHANNELS_MAX 4

/* Extracts a field of a word, or puts a value into it. */
#define ANEMONE_GET(field, word) (((word) & ANEMONE_##field##_MASK) >> ANEMONE_##field##_SHIFT)
#define ANEMONE_PUT(field, value)                                                                  \
	(((u64)(value) << ANEMONE_##field##_SHIFT) & ANEMONE_##field##_MASK)

struct anemone_io {
	u64 (*read)(struct anemone_hw *hw, u32 offset);
	void (*write)(struct anemone_hw *hw, u32 offset, u64 value);
	/* Reads whole lines of the telemetry region, each by one access if atomic_loads is set. */
	void (*read_lines)(struct anemone_hw *hw, u64 where, unsigned int lines, u64 *words);
	/* Writes whole lines, each by one access; only if atomic_stores is set. */
	void (*write_lines)(struct anemone_hw *hw, u64 where, unsigned int lines, const u64 *words);
};

/* Contents of the identity and capability registers. */
struct anemone_shape {
	u32 version; /* major << 16 | minor */
	unsigned int pipelines, channels;
	unsigned int states; /* 64-bit words per pipeline and channel */
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
	u64 stale_vectors; /* vectors whose message may come after a clear removed its cause */
	/* Offsets of the windows in the region; acknowledge is 0 if there is no such window. */
	u64 effect, snapshot, acknowledge;
	bool atomic_loads, atomic_stores; /* whether this processor accesses a line at once */
	bool down;			  /* must not be touched: suspended, in reset, or gone */
	bool failed;			  /* given up: anemone_hw_fail */
	void (*on_failure)(struct anemone_hw *hw);
	/* Whether the host has moved the region; NULL: it moves with the registers. */
	bool (*region_moved)(struct anemone_hw *hw);
	void __iomem *registers, *lines; /* of mmio.c */
};

/* A rule in the layout of the registers rule_*. */
struct anemone_rule {
	u64 control, start, end, primary_mask, sub_mask, shifts, hash, operand, notify_operand,
		effect_operand;
};

struct anemone_counts {
	u64 matched, unmapped, out_of_range, notifications, parity_errors;
};

/* Returns 0 if the device is down or given up. */
u64 anemone_hw_read(struct anemone_hw *hw, u32 offset);
void anemone_hw_write(struct anemone_hw *hw, u32 offset, u64 value);

/* Reads identity and sizes into hw->shape; -ENODEV: not an Anemone; -EPROTO: not supported. */
int anemone_hw_identify(struct anemone_hw *hw);
/* Disables and clears everything, opens the windows, enables errors and interrupts. */
int anemone_hw_start(struct anemone_hw *hw, u64 region_bytes);
void anemone_hw_stop(struct anemone_hw *hw);
/*
 * Before a reset: stops memory requests until the next anemone_hw_start. 0: all accepted requests
 * have ended; -ETIMEDOUT: they do not end; -EOPNOTSUPP: before register map 1.1.
 */
int anemone_hw_quiesce(struct anemone_hw *hw);

/* Zeroes states, table and counts, one a cycle; -EIO if that does not end. */
int anemone_hw_clear(struct anemone_hw *hw, unsigned int pipeline);
/* On return, applies to every event that any channel accepts from then on. */
void anemone_hw_commit(struct anemone_hw *hw, unsigned int pipeline,
		       const struct anemone_rule *rule);
/* Posted; takes effect between two events. */
void anemone_hw_map(struct anemone_hw *hw, unsigned int pipeline, u64 key, u32 base, bool mapped);
void anemone_hw_counts(struct anemone_hw *hw, unsigned int pipeline, struct anemone_counts *counts);
/*
 * Reads lines of all channels through the window hw->effect, hw->snapshot or hw->acknowledge:
 * words[(line * channels + channel) * 8 + word].
 */
int anemone_hw_lines(struct anemone_hw *hw, unsigned int pipeline, u64 window, unsigned int first,
		     unsigned int lines, u64 *words);
/*
 * Takes lines that were read through hw->acknowledge away from the counters; done on return.
 * Overwrites `words`.
 */
int anemone_hw_acknowledge(struct anemone_hw *hw, unsigned int pipeline, unsigned int first,
			   unsigned int lines, u64 *words);
/* Whether the device still answers; if not, gives it up. */
bool anemone_hw_alive(struct anemone_hw *hw);
/* Gives the device up: logs why, once, and later calls fail with -EIO. */
void anemone_hw_fail(struct anemone_hw *hw, const char *why);
/* The same for a device that still answers: closes its windows and disables its rules first. */
void anemone_hw_abandon(struct anemone_hw *hw, const char *why);

static inline unsigned int anemone_lines(const struct anemone_shape *shape)
{
	return shape->states / ANEMONE_LINE_WORDS;
}

#endif
