// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <linux/prandom.h>

#include "../fold.h"
#include "../harvest.h"
#include "mock.h"

#define PAGE_2M(n) ((u64)(n) << 21)
#define COUNTERS 64

static u64 values[MOCK_STATES * 8 * MOCK_CHANNELS];

static struct anemone_spec spec_of(u8 op, u8 width, u8 effect)
{
	struct anemone_spec spec = mock_hotness(COUNTERS);

	spec.update.op = op;
	spec.width = width;
	spec.read_effect.op = effect;
	return spec;
}

static unsigned int chosen(struct kunit *test, struct mock *mock, u8 op, u8 width, u8 effect)
{
	struct anemone_spec spec = spec_of(op, width, effect);
	struct anemone_reason reason;
	struct anemone_telemetry *telemetry = anemone_telemetry_add(&spec, mock->ctl, &reason);
	unsigned int harvest;

	KUNIT_ASSERT_FALSE(test, IS_ERR(telemetry));
	harvest = telemetry->instance[0].harvest;
	anemone_telemetry_remove(telemetry);
	return harvest;
}

/* Differences are chosen if they are exact, else the first way that the hardware supports. */
static void order_of_choice(struct kunit *test)
{
	struct mock *all = mock_harvested(test, true, true),
		    *reads = mock_harvested(test, false, true);
	struct mock *none = mock_harvested(test, false, false);
	const u8 reset = ANEMONE_OP_RESET;
	u8 op;

	KUNIT_EXPECT_EQ(test, chosen(test, none, ANEMONE_OP_ADD, 64, ANEMONE_OP_NONE),
			ANEMONE_HARVEST_NONE);
	for (op = ANEMONE_OP_ADD; op <= ANEMONE_OP_EWMA8; op++) {
		bool sum = op == ANEMONE_OP_ADD || op == ANEMONE_OP_SUB;
		bool kept = op == ANEMONE_OP_SHR || op == ANEMONE_OP_SHL || op >= ANEMONE_OP_EWMA2;
		u8 width;

		if (op == ANEMONE_OP_RESET)
			continue;
		for (width = 8; width; width *= 2) {
			unsigned int first = sum && width >= 32 ? ANEMONE_HARVEST_DIFFERENCE : 0;

			KUNIT_EXPECT_EQ(test, chosen(test, all, op, width, reset),
					first
						?: kept ? ANEMONE_HARVEST_EFFECT
							: ANEMONE_HARVEST_ACKNOWLEDGE);
			KUNIT_EXPECT_EQ(test, chosen(test, reads, op, width, reset),
					first ?: ANEMONE_HARVEST_EFFECT);
			KUNIT_EXPECT_EQ(test, chosen(test, none, op, width, reset),
					first ?: ANEMONE_HARVEST_REFUSED);
			KUNIT_EXPECT_EQ(test, chosen(test, all, op, width, ANEMONE_OP_SHR),
					ANEMONE_HARVEST_EFFECT);
			if (width == 64)
				break;
		}
	}
}

/* A threshold counts from the value after a read, which a difference does not change. */
static void thresholds_exclude_differences(struct kunit *test)
{
	struct mock *mock = mock_harvested(test, true, true);
	struct anemone_spec spec = spec_of(ANEMONE_OP_ADD, 64, ANEMONE_OP_RESET);
	struct anemone_telemetry *telemetry;
	unsigned int round, i;

	spec.notify = (struct anemone_operation){ .op = ANEMONE_NOTIFY_EQ, .operand = 3 };
	telemetry = mock_add(test, mock, &spec);
	KUNIT_EXPECT_EQ(test, telemetry->instance[0].harvest, ANEMONE_HARVEST_ACKNOWLEDGE);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 0, 0), 0);
	for (round = 1; round <= 3; round++) {
		for (i = 0; i < 3; i++)
			mock_access(mock, 0, false);
		KUNIT_EXPECT_EQ(test,
				mock->pipeline[telemetry->instance[0].cache.slab[0]].notifications,
				round);
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, COUNTERS, values), 0);
		KUNIT_EXPECT_EQ(test, values[0], 3);
	}
}

static void refused_by_the_processor(struct kunit *test)
{
	struct mock *mock = mock_harvested(test, false, false);
	struct anemone_spec spec = spec_of(ANEMONE_OP_OR, 16, ANEMONE_OP_RESET);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);

	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 0, 32, values), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, anemone_snapshot(telemetry, 0, 32, values), 0);
}

/* Sums are exact for a way of reading, with repeated loads where these are harmless. */
static void nothing_lost(struct kunit *test, u8 width, u64 start, bool acknowledges)
{
	struct mock *mock = mock_harvested(test, true, true);
	struct anemone_spec spec = spec_of(ANEMONE_OP_ADD, width, ANEMONE_OP_RESET);
	struct anemone_telemetry *telemetry;
	struct rnd_state random;
	u64 counted = 0, read = 0;
	unsigned int step, i;

	if (acknowledges)
		spec.notify = (struct anemone_operation){ .op = ANEMONE_NOTIFY_EQ, .operand = 0 };
	spec.read_effect.value = start;
	telemetry = mock_add(test, mock, &spec);
	KUNIT_EXPECT_EQ(test, telemetry->instance[0].harvest,
			acknowledges || width < 32 ? ANEMONE_HARVEST_ACKNOWLEDGE
						   : ANEMONE_HARVEST_DIFFERENCE);
	mock->repeats = true;
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 1, 5), 0);
	prandom_seed_state(&random, width);
	for (step = 0; step < 200; step++) {
		unsigned int some = prandom_u32_state(&random) % 40;

		for (i = 0; i < some; i++)
			mock_access(mock, PAGE_2M(1) + 64 * i, false);
		counted += some;
		KUNIT_ASSERT_EQ(test, anemone_snapshot(telemetry, 0, COUNTERS, values), 0);
		KUNIT_ASSERT_EQ(test, values[5], anemone_truncate(counted - read + start, width));
		if (step % 3)
			continue;
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, COUNTERS, values), 0);
		/* Accesses from here on belong to the next period. */
		KUNIT_ASSERT_FALSE(test, mock->posted);
		read += values[5] - start;
		KUNIT_ASSERT_EQ(test, read, counted);
		KUNIT_ASSERT_EQ(test, values[4], start);
	}
}

