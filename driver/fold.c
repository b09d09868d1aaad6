// SPDX-License-Identifier: GPL-2.0
/* Combines the counters of several channels into one value. */
#include <linux/bitops.h>
#include <linux/minmax.h>

#include "fold.h"
#include "include/uapi/linux/anemone.h"

static u64 anemone_fold_shifts(bool right, unsigned int width, u64 start, const u64 *values,
			       unsigned int count)
{
	unsigned int shift = 0;

	while (count--) {
		u64 value = *values++;

		if (!value)
			return 0;
		shift += right ? fls64(start) - fls64(value) : __ffs64(value) - __ffs64(start);
	}
	if (shift >= width)
		return 0;
	return anemone_truncate(right ? start >> shift : start << shift, width);
}

u64 anemone_fold(unsigned int op, unsigned int width, u64 start, const u64 *values,
		 unsigned int count)
{
	u64 limit = ~0ULL >> (64 - width);
	u64 all = start &= limit;
	unsigned int i;

	if (op == ANEMONE_OP_SHR || op == ANEMONE_OP_SHL)
		return start ? anemone_fold_shifts(op == ANEMONE_OP_SHR, width, start, values,
						   count)
			     : 0;
	for (i = 0; i < count; i++) {
		u64 change = (values[i] - start) & limit;

		switch (op) {
		case ANEMONE_OP_ADDSAT:
			all = change > limit - all ? limit : all + change;
			break;
		case ANEMONE_OP_XOR:
			all ^= values[i] ^ start;
			break;
		case ANEMONE_OP_OR:
			all |= values[i];
			break;
		case ANEMONE_OP_MAX:
			all = max(all, values[i]);
			break;
		case ANEMONE_OP_MIN:
			all = min(all, values[i]);
			break;
		case ANEMONE_OP_SUBSAT:
			change = (start - values[i]) & limit;
			all = change > all ? 0 : all - change;
			break;
		case ANEMONE_OP_LAST:
		case ANEMONE_OP_EWMA2:
		case ANEMONE_OP_EWMA4:
		case ANEMONE_OP_EWMA8:
			all = values[i]; /* the only one */
			break;
		default: /* ADD, SUB */
			all = (all + change) & limit;
		}
	}
	return all;
}

bool anemone_folds(unsigned int op, unsigned int count)
{
	return op < ANEMONE_OP_LAST || count == 1;
}

void anemone_fold_all(unsigned int op, unsigned int width, u64 start, const u64 *values,
		      unsigned int each, unsigned int count, u64 *folded)
{
	u64 base = start * (each - 1);
	unsigned int i;

	if (op != ANEMONE_OP_ADD && op != ANEMONE_OP_SUB) {
		for (; count--; values += each)
			*folded++ = anemone_fold(op, width, start, values, each);
		return;
	}
	/* The fast path: most telemetries add, and folding is most of the work of a poll. */
	while (count--) {
		u64 sum = 0;

		for (i = 0; i < each; i++)
			sum += *values++;
		*folded++ = anemone_truncate(sum - base, width);
	}
}
