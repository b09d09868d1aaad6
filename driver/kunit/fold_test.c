// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../fold.h"
#include "../include/uapi/linux/anemone.h"

/* A plain counter, as the reference for folding. */
static u64 step(unsigned int op, unsigned int width, u64 value, u64 operand)
{
	u64 limit = ~0ULL >> (64 - width);
	unsigned int i;

	switch (op) {
	case ANEMONE_OP_ADD:
		return (value + operand) & limit;
	case ANEMONE_OP_SUB:
		return (value - operand) & limit;
	case ANEMONE_OP_XOR:
		return (value ^ operand) & limit;
	case ANEMONE_OP_OR:
		return (value | operand) & limit;
	case ANEMONE_OP_MAX:
		return max(value, operand & limit);
	case ANEMONE_OP_ADDSAT:
		operand &= limit;
		return operand > limit - value ? limit : value + operand;
	case ANEMONE_OP_MIN:
		return min(value, operand & limit);
	case ANEMONE_OP_SUBSAT:
		operand &= limit;
		return operand > value ? 0 : value - operand;
	}
	for (i = 0; i < operand % 64; i++)
		value = op == ANEMONE_OP_SHR ? value >> 1 : value << 1 & limit;
	return value;
}

/* Events spread over channels at random fold to the value of a single counter. */
static void fold_equals_one_counter(struct kunit *test)
{
	struct rnd_state random;
	unsigned int op, width, round, event;

	prandom_seed_state(&random, 31);
	for (op = ANEMONE_OP_ADD; op < ANEMONE_OP_LAST; op++) {
		if (op == ANEMONE_OP_RESET)
			continue;
		for (width = 8; width <= 64; width *= 2) {
			for (round = 0; round < 200; round++) {
				unsigned int channels = 1 + prandom_u32_state(&random) % 4;
				u64 start, whole, values[4];

				prandom_bytes_state(&random, &start, sizeof(start));
				/* Most counters start at zero. */
				start = round % 3 ? anemone_truncate(start, width) : 0;
				whole = start;
				for (event = 0; event < channels; event++)
					values[event] = start;
				for (event = 0; event < round % 9; event++) {
					u64 *value = &values[prandom_u32_state(&random) % channels];
					u64 operand;

					prandom_bytes_state(&random, &operand, sizeof(operand));
					if (op == ANEMONE_OP_SHR || op == ANEMONE_OP_SHL)
						operand %= 8;
					if ((op == ANEMONE_OP_ADDSAT || op == ANEMONE_OP_SUBSAT) &&
					    round % 2)
						operand = anemone_truncate(operand, width) / 8;
					*value = step(op, width, *value, operand);
					whole = step(op, width, whole, operand);
				}
				KUNIT_ASSERT_EQ_MSG(test,
						    anemone_fold(op, width, start, values,
								 channels),
						    whole, "op %u width %u round %u", op, width,
						    round);
			}
		}
	}
}

/* anemone_fold_all equals anemone_fold of each group. */
static void fold_all_equals_fold(struct kunit *test)
{
	unsigned int op, width, i;
	struct rnd_state random;
	u64 values[24], folded[8];

	prandom_seed_state(&random, 32);
	for (op = ANEMONE_OP_ADD; op < ANEMONE_OP_LAST; op++) {
		if (op == ANEMONE_OP_RESET)
			continue;
		for (width = 8; width <= 64; width *= 2) {
			u64 start = anemone_truncate(0x8042a180f0e1d2c3, width);

			prandom_bytes_state(&random, values, sizeof(values));
			for (i = 0; i < ARRAY_SIZE(values); i++)
				values[i] = anemone_truncate(values[i] | 1, width);
			anemone_fold_all(op, width, start, values, 3, 8, folded);
			for (i = 0; i < 8; i++)
				KUNIT_EXPECT_EQ(test, folded[i],
						anemone_fold(op, width, start, values + 3 * i, 3));
		}
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(fold_equals_one_counter),
	KUNIT_CASE(fold_all_equals_fold),
	{},
};

static struct kunit_suite suite = { .name = "anemone_fold", .test_cases = cases };

kunit_test_suite(suite);
