/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of the mock: their position in words, and their updates. */
#ifndef ANEMONE_KUNIT_MOCK_COUNTER_H
#define ANEMONE_KUNIT_MOCK_COUNTER_H

#include <linux/minmax.h>

#include "../fold.h"
#include "mock.h"

/* By the hardware's codes. */
static inline u64 update(unsigned int code, unsigned int width, u64 counter, u64 operand)
{
	u64 limit = ~0ULL >> (64 - width);
	unsigned int shift = operand % 64;

	operand &= limit;
	switch (code) {
	case ANEMONE_UPDATE_OP_ADD:
		return (counter + operand) & limit;
	case ANEMONE_UPDATE_OP_SUB:
		return (counter - operand) & limit;
	case ANEMONE_UPDATE_OP_SHR:
		return shift >= width ? 0 : counter >> shift;
	case ANEMONE_UPDATE_OP_SHL:
		return shift >= width ? 0 : counter << shift & limit;
	case ANEMONE_UPDATE_OP_XOR:
		return counter ^ operand;
	case ANEMONE_UPDATE_OP_OR:
		return counter | operand;
	case ANEMONE_UPDATE_OP_MAX:
		return max(counter, operand);
	case ANEMONE_UPDATE_OP_MIN:
		return min(counter, operand);
	case ANEMONE_UPDATE_OP_SUBSAT:
		return operand > counter ? 0 : counter - operand;
	case ANEMONE_UPDATE_OP_LAST:
		return operand;
	case ANEMONE_UPDATE_OP_EWMA2:
	case ANEMONE_UPDATE_OP_EWMA4:
	case ANEMONE_UPDATE_OP_EWMA8:
		shift = code - ANEMONE_UPDATE_OP_EWMA2 + 1;
		if (operand >= counter)
			return counter + ((operand - counter) >> shift);
		return counter - ((counter - operand) >> shift) -
		       !!((counter - operand) & ((1 << shift) - 1));
	default:
		return operand > limit - counter ? limit : counter + operand;
	}
}

static inline u64 get_counter(u64 word, unsigned int width, unsigned int index)
{
	return anemone_truncate(word >> (index * width % 64), width);
}

static inline unsigned int width_of(const struct anemone_rule *rule)
{
	return 8U << ANEMONE_GET(RULE_CONTROL_COUNTER_WIDTH, rule->control);
}

static inline u64 put_counter(u64 word, unsigned int width, unsigned int index, u64 value)
{
	unsigned int shift = index * width % 64;

	return (word & ~(~0ULL >> (64 - width) << shift)) | value << shift;
}

#endif
