/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One value out of those of several channels and controllers, by the update's own combine rule
 * (NEMO, section 3.2): as if every event had come to one counter.
 *
 * `start` is what the counters start from, each of them: the value that a read resets them to,
 * else 0. ADD and SUB: the sum of the changes. ADDSAT: likewise, stopping at the largest value.
 * XOR, OR, MAX: themselves. SHR, SHL: start shifted by the sum of the shifts, which each value
 * tells by its highest or lowest set bit (all are lost in one that became 0: so is the whole).
 */
#ifndef ANEMONE_FOLD_H
#define ANEMONE_FOLD_H

#include <linux/types.h>

u64 anemone_fold(unsigned int op, unsigned int width, u64 start, const u64 *values,
		 unsigned int count);

/* The same `count` times: of `each` values after each other one. */
void anemone_fold_all(unsigned int op, unsigned int width, u64 start, const u64 *values,
		      unsigned int each, unsigned int count, u64 *folded);

/* The lowest `width` bits. */
static inline u64 anemone_truncate(u64 value, unsigned int width)
{
	return value & (~0ULL >> (64 - width));
}

#endif
