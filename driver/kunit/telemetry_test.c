// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <linux/prandom.h>

#include "mock.h"

#define PAGE_2M(n) ((u64)(n) << 21)

static u64 values[MOCK_PIPELINES * MOCK_STATES * 8 * MOCK_CHANNELS];

static void hotness(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, telemetry->regions, MOCK_STATES);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, i, 10 + i), 0);
	for (i = 0; i < 60; i++) /* to both channels */
		mock_access(mock, PAGE_2M(i % 3) + 64 * i, i % 2);
	mock_access(mock, PAGE_2M(7), false);
	KUNIT_ASSERT_EQ(test, anemone_snapshot(telemetry, 8, 8, values), 0);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, values[i], i >= 2 && i < 5 ? 20 : 0);
	KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 8, 8, values), 0);
	KUNIT_EXPECT_EQ(test, values[2], 20);
	KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 8, 8, values), 0);
	KUNIT_EXPECT_EQ(test, values[2], 0); /* reset as it was read */
	KUNIT_EXPECT_EQ(test, mock->pipeline[telemetry->instance[0].cache.slab[0]].unmapped, 1);
}

/* A row of a sketch: many pages share a few counters, none is lost. */
static void hashed_offsets(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(1);
	struct anemone_telemetry *telemetry;
	unsigned int i, sum = 0;

	spec.translation.primary = (struct anemone_field){};
	spec.translation.sub = (struct anemone_field){ .mask = ANEMONE_ALL_MEM, .shift = 6 };
	spec.hash = (struct anemone_hash){ .multiplier = 0x4F1BBCB, .size = 13 };
	telemetry = mock_add(test, mock, &spec);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 0, 0), 0);
	for (i = 0; i < 1000; i++)
		mock_access(mock, 64 * i, false);
	KUNIT_ASSERT_EQ(test, anemone_snapshot(telemetry, 0, 16, values), 0);
	for (i = 0; i < 16; i++) {
		KUNIT_EXPECT_EQ(test, !values[i], i >= 13);
		sum += values[i];
	}
	KUNIT_EXPECT_EQ(test, sum, 1000);
}

/* A read with effect resets whole lines, so a partial line is refused. */
static void partial_lines(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(13);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);

	KUNIT_EXPECT_EQ(test, anemone_granule(telemetry), 8);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 0, 7, values), -EINVAL);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 4, 8, values), -EINVAL);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 8, 5, values), 0); /* to the end */
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 8, 6, values), -ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 14, 0, values), -ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_snapshot(telemetry, 3, 2, values), 0);
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, 0, 13), -ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, MOCK_TABLE, 0), -ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_clear_translation(telemetry, 5), -ENOENT);
}

static void nothing_left_over(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(MOCK_STATES + 1); /* two pipelines */
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	struct anemone_reason reason;

	KUNIT_EXPECT_EQ(test, telemetry->instance[0].cache.slabs, 2);
	KUNIT_EXPECT_EQ(test, PTR_ERR(anemone_telemetry_add(&spec, mock->ctl, &reason)), -ENOSPC);
	KUNIT_EXPECT_STREQ(test, reason.text, "65 regions of 1 need 2 pipelines, 1 of 3 are free");
}

/* A pipeline that another telemetry used starts without keys and counts. */
static void pipeline_reuse(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_reason reason;
	unsigned int turn, i;

	for (turn = 0; turn < 5; turn++) {
		struct anemone_telemetry *telemetry =
			anemone_telemetry_add(&spec, mock->ctl, &reason);

		KUNIT_ASSERT_FALSE(test, IS_ERR(telemetry));
		mock_access(mock, 0, false);
		KUNIT_ASSERT_EQ(test, anemone_snapshot(telemetry, 0, MOCK_STATES, values), 0);
		for (i = 0; i < MOCK_STATES; i++)
			KUNIT_ASSERT_EQ(test, values[i], 0);
		KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 0, turn), 0);
		mock_access(mock, 0, false);
		anemone_telemetry_remove(telemetry);
	}
	mock_access(mock, 0, false); /* no telemetry maps it */
	KUNIT_EXPECT_EQ(test, anemone_pool_free(&mock->ctl->pool), MOCK_PIPELINES);
}

