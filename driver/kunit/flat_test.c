// SPDX-License-Identifier: GPL-2.0
#include <linux/string.h>

#include "../sysfs.h"
#include "mock.h"

#define NEAR (ANEMONE_FLAT_NEAR_LINES / 8)
#define START (ANEMONE_FLAT_DEDICATED_START / 8)
#define END (ANEMONE_FLAT_DEDICATED_END / 8)
#define POLICY (ANEMONE_FLAT_POLICY / 8)
#define CONTROL (ANEMONE_FLAT_CONTROL / 8)
#define STATUS (ANEMONE_FLAT_STATUS / 8)
#define UNTRUSTED_SET (ANEMONE_FLAT_UNTRUSTED_SET / 8)

/* Makes a device with flat memory mode. */
static struct mock *flat_new(struct kunit *test)
{
	struct mock *mock = mock_bare(test);
	struct anemone_controller *ctl = mock->ctl;

	mock->features |= ANEMONE_FEATURES_FLAT_MEMORY_MASK;
	KUNIT_ASSERT_EQ(test, anemone_hw_identify(&ctl->hw), 0);
	anemone_pool_init(&ctl->pool, ctl->hw.shape.pipelines);
	anemone_controller_read_flat(ctl);
	KUNIT_ASSERT_EQ(test, anemone_hw_start(&ctl->hw, MOCK_REGION_BYTES), 0);
	return mock;
}

static struct device_attribute *find(struct kunit *test, unsigned int channel, const char *name)
{
	struct attribute **attribute = anemone_flat_groups[channel].attrs;

	while (*attribute && strcmp((*attribute)->name, name))
		attribute++;
	KUNIT_ASSERT_NOT_NULL_MSG(test, *attribute, "%s", name);
	return container_of(*attribute, struct device_attribute, attr);
}

static const char *shown(struct kunit *test, struct mock *mock, unsigned int channel,
			 const char *name)
{
	struct device_attribute *attribute = find(test, channel, name);
	char *page = (char *)get_zeroed_page(GFP_KERNEL);
	char *text = kunit_kzalloc(test, 128, GFP_KERNEL);
	ssize_t length;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL(test, text);
	length = attribute->show(mock->ctl->dev, attribute, page);
	KUNIT_EXPECT_GT(test, length, 0);
	strscpy(text, page, 128);
	free_page((unsigned long)page);
	return strim(text);
}

static ssize_t stored(struct kunit *test, struct mock *mock, unsigned int channel, const char *name,
		      const char *text)
{
	struct device_attribute *attribute = find(test, channel, name);

	return attribute->store(mock->ctl->dev, attribute, text, strlen(text));
}

static void settings(struct kunit *test)
{
	struct mock *mock = flat_new(test);

	KUNIT_EXPECT_EQ(test, stored(test, mock, 1, "near_lines", "4096\n"), 5);
	KUNIT_EXPECT_EQ(test, mock->flat[1][NEAR], 4096);
	KUNIT_EXPECT_EQ(test, mock->flat[0][NEAR], 0);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 1, "near_lines"), "4096");
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "dedicated", "0x10000 0x20000\n"), 0);
	KUNIT_EXPECT_EQ(test, mock->flat[0][START], 0x10000);
	KUNIT_EXPECT_EQ(test, mock->flat[0][END], 0x20000);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "dedicated"), "0x10000 0x20000");
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "policy", "nth 3\n"), 0);
	KUNIT_EXPECT_EQ(test, mock->flat[0][POLICY], 3ULL << 32 | ANEMONE_SWAP_POLICY_NTH);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "policy"), "nth 3");
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "policy", "one_in 1000"), 0);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "policy"), "one_in 1000");
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "policy", "never"), 0);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "policy"), "never");
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "policy", "every\n"), 0);
	KUNIT_EXPECT_EQ(test, mock->flat[0][POLICY], 0);
}

static void refusals(struct kunit *test)
{
	static const char *const policies[] = { "",	    "nth",	 "nth 0",
						"nth 256",  "nth x",	 "never 1",
						"everyone", "one_in -1", "every 2" };
	static const char *const ranges[] = { "", "0x1000", "0x2000 0x1000", "0x800 0x1000",
					      "0 0x10000000000000" };
	struct mock *mock = flat_new(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++)
		KUNIT_EXPECT_LT_MSG(test, stored(test, mock, 0, "policy", policies[i]), 0, "%s",
				    policies[i]);
	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		KUNIT_EXPECT_LT_MSG(test, stored(test, mock, 0, "dedicated", ranges[i]), 0, "%s",
				    ranges[i]);
	KUNIT_EXPECT_LT(test, stored(test, mock, 0, "near_lines", "0x1000000000000"), 0);
	KUNIT_EXPECT_LT(test, stored(test, mock, 0, "near_lines", "many"), 0);
	KUNIT_EXPECT_LT(test, stored(test, mock, 0, "mode", "stop"), 0);
	KUNIT_EXPECT_EQ(test, mock->flat[0][POLICY] | mock->flat[0][NEAR] | mock->flat[0][END], 0);
}

/* A start that the device refuses: sizes may be changed, and no reset repeats it. */
static void a_refused_start(struct kunit *test)
{
	struct mock *mock = flat_new(test);

	KUNIT_EXPECT_EQ(test, stored(test, mock, 0, "mode", "start"), -EINVAL);
	mock_reset(mock);
	KUNIT_ASSERT_EQ(test, anemone_controller_restart(mock->ctl, MOCK_REGION_BYTES), 0);
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "near_lines", "512"), 0);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "mode"), "stopped");
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "mode", "start"), 0);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "mode"), "sweeping");
}

