// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/string.h>

#include "mock.h"
#include "expect_reason.h"

static struct anemone_plan plan;
static struct anemone_reason reason;

static int planned(struct mock *mock, const struct anemone_spec *spec)
{
	reason.text[0] = 0;
	return anemone_spec_plan(spec, &mock->ctl->hw.shape, &mock->ctl->memory, &plan, &reason);
}

/* Expects a refusal with this error, and with words that name the field. */
#define REFUSES(error, words, change)                                                              \
	do {                                                                                       \
		struct anemone_spec spec = mock_hotness(4);                                        \
		change;                                                                            \
		KUNIT_EXPECT_EQ_MSG(test, planned(mock, &spec), error, "%s: %s", words,            \
				    reason.text);                                                  \
		expect_reason(test, reason.text, words);                                           \
	} while (0)

static void refusals(struct kunit *test)
{
	struct mock *mock = mock_new(test);

	REFUSES(-EINVAL, "name", spec.name[0] = 0);
	REFUSES(-EINVAL, "name", memset(spec.name, 'x', sizeof(spec.name)));
	REFUSES(-EINVAL, "name: character 2", spec.name[2] = '\n');
	REFUSES(-EINVAL, "type is 0", spec.filter.type = 0);
	REFUSES(-EINVAL, "type is 4", spec.filter.type = 4);
	REFUSES(-EINVAL, "near is 3", spec.filter.near = 3);
	REFUSES(-EOPNOTSUPP, "flat memory mode", spec.filter.near = ANEMONE_NEAR_HIT);
	REFUSES(-EINVAL, "start", spec.filter.start = 2; spec.filter.end = 1);
	REFUSES(-EINVAL, "start", spec.filter.start = spec.filter.end = 1);
	REFUSES(-ERANGE, "start is 0x40000000", spec.filter.start = 1 << 30;
		spec.filter.end = 1ULL << 31);
	REFUSES(-EINVAL, "flags", spec.flags = 2);
	REFUSES(-EINVAL, "flags", spec.pad[6] = 1);
	REFUSES(-EINVAL, "flags", spec.filter.pad[0] = 1);
	REFUSES(-EINVAL, "flags", spec.reserved[2] = 1);
	REFUSES(-EINVAL, "width is 24", spec.width = 24);
	REFUSES(-EINVAL, "width is 4", spec.width = 4);
	REFUSES(-EINVAL, "width is 128", spec.width = 128);
	REFUSES(-EINVAL, "primary.shift is 64", spec.translation.primary.shift = 64);
	REFUSES(-EINVAL, "primary.pad", spec.translation.primary.pad = 1);
	REFUSES(-EINVAL, "sub.shift is 99", spec.translation.sub.shift = 99);
	REFUSES(-EINVAL, "update.op is 0", spec.update.op = ANEMONE_OP_NONE);
	REFUSES(-EINVAL, "update.op is 9", spec.update.op = ANEMONE_OP_RESET);
	REFUSES(-EINVAL, "update.source is 3", spec.update.source = 3);
	REFUSES(-EINVAL, "update.pad", spec.update.pad[5] = 1);
	REFUSES(-EINVAL, "notify.op is 6", spec.notify.op = 6);
	REFUSES(-EINVAL, "notify.source", spec.notify.source = 1);
	REFUSES(-EINVAL, "update.op is 16", spec.update.op = 16);
	REFUSES(-EINVAL, "read_effect.op is 16", spec.read_effect.op = 16);
	REFUSES(-EINVAL, "read_effect.source", spec.read_effect.source = 2);
	REFUSES(-EINVAL, "hash.size is 0", spec.hash.multiplier = 3);
	REFUSES(-EINVAL, "hash.multiplier is 0x4", spec.hash.multiplier = 4; spec.hash.size = 8);
	REFUSES(-EINVAL, "hash.multiplier is 0x8000001",
		spec.hash.multiplier = BIT(ANEMONE_HASH_BITS) | 1;
		spec.hash.size = 8);
	REFUSES(-ENOSPC, "hash.size is 257", spec.hash.multiplier = 3; spec.hash.size = 257);
	REFUSES(-ENOSPC, "region has 512 counters", spec.translation.sub.mask = 0x1ff000;
		spec.translation.sub.shift = 12);
}