/* Random maps, moves, unmaps and accesses over several pipelines, against an array. */
static void random_maps(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(2 * MOCK_STATES);
	struct anemone_telemetry *telemetry;
	int region_of[MOCK_TABLE], regions = 2 * MOCK_STATES, i;
	struct rnd_state random;
	u64 *expected = kunit_kzalloc(test, regions * sizeof(*expected), GFP_KERNEL);
	unsigned int step;

	KUNIT_ASSERT_NOT_NULL(test, expected);
	prandom_seed_state(&random, 6);
	memset(region_of, -1, sizeof(region_of));
	telemetry = mock_add(test, mock, &spec);
	for (step = 0; step < 20000; step++) {
		u32 key = prandom_u32_state(&random) % MOCK_TABLE;
		u32 region = prandom_u32_state(&random) % regions;

		switch (prandom_u32_state(&random) % 8) {
		case 0:
			KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, key, region), 0);
			region_of[key] = region;
			break;
		case 1:
			KUNIT_ASSERT_EQ(test, anemone_clear_translation(telemetry, key),
					region_of[key] < 0 ? -ENOENT : 0);
			region_of[key] = -1;
			break;
		default:
			mock_access(mock, PAGE_2M(key) + 64 * (region % 4), region % 2);
			if (region_of[key] >= 0)
				expected[region_of[key]]++;
		}
		if (step % 4000)
			continue;
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, regions, values), 0);
		for (i = 0; i < regions; i++)
			KUNIT_ASSERT_EQ(test, values[i], expected[i]);
		memset(expected, 0, regions * sizeof(*expected));
	}
	for (i = 0, step = 0; i < MOCK_TABLE; i++)
		step += region_of[i] >= 0;
	KUNIT_EXPECT_EQ(test, telemetry->instance[0].mapped, step);
}

/* Counters with a reset value start from it, and fold as if only one had it. */
static void begins_at_the_reset_value(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry;
	unsigned int i;

	spec.width = 16;
	spec.update = (struct anemone_operation){ .op = ANEMONE_OP_SHR, .operand = 1 };
	spec.read_effect.operand = 0x8000;
	telemetry = mock_add(test, mock, &spec);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 1, 40), 0);
	for (i = 0; i < 5; i++)
		mock_access(mock, PAGE_2M(1) + 64 * i, false); /* 3 and 2 */
	KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 32, 32, values), 0);
	KUNIT_EXPECT_EQ(test, values[8], 0x8000 >> 5);
	KUNIT_EXPECT_EQ(test, values[9], 0x8000);
	KUNIT_ASSERT_EQ(test, anemone_telemetry_read(telemetry, false, true, 40, 1, values), 0);
	KUNIT_EXPECT_EQ(test, values[0], 0x8000);
}

/* The last one of several channels is not known, and of each it is. */
static void last_is_by_channel(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry;
	u64 key = 2, sweep;
	unsigned int i;

	spec.update =
		(struct anemone_operation){ .op = ANEMONE_OP_LAST, .source = ANEMONE_OPERAND_LINE };
	telemetry = mock_add(test, mock, &spec);
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, &key, 1, 10, &sweep), -EOPNOTSUPP);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 1, 40), 0);
	for (i = 0; i < 5; i++)
		mock_access(mock, PAGE_2M(1) + 64 * i, false);
	KUNIT_EXPECT_EQ(test, anemone_snapshot(telemetry, 32, 32, values), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 32, 32, values), -EOPNOTSUPP);
	KUNIT_ASSERT_EQ(test, anemone_telemetry_read(telemetry, false, true, 40, 1, values), 0);
	KUNIT_EXPECT_EQ(test, values[0], (PAGE_2M(1) >> 6) + 4);
	KUNIT_EXPECT_EQ(test, values[1], (PAGE_2M(1) >> 6) + 3);
}

/* Decay at each read: an average towards 0 as read effect. */
static void averages(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry;
	unsigned int i;

	spec.read_effect = (struct anemone_operation){ .op = ANEMONE_OP_EWMA8 };
	telemetry = mock_add(test, mock, &spec);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 1, 40), 0);
	for (i = 0; i < 20; i++)
		mock_access(mock, PAGE_2M(1), false);
	for (i = 20; i; i -= (i + 7) / 8) {
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 32, 32, values), 0);
		KUNIT_EXPECT_EQ(test, values[8], i);
	}
	spec.update.op = ANEMONE_OP_EWMA2;
	telemetry = mock_add(test, mock, &spec);
	KUNIT_EXPECT_EQ(test, anemone_snapshot(telemetry, 32, 32, values), -EOPNOTSUPP);
}