static void differences_lose_nothing(struct kunit *test)
{
	nothing_lost(test, 64, 0, false);
	nothing_lost(test, 32, 0, false);
	nothing_lost(test, 32, 1000, false);
}

static void acknowledges_lose_nothing(struct kunit *test)
{
	nothing_lost(test, 64, 0, true);
	nothing_lost(test, 16, 0, false);
	nothing_lost(test, 16, 77, false);
	nothing_lost(test, 8, 3, false);
}

/* One event counted at key 0, on a device that supports all ways of reading. */
static struct mock *one_event(struct kunit *test, u8 width, struct anemone_telemetry **telemetry)
{
	struct mock *mock = mock_harvested(test, true, true);
	struct anemone_spec spec = spec_of(ANEMONE_OP_ADD, width, ANEMONE_OP_RESET);

	*telemetry = mock_add(test, mock, &spec);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(*telemetry, 0, 0), 0);
	mock_access(mock, 0, true);
	return mock;
}

static int nobody(void *to, const u64 *some, size_t count)
{
	return -EFAULT;
}

/* Values that could not be delivered are returned by the next read. */
static void undelivered_counts_are_kept(struct kunit *test)
{
	u8 width;

	for (width = 16; width <= 64; width *= 2) {
		struct anemone_telemetry *telemetry;

		one_event(test, width, &telemetry);
		KUNIT_EXPECT_EQ(test,
				anemone_telemetry_deliver(telemetry, true, false, 0, COUNTERS,
							  nobody, NULL),
				-EFAULT);
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, COUNTERS, values), 0);
		KUNIT_EXPECT_EQ(test, values[0], 1);
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, COUNTERS, values), 0);
		KUNIT_EXPECT_EQ(test, values[0], 0);
	}
}

/* A reset between read and consume, which then takes nothing from the new counters. */
static int resets(void *to, const u64 *some, size_t count)
{
	struct mock *mock = to;

	mock_reset(mock);
	return anemone_controller_restart(mock->ctl, 2 * MOCK_REGION_BYTES);
}

static void reset_before_consume(struct kunit *test)
{
	u8 width;

	for (width = 16; width <= 64; width *= 2) {
		struct anemone_telemetry *telemetry;
		struct mock *mock = one_event(test, width, &telemetry);

		KUNIT_EXPECT_EQ(test,
				anemone_telemetry_deliver(telemetry, true, false, 0, COUNTERS,
							  resets, mock),
				0);
		mock_access(mock, 0, true);
		mock_access(mock, 0, true);
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, COUNTERS, values), 0);
		KUNIT_EXPECT_EQ(test, values[0], 2);
	}
}

/* Without room or hardware for the acknowledge window it is not opened. */
static void without_acknowledge_window(struct kunit *test)
{
	struct mock *mock = mock_harvested(test, true, true);
	struct anemone_hw *hw = &mock->ctl->hw;

	KUNIT_EXPECT_EQ(test, mock->acknowledge_window, (hw->region + MOCK_REGION_BYTES) | 1);
	anemone_hw_stop(hw);
	KUNIT_EXPECT_EQ(test, mock->acknowledge_window, 0);
	KUNIT_ASSERT_EQ(test, anemone_hw_start(hw, MOCK_REGION_BYTES), 0);
	KUNIT_EXPECT_EQ(test, mock->acknowledge_window, 0);
	KUNIT_EXPECT_EQ(test, chosen(test, mock, ANEMONE_OP_OR, 16, ANEMONE_OP_RESET),
			ANEMONE_HARVEST_EFFECT);
	mock->features &= ~ANEMONE_FEATURES_ACKNOWLEDGES_MASK;
	KUNIT_ASSERT_EQ(test, anemone_hw_identify(hw), 0);
	KUNIT_ASSERT_EQ(test, anemone_hw_start(hw, 2 * MOCK_REGION_BYTES), 0);
	KUNIT_EXPECT_EQ(test, mock->acknowledge_window, 0);
}

static void lines_are_packed(struct kunit *test)
{
	const u64 some[] = { 0x101, 9, 0x202, 9, 0x303 };
	u64 words[ANEMONE_LINE_WORDS];

	anemone_harvest_pack(words, 8, some, 3, 2);
	KUNIT_EXPECT_EQ(test, words[0], 0x030201);
	KUNIT_EXPECT_EQ(test, words[7], 0);
	anemone_harvest_pack(words, 64, some, 5, 1);
	KUNIT_EXPECT_EQ(test, words[4], 0x303);
	KUNIT_EXPECT_EQ(test, words[5], 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(order_of_choice),	       KUNIT_CASE(thresholds_exclude_differences),
	KUNIT_CASE(refused_by_the_processor),  KUNIT_CASE(differences_lose_nothing),
	KUNIT_CASE(acknowledges_lose_nothing), KUNIT_CASE(undelivered_counts_are_kept),
	KUNIT_CASE(reset_before_consume),      KUNIT_CASE(without_acknowledge_window),
	KUNIT_CASE(lines_are_packed),	       {},
};

static struct kunit_suite suite = {
	.name = "anemone_harvest",
	.test_cases = cases,
};

kunit_test_suite(suite);
