// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers of the calls, which encode the structures' sizes, must not change: compiled programs
 * use them.
 */
#include <kunit/test.h>
#include <linux/anemone.h>

static void ioctl_numbers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ANEMONE_INFO, 0xc070a700);
	KUNIT_EXPECT_EQ(test, ANEMONE_ADD, 0xc150a701);
	KUNIT_EXPECT_EQ(test, ANEMONE_REMOVE, 0x4008a702);
	KUNIT_EXPECT_EQ(test, ANEMONE_MAP, 0xc018a703);
	KUNIT_EXPECT_EQ(test, ANEMONE_READ, 0xc020a704);
	KUNIT_EXPECT_EQ(test, ANEMONE_STATUS, 0xc040a705);
	KUNIT_EXPECT_EQ(test, ANEMONE_EVENTFD, 0x4010a706);
	KUNIT_EXPECT_EQ(test, ANEMONE_ROTATE, 0xc020a707);
	KUNIT_EXPECT_EQ(test, ANEMONE_TURN, 0xc030a708);
	KUNIT_EXPECT_EQ(test, ANEMONE_SNAPSHOT, 0x4008a709);
	KUNIT_EXPECT_EQ(test, ANEMONE_EVENTS, 0xc010a70a);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ioctl_numbers),
	{},
};

static struct kunit_suite suite = {
	.name = "anemone_uapi",
	.test_cases = cases,
};

kunit_test_suite(suite);