/* A feature that is not built in is named when a rule needs it. */
static void not_built(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	u64 *features = &mock->ctl->hw.shape.features;
	u64 all = *features;

	*features = all & ~ANEMONE_PUT(FEATURES_OPS, 1 << ANEMONE_UPDATE_OP_XOR);
	REFUSES(-EOPNOTSUPP, "update.op 5 is not built", spec.update.op = ANEMONE_OP_XOR);
	REFUSES(-EOPNOTSUPP, "read_effect.op 5 is not", spec.read_effect.op = ANEMONE_OP_XOR);
	*features = all & ~ANEMONE_PUT(FEATURES_OPS, 1 << ANEMONE_UPDATE_OP_SUBSAT);
	REFUSES(-EOPNOTSUPP, "update.op 11 is not built", spec.update.op = ANEMONE_OP_SUBSAT);
	REFUSES(-EOPNOTSUPP, "read_effect.op 11 is not", spec.read_effect.op = ANEMONE_OP_SUBSAT);
	*features = all & ~ANEMONE_PUT(FEATURES_WIDTHS, 2);
	REFUSES(-EOPNOTSUPP, "width 16 is not built", spec.width = 16);
	*features = all & ~ANEMONE_PUT(FEATURES_PREDICATES, 1 << ANEMONE_NOTIFY_GE);
	REFUSES(-EOPNOTSUPP, "notify.op 2 is not built", spec.notify.op = ANEMONE_NOTIFY_GE);
	*features = all & ~ANEMONE_PUT(FEATURES_EFFECTS, 1 << ANEMONE_READ_EFFECT_RESET);
	REFUSES(-EOPNOTSUPP, "read_effect.op 9 is not", spec.update.operand = 1);
	*features = all & ~ANEMONE_PUT(FEATURES_HASH, 1);
	REFUSES(-EOPNOTSUPP, "hash is not built", spec.hash = ((struct anemone_hash){ 3, 8 }));
	*features = all & ~ANEMONE_PUT(FEATURES_OPERAND_SOURCES, 1 << ANEMONE_OPERAND_LINE);
	REFUSES(-EOPNOTSUPP, "update.source 1 is not", spec.update.source = ANEMONE_OPERAND_LINE);
}

/* A sketch's row: the hash gives a region its size, however many offsets there are. */
static void hashes(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(1);

	spec.translation.primary = (struct anemone_field){};
	spec.translation.sub = (struct anemone_field){ .mask = ~0ULL, .shift = 12 };
	spec.width = 16;
	spec.hash = (struct anemone_hash){ .multiplier = 0x4F1BBCB, .size = 200 };
	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0);
	KUNIT_EXPECT_EQ(test, plan.region_counters, 256);
	KUNIT_EXPECT_EQ(test, plan.rule.control, 0x0000010000000147);
	KUNIT_EXPECT_EQ(test, plan.rule.hash, 200ULL << 32 | 0x4F1BBCB);
	spec.hash = (struct anemone_hash){};
	KUNIT_EXPECT_EQ(test, planned(mock, &spec), -ENOSPC);
}

/* The three listings of the paper, as registers. */
static void listings(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);

	mock->ctl->hw.shape.states = 8192;
	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0); /* Listing 2 */
	KUNIT_EXPECT_EQ(test, plan.region_counters, 1);
	KUNIT_EXPECT_EQ(test, plan.counters, 8192);
	KUNIT_EXPECT_EQ(test, plan.granule, 8);
	KUNIT_EXPECT_EQ(test, plan.rule.primary_mask, ~0ULL);
	KUNIT_EXPECT_EQ(test, plan.rule.shifts, 21);
	KUNIT_EXPECT_EQ(test, plan.rule.end, 1ULL << MOCK_ADDRESS_BITS);
	KUNIT_EXPECT_EQ(test, plan.rule.control, 0x0000010000000307);

	spec.translation.sub = (struct anemone_field){ .mask = 0x1ff000, .shift = 12 };
	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0); /* Listing 1 */
	KUNIT_EXPECT_EQ(test, plan.region_counters, 512);
	KUNIT_EXPECT_EQ(test, plan.rule.shifts, 12 << 8 | 21);

	spec.translation.sub = (struct anemone_field){};
	spec.notify = (struct anemone_operation){ .op = ANEMONE_NOTIFY_GE, .operand = 40000 };
	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0); /* Listing 3 */
	KUNIT_EXPECT_EQ(test, plan.rule.control, 0x0000010200000307);
	KUNIT_EXPECT_EQ(test, plan.rule.notify_operand, 40000);
}