/* After the start only the policy changes; a reset restores all registers, the start last. */
static void started(struct kunit *test)
{
	struct mock *mock = flat_new(test);

	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "near_lines", "512"), 0);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "mode"), "stopped");
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "mode", "start\n"), 0);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "mode"), "sweeping");
	mock->flat[0][STATUS] |= ANEMONE_FLAT_STATUS_READY_MASK;
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "mode"), "ready");
	KUNIT_EXPECT_EQ(test, stored(test, mock, 0, "near_lines", "1"), -EBUSY);
	KUNIT_EXPECT_EQ(test, stored(test, mock, 0, "dedicated", "0 0x1000"), -EBUSY);
	KUNIT_EXPECT_GT(test, stored(test, mock, 0, "policy", "one_in 8"), 0);
	mock_reset(mock);
	KUNIT_ASSERT_EQ(test, anemone_controller_restart(mock->ctl, MOCK_REGION_BYTES), 0);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "near_lines"), "512");
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "policy"), "one_in 8");
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "mode"), "sweeping");
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 1, "mode"), "stopped");
}

static void counters(struct kunit *test)
{
	static const char *const names[] = { "hits",	   "misses",	  "swaps",
					     "near_reads", "near_writes", "far_reads",
					     "far_writes", "forwarded",	  "near_errors",
					     "far_errors", "marked",	  "poisoned",
					     "corrected",  "untrusted" };
	struct mock *mock = flat_new(test);
	char text[16];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		mock->flat[1][ANEMONE_FLAT_HITS / 8 + i] = 100 + i;
		snprintf(text, sizeof(text), "%u", 100 + i);
		KUNIT_EXPECT_STREQ(test, shown(test, mock, 1, names[i]), text);
		/* These count all memory's accesses, so not everybody may read them. */
		KUNIT_EXPECT_EQ(test, find(test, 1, names[i])->attr.mode, 0400);
	}
}

/* Reports the untrusted set; its commands run once, and a reset does not repeat them. */
static void untrusted(struct kunit *test)
{
	struct mock *mock = flat_new(test);

	KUNIT_EXPECT_EQ(test, find(test, 1, "untrusted_set")->attr.mode, 0600);
	KUNIT_EXPECT_GT(test, stored(test, mock, 1, "near_lines", "512"), 0);
	KUNIT_EXPECT_GT(test, stored(test, mock, 1, "mode", "start"), 0);
	mock->flat[1][STATUS] |= ANEMONE_FLAT_STATUS_READY_MASK;
	mock->flat[1][UNTRUSTED_SET] = 0x12; /* was valid, and was rearmed */
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 1, "untrusted_set"), "");
	mock->flat[1][UNTRUSTED_SET] |= ANEMONE_FLAT_UNTRUSTED_SET_VALID_MASK;
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 1, "untrusted_set"), "0x12");
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 0, "untrusted_set"), "");
	KUNIT_EXPECT_EQ(test, stored(test, mock, 1, "untrusted_set", "18"), -EINVAL);
	KUNIT_EXPECT_EQ(test, stored(test, mock, 1, "untrusted_set", "repairs"), -EINVAL);
	KUNIT_EXPECT_EQ(test, mock->flat[1][CONTROL], ANEMONE_FLAT_CONTROL_START_MASK);
	KUNIT_EXPECT_EQ(test, stored(test, mock, 1, "untrusted_set", "rearm\n"), 6);
	KUNIT_EXPECT_EQ(test, mock->flat[1][CONTROL], ANEMONE_FLAT_CONTROL_REARM_MASK);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 1, "mode"), "ready");
	KUNIT_EXPECT_EQ(test, stored(test, mock, 1, "untrusted_set", "repair\n"), 7);
	KUNIT_EXPECT_EQ(test, mock->flat[1][CONTROL], ANEMONE_FLAT_CONTROL_REPAIR_MASK);
	KUNIT_EXPECT_STREQ(test, shown(test, mock, 1, "mode"), "repairing");
	KUNIT_EXPECT_EQ(test, mock->flat[0][CONTROL], 0);
	mock_reset(mock);
	KUNIT_ASSERT_EQ(test, anemone_controller_restart(mock->ctl, MOCK_REGION_BYTES), 0);
	KUNIT_EXPECT_EQ(test, mock->flat[1][CONTROL], ANEMONE_FLAT_CONTROL_START_MASK);
}

static void visibility(struct kunit *test)
{
	struct mock *with = flat_new(test), *without = mock_new(test);
	const struct attribute_group *group = &anemone_flat_groups[1];

	KUNIT_EXPECT_EQ(test, group->is_visible(&with->ctl->dev->kobj, group->attrs[0], 0), 0644);
	KUNIT_EXPECT_EQ(test,
			group->is_visible(&without->ctl->dev->kobj, group->attrs[0], 0) & 0777, 0);
	group = &anemone_flat_groups[MOCK_CHANNELS];
	KUNIT_EXPECT_EQ(test, group->is_visible(&with->ctl->dev->kobj, group->attrs[0], 0) & 0777,
			0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(settings),
	KUNIT_CASE(refusals),
	KUNIT_CASE(a_refused_start),
	KUNIT_CASE(started),
	KUNIT_CASE(counters),
	KUNIT_CASE(untrusted),
	KUNIT_CASE(visibility),
	{},
};

static struct kunit_suite suite = { .name = "anemone_flat", .test_cases = cases };

kunit_test_suite(suite);
