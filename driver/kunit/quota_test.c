// SPDX-License-Identifier: GPL-2.0
/* One of three pipelines is reserved for the kernel, and a user has at most half. */
#include <linux/err.h>

#include "process.h"

static long take(struct kunit *test, struct file *filp, unsigned int regions, char *reason)
{
	struct anemone_add add = { .size = sizeof(add), .spec = mock_hotness(regions) };
	long err = process_call(test, filp, ANEMONE_ADD, &add, sizeof(add));

	if (reason)
		memcpy(reason, add.reason, sizeof(add.reason));
	return err;
}

static void two_users(struct kunit *test)
{
	static const int resource[] = { CAP_SYS_RESOURCE };
	struct mock *mock = mock_new(test);
	struct file *one = process_open(test, mock), *two = process_open(test, mock);
	const struct cred *self = process_set_cred(test, 1000, resource, 1);
	char reason[128];

	KUNIT_EXPECT_EQ(test, take(test, one, 2 * MOCK_STATES, reason), -EDQUOT);
	KUNIT_EXPECT_STREQ(test, reason,
			   "2 pipelines needed, the user has 0 of 1 (user_pipelines)");
	KUNIT_EXPECT_EQ(test, anemone_pool_free(&mock->ctl->pool), MOCK_PIPELINES);
	KUNIT_EXPECT_EQ(test, take(test, one, 0, NULL), 0);
	/* Not by another file, either. */
	KUNIT_EXPECT_EQ(test, take(test, one, 0, NULL), -EDQUOT);
	KUNIT_EXPECT_EQ(test, take(test, two, 0, NULL), -EDQUOT);
	process_restore_cred(self);
	self = process_set_cred(test, 1001, resource, 1);
	KUNIT_EXPECT_EQ(test, take(test, two, 0, NULL), 0);
	process_restore_cred(self);
	KUNIT_EXPECT_EQ(test, anemone_pool_free(&mock->ctl->pool), 1);
}

static void kept_for_the_kernel(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct file *filp = process_open(test, mock);
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry;
	char reason[128];

	KUNIT_EXPECT_EQ(test, take(test, filp, 3 * MOCK_STATES, reason), -ENOSPC);
	KUNIT_EXPECT_STREQ(test, reason, "3 pipelines needed, 3 of 3 free, 1 kept for the kernel");
	KUNIT_EXPECT_EQ(test, take(test, filp, 2 * MOCK_STATES, NULL), 0); /* root has no limit */
	KUNIT_EXPECT_EQ(test, take(test, filp, 0, NULL), -ENOSPC);
	telemetry = mock_add(test, mock, &spec);
	KUNIT_EXPECT_NULL(test, telemetry->owner);
	KUNIT_EXPECT_EQ(test, anemone_pool_free(&mock->ctl->pool), 0);
}

/* Pipelines that the kernel has taken count as its share. */
static void kernel_share_in_use(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct file *filp = process_open(test, mock);
	struct anemone_spec spec = mock_hotness(0);

	mock_add(test, mock, &spec);
	KUNIT_EXPECT_EQ(test, take(test, filp, 2 * MOCK_STATES, NULL), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(two_users),
	KUNIT_CASE(kept_for_the_kernel),
	KUNIT_CASE(kernel_share_in_use),
	{},
};

static struct kunit_suite suite = { .name = "anemone_quota", .test_cases = cases };

kunit_test_suite(suite);