/* Address bits that the device does not have need no counters. */
static void sub_mask_past_the_device(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);

	spec.translation.sub = (struct anemone_field){ .mask = ~0ULL, .shift = 26 };
	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0);
	KUNIT_EXPECT_EQ(test, plan.region_counters, 16);
}

static void host_addresses(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	const struct anemone_shape *shape = &mock->ctl->hw.shape;
	struct anemone_spec spec = mock_hotness(0);
	u64 key;

	spec.flags = ANEMONE_SPEC_HOST;
	spec.filter.start = MOCK_HOST_BASE - 0x1000;
	spec.filter.end = MOCK_HOST_BASE + 0x800000;
	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0);
	KUNIT_EXPECT_EQ(test, plan.rule.start, 0);
	KUNIT_EXPECT_EQ(test, plan.rule.end, 0x800000);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, MOCK_HOST_BASE >> 21, &key), 0);
	KUNIT_EXPECT_EQ(test, key, 0);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, (MOCK_HOST_BASE >> 21) + 3, &key), 0);
	KUNIT_EXPECT_EQ(test, key, 3);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, (MOCK_HOST_BASE >> 21) + 4, &key),
			-ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, (MOCK_HOST_BASE >> 21) - 1, &key),
			-ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, 0, &key), -ERANGE);

	REFUSES(-ERANGE, "is not in", spec.flags = 1; spec.filter.end = MOCK_HOST_BASE);
	REFUSES(-ERANGE, "is not in", spec.flags = 1;
		spec.filter.start = MOCK_HOST_BASE + (1ULL << 30); spec.filter.end = ~0ULL);
	REFUSES(-EINVAL, "primary.mask", spec.flags = 1;
		spec.translation.primary.mask = 0xffffff00000);
	REFUSES(-EINVAL, "sub.mask", spec.flags = 1; spec.translation.sub.mask = 0x200000);
	mock->ctl->memory.range[0].host_base += 0x1000;
	REFUSES(-EINVAL, "memory begins at", spec.flags = 1);
	anemone_memory_clear(&mock->ctl->memory, "nobody said");
	REFUSES(-EOPNOTSUPP, "nobody said; see host_base", spec.flags = 1);
}

static void keys_past_the_table(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	const struct anemone_shape *shape = &mock->ctl->hw.shape;
	struct anemone_spec spec = mock_hotness(0);
	u64 key;

	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, MOCK_TABLE - 1, &key), 0);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, MOCK_TABLE, &key), -ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, ~0ULL, &key), -ERANGE);
}

static void keys_past_the_memory(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	const struct anemone_shape *shape = &mock->ctl->hw.shape;
	struct anemone_spec spec = mock_hotness(0);
	u64 key;

	spec.filter.start = 1ULL << 28;
	spec.filter.end = (1ULL << 29) + 1;
	spec.translation.primary.shift = 28;
	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, 0, &key), -ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, 1, &key), 0);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, 2, &key), 0);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, 3, &key), -ERANGE);
	/* The address of this key wraps to zero in 64 bits. */
	spec = mock_hotness(0);
	spec.translation.primary.shift = 63;
	KUNIT_ASSERT_EQ(test, planned(mock, &spec), 0);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, 0, &key), 0);
	KUNIT_EXPECT_EQ(test, anemone_plan_key(&plan, shape, 2, &key), -ERANGE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(refusals),
	KUNIT_CASE(not_built),
	KUNIT_CASE(hashes),
	KUNIT_CASE(listings),
	KUNIT_CASE(sub_mask_past_the_device),
	KUNIT_CASE(host_addresses),
	KUNIT_CASE(keys_past_the_table),
	KUNIT_CASE(keys_past_the_memory),
	{},
};

static struct kunit_suite suite = { .name = "anemone_spec", .test_cases = cases };

kunit_test_suite(suite);
