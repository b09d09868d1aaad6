/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Combines the counters of several channels and controllers into one value, by the combine rule of
 * the update (NEMO, section 3.2). The result is what one counter of all events would have.
 *
 * `start` is what each counter starts from: the value that a read resets it to, else 0. ADD and SUB
 * sum the changes. ADDSAT sums them up to the largest value, SUBSAT down to 0. XOR, OR, MAX and MIN
 * combine the values. LAST and averages have no such rule: the order of events on several channels
 * is not known.
 * SHR and SHL shift `start` by the sum of all shifts; the highest or lowest set bit of a value
 * tells its shift. If one value has become 0, the result is 0.
 */
#ifndef ANEMONE_FOLD_H
#define ANEMONE_FOLD_H

#include <linux/types.h>

u64 anemone_fold(unsigned int op, unsigned int width, u64 start, const u64 *values,
		 unsigned int count);

/* Whether `count` values of an op fold. */
bool anemone_folds(unsigned int op, unsigned int count);

/* Folds `count` groups of `each` values, one group after the other. */
void anemone_fold_all(unsigned int op, unsigned int width, u64 start, const u64 *values,
		      unsigned int each, unsigned int count, u64 *folded);

/* The lowest `width` bits. */
static inline u64 anemone_truncate(u64 value, unsigned int width)
{
	return value & (~0ULL >> (64 - width));
}

#endif