/* A countdown and a minimum begin at the reset value, and fold to what one counter would have. */
static void floors_fold(struct kunit *test)
{
	static const struct {
		u8 op;
		u64 operand, expected;
	} cases[] = {
		{ ANEMONE_OP_SUBSAT, 3, 20 - 5 * 3 },
		{ ANEMONE_OP_SUBSAT, 5, 0 },
		{ ANEMONE_OP_MIN, 7, 7 },
		{ ANEMONE_OP_MIN, 21, 20 },
	};
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(cases); k++) {
		struct mock *mock = mock_new(test);
		struct anemone_spec spec = mock_hotness(0);
		struct anemone_telemetry *telemetry;

		spec.width = 16;
		spec.update = (struct anemone_operation){ .op = cases[k].op,
							  .operand = cases[k].operand };
		spec.read_effect.operand = 20;
		telemetry = mock_add(test, mock, &spec);
		KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 1, 40), 0);
		for (i = 0; i < 5; i++)
			mock_access(mock, PAGE_2M(1) + 64 * i, false); /* 3 and 2 */
		KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 32, 32, values), 0);
		KUNIT_EXPECT_EQ(test, values[8], cases[k].expected);
		KUNIT_EXPECT_EQ(test, values[9], 20);
	}
}

/* A reset of the device loses counts, but neither rules nor keys. */
static void after_a_reset(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);

	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 3, 9), 0);
	mock_access(mock, PAGE_2M(3), true);
	mock->ctl->hw.down = true;
	mock_reset(mock);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 0, 64, values), -EBUSY);
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, 4, 9), -EBUSY);
	mock->ctl->hw.down = false;
	KUNIT_ASSERT_EQ(test, anemone_controller_restart(mock->ctl, MOCK_REGION_BYTES), 0);
	mock_access(mock, PAGE_2M(3), true);
	KUNIT_ASSERT_EQ(test, anemone_read(telemetry, 0, 64, values), 0);
	KUNIT_EXPECT_EQ(test, values[9], 1);
}

/* Several controllers: a key goes to the one with its memory, and reads fold all of them. */
static void several_controllers(struct kunit *test)
{
	struct mock *mock[2] = { mock_new(test), mock_new(test) };
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry;
	u64 base[2], i;

	spec.flags = ANEMONE_SPEC_HOST;
	for (i = 0; i < 2; i++) {
		base[i] = mock[i]->ctl->memory.range[0].host_base += i << MOCK_ADDRESS_BITS;
		list_add_tail(&mock[i]->ctl->on_list, &anemone_controllers);
	}
	telemetry = anemone_register_telemetry(&spec, NULL, NULL);
	for (i = 0; i < 2; i++)
		list_del_init(&mock[i]->ctl->on_list);
	KUNIT_ASSERT_FALSE(test, IS_ERR(telemetry));
	KUNIT_EXPECT_EQ(test, telemetry->instances, 2);
	for (i = 0; i < 2; i++) /* both to one counter, as for the pages of a tenant */
		KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, (base[i] >> 21) + 5, 3),
				0);
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, (base[1] >> 21) + 512, 3),
			-ERANGE);
	for (i = 0; i < 10; i++)
		mock_access(mock[i % 5 == 0], PAGE_2M(5) + 64 * i, false);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 0, 8, values), 0);
	KUNIT_EXPECT_EQ(test, values[3], 10);

	/* One controller goes and the other still counts; then both go. */
	mutex_lock(&mock[0]->ctl->lock);
	mock[0]->ctl->gone = true;
	mock[0]->ctl->hw.down = true;
	anemone_instance_remove(&telemetry->instance[0]);
	mutex_unlock(&mock[0]->ctl->lock);
	mock_access(mock[1], PAGE_2M(5), false);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 0, 8, values), 0);
	KUNIT_EXPECT_EQ(test, values[3], 1);
	mock[1]->ctl->gone = true;
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 0, 8, values), -ENODEV);
	mock[1]->ctl->gone = false;
	anemone_unregister_telemetry(telemetry);
	KUNIT_EXPECT_EQ(test, anemone_pool_free(&mock[1]->ctl->pool), MOCK_PIPELINES);
	KUNIT_EXPECT_EQ(test, PTR_ERR(anemone_register_telemetry(&spec, NULL, NULL)), -ENODEV);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(hotness),
	KUNIT_CASE(hashed_offsets),
	KUNIT_CASE(partial_lines),
	KUNIT_CASE(nothing_left_over),
	KUNIT_CASE(pipeline_reuse),
	KUNIT_CASE(random_maps),
	KUNIT_CASE(begins_at_the_reset_value),
	KUNIT_CASE(last_is_by_channel),
	KUNIT_CASE(floors_fold),
	KUNIT_CASE(averages),
	KUNIT_CASE(after_a_reset),
	KUNIT_CASE(several_controllers),
	{},
};

static struct kunit_suite suite = { .name = "anemone_telemetry", .test_cases = cases };

kunit_test_suite(suite);
