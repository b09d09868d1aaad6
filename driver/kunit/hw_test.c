// SPDX-License-Identifier: GPL-2.0
#include "mock.h"

static int identify(struct mock *mock)
{
	return anemone_hw_identify(&mock->ctl->hw);
}

static void sizes(struct kunit *test)
{
	struct anemone_shape *shape = &mock_new(test)->ctl->hw.shape;

	KUNIT_EXPECT_EQ(test, shape->pipelines, MOCK_PIPELINES);
	KUNIT_EXPECT_EQ(test, shape->channels, MOCK_CHANNELS);
	KUNIT_EXPECT_EQ(test, shape->states, MOCK_STATES);
	KUNIT_EXPECT_EQ(test, 1 << shape->table_log2, MOCK_TABLE);
	KUNIT_EXPECT_EQ(test, shape->address_bits, MOCK_ADDRESS_BITS);
	KUNIT_EXPECT_FALSE(test, shape->flat);
}

/* Each of these sizes of a device would index past an array. */
static void invalid_sizes(struct kunit *test)
{
	static const struct {
		u64 mask, value;
	} wrong[] = {
		{ ANEMONE_CAPABILITY_PIPELINES_MASK, ANEMONE_PUT(CAPABILITY_PIPELINES, 0) },
		{ ANEMONE_CAPABILITY_PIPELINES_MASK, ANEMONE_PUT(CAPABILITY_PIPELINES, 33) },
		{ ANEMONE_CAPABILITY_CHANNELS_MASK, ANEMONE_PUT(CAPABILITY_CHANNELS, 0) },
		{ ANEMONE_CAPABILITY_CHANNELS_MASK, ANEMONE_PUT(CAPABILITY_CHANNELS, 3) },
		{ ANEMONE_CAPABILITY_CHANNELS_MASK, ANEMONE_PUT(CAPABILITY_CHANNELS, 8) },
		{ ANEMONE_CAPABILITY_STATES_LOG2_MASK, ANEMONE_PUT(CAPABILITY_STATES_LOG2, 2) },
		{ ANEMONE_CAPABILITY_STATES_LOG2_MASK, ANEMONE_PUT(CAPABILITY_STATES_LOG2, 13) },
		{ ANEMONE_CAPABILITY_STATES_LOG2_MASK, ANEMONE_PUT(CAPABILITY_STATES_LOG2, 64) },
		{ ANEMONE_CAPABILITY_TABLE_LOG2_MASK, ANEMONE_PUT(CAPABILITY_TABLE_LOG2, 18) },
		{ ANEMONE_CAPABILITY_ADDRESS_BITS_MASK, ANEMONE_PUT(CAPABILITY_ADDRESS_BITS, 64) },
		{ ANEMONE_CAPABILITY_ADDRESS_BITS_MASK, ANEMONE_PUT(CAPABILITY_ADDRESS_BITS, 6) },
	};
	struct mock *mock = mock_bare(test);
	u64 right = mock->capability;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		mock->capability = (right & ~wrong[i].mask) | wrong[i].value;
		KUNIT_EXPECT_EQ_MSG(test, identify(mock), -EPROTO, "capability %#llx",
				    mock->capability);
	}
	mock->capability = right;
	KUNIT_EXPECT_EQ(test, identify(mock), 0);
	mock->window = 0x3000;
	KUNIT_EXPECT_EQ(test, identify(mock), -EPROTO);
}

static void unknown_devices(struct kunit *test)
{
	struct mock *mock = mock_bare(test);

	mock->id = ~0ULL;
	KUNIT_EXPECT_EQ(test, identify(mock), -ENODEV);
	mock->id = ANEMONE_ID_MAGIC_VALUE;
	mock->version = 2ULL << ANEMONE_VERSION_MAJOR_SHIFT;
	KUNIT_EXPECT_EQ(test, identify(mock), -EPROTO);
	mock->version = 1ULL << ANEMONE_VERSION_MAJOR_SHIFT |
			7; /* a newer minor version may be ignored */
	KUNIT_EXPECT_EQ(test, identify(mock), 0);
}

static void windows_do_not_fit(struct kunit *test)
{
	struct mock *mock = mock_bare(test);

	KUNIT_ASSERT_EQ(test, identify(mock), 0);
	KUNIT_EXPECT_EQ(test, anemone_hw_start(&mock->ctl->hw, MOCK_REGION_BYTES - 1), -EPROTO);
	/* A region that is not aligned to a window needs more room. */
	mock->ctl->hw.region += 0x1000;
	KUNIT_EXPECT_EQ(test, anemone_hw_start(&mock->ctl->hw, MOCK_REGION_BYTES), -EPROTO);
	KUNIT_EXPECT_EQ(test, anemone_hw_start(&mock->ctl->hw, 2 * MOCK_REGION_BYTES), 0);
	KUNIT_EXPECT_EQ(test, mock->effect_window & ~1ULL,
			(1ULL << MOCK_ADDRESS_BITS) + MOCK_REGION_BYTES / 2);
}

/* Two such windows sum to zero in 64 bits. */
static void windows_that_wrap(struct kunit *test)
{
	struct mock *mock = mock_bare(test);
	unsigned int log2;

	mock->ctl->hw.region = 0;
	for (log2 = 20; log2 < 64; log2++) {
		mock->window = 1ULL << log2;
		KUNIT_ASSERT_EQ(test, identify(mock), 0);
		KUNIT_EXPECT_EQ(test, anemone_hw_start(&mock->ctl->hw, MOCK_REGION_BYTES), -EPROTO);
	}
	/* A region past the last address would wrap its windows to the first. */
	mock->window = PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, identify(mock), 0);
	mock->ctl->hw.region = -((u64)PAGE_SIZE / 2);
	KUNIT_EXPECT_EQ(test, anemone_hw_start(&mock->ctl->hw, MOCK_REGION_BYTES), -EPROTO);
}

static void clear_that_never_ends(struct kunit *test)
{
	struct mock *mock = mock_new(test);

	mock->never_clear = true;
	KUNIT_EXPECT_EQ(test, anemone_hw_clear(&mock->ctl->hw, 1), -EIO);
	KUNIT_EXPECT_TRUE(test, mock->ctl->hw.failed);
	KUNIT_EXPECT_EQ(test, anemone_controller_usable(mock->ctl), -EIO);
}

/* A slow simulator: seconds pass in few of its cycles. */
static void clear_that_takes_long(struct kunit *test)
{
	struct mock *mock = mock_new(test);

	mock->slow = 3;
	KUNIT_EXPECT_EQ(test, anemone_hw_clear(&mock->ctl->hw, 1), 0);
	KUNIT_EXPECT_EQ(test, mock->slow, 0U);
	KUNIT_EXPECT_FALSE(test, mock->ctl->hw.failed);
}

static void device_off_the_bus(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	u64 words[2 * MOCK_CHANNELS * ANEMONE_LINE_WORDS];

	KUNIT_EXPECT_EQ(test,
			anemone_hw_lines(&mock->ctl->hw, 0, mock->ctl->hw.snapshot, 0, 2, words),
			0);
	mock->dead = true;
	KUNIT_EXPECT_EQ(test,
			anemone_hw_lines(&mock->ctl->hw, 0, mock->ctl->hw.snapshot, 0, 2, words),
			-EIO);
	KUNIT_EXPECT_TRUE(test, mock->ctl->hw.failed);
	/* A device that was given up is not accessed any more, whatever it answers. */
	mock->dead = false;
	KUNIT_EXPECT_EQ(test,
			anemone_hw_lines(&mock->ctl->hw, 0, mock->ctl->hw.snapshot, 0, 2, words),
			-EIO);
	KUNIT_EXPECT_FALSE(test, anemone_hw_alive(&mock->ctl->hw));
}

/* Counters may be all ones, as long as the register `id` is right. */
static void all_ones_are_a_value(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	u64 words[MOCK_CHANNELS * ANEMONE_LINE_WORDS];

	mock->pipeline[0].states[0][0] = ~0ULL;
	KUNIT_EXPECT_EQ(test,
			anemone_hw_lines(&mock->ctl->hw, 0, mock->ctl->hw.snapshot, 0, 1, words),
			0);
	KUNIT_EXPECT_EQ(test, words[0], ~0ULL);
}

static bool region_is_elsewhere;

static bool region_moved(struct anemone_hw *hw)
{
	return region_is_elsewhere;
}

/* A region in memory may be lost while the registers answer. */
static void region_lost(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_hw *hw = &mock->ctl->hw;
	u64 words[MOCK_CHANNELS * ANEMONE_LINE_WORDS];

	hw->region_moved = region_moved;
	region_is_elsewhere = false;
	mock->pipeline[0].states[0][0] = ~0ULL;
	KUNIT_EXPECT_EQ(test, anemone_hw_lines(hw, 0, hw->snapshot, 0, 1, words), 0);
	region_is_elsewhere = true;
	KUNIT_EXPECT_EQ(test, anemone_hw_lines(hw, 0, hw->snapshot, 0, 1, words), -EIO);
	KUNIT_EXPECT_TRUE(test, hw->failed);
	KUNIT_EXPECT_EQ(test, mock->snapshot_window | mock->effect_window, 0);
}

/* The address of the region may have other memory, or none. */
static void region_missing(struct kunit *test)
{
	struct mock *mock = mock_bare(test);
	struct anemone_hw *hw = &mock->ctl->hw;

	KUNIT_ASSERT_EQ(test, identify(mock), 0);
	mock->lines_dead = true;
	KUNIT_EXPECT_EQ(test, anemone_hw_start(hw, MOCK_REGION_BYTES), -EIO);
	KUNIT_EXPECT_TRUE(test, hw->failed);
	mock = mock_bare(test);
	hw = &mock->ctl->hw;
	KUNIT_ASSERT_EQ(test, identify(mock), 0);
	hw->region_moved = region_moved;
	region_is_elsewhere = true;
	KUNIT_EXPECT_EQ(test, anemone_hw_start(hw, MOCK_REGION_BYTES), -EIO);
	region_is_elsewhere = false;
	hw->failed = false;
	KUNIT_EXPECT_EQ(test, anemone_hw_start(hw, MOCK_REGION_BYTES), 0);
}

static void set_minor(struct mock *mock, u64 minor)
{
	mock->ctl->hw.shape.version = ANEMONE_PUT(VERSION_MAJOR, 1) |
				      ANEMONE_PUT(VERSION_MINOR, minor);
}

/* Quiesce before a reset; a start accepts requests again, even without a reset. */
static void quiesce_before_reset(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_hw *hw = &mock->ctl->hw;

	set_minor(mock, 1);
	KUNIT_EXPECT_EQ(test, anemone_hw_quiesce(hw), 0);
	KUNIT_EXPECT_TRUE(test, mock->stopped);
	KUNIT_EXPECT_EQ(test, anemone_hw_start(hw, MOCK_REGION_BYTES), 0);
	KUNIT_EXPECT_FALSE(test, mock->stopped);
	mock->never_quiet = true;
	KUNIT_EXPECT_EQ(test, anemone_hw_quiesce(hw), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, hw->failed);
	mock->dead = true;
	KUNIT_EXPECT_EQ(test, anemone_hw_quiesce(hw), -EIO);
}

/* Register map 1.0 does not have the register: a write to it would count as an error. */
static void no_quiesce_before_1_1(struct kunit *test)
{
	struct mock *mock = mock_new(test);

	set_minor(mock, 0);
	KUNIT_EXPECT_EQ(test, anemone_hw_quiesce(&mock->ctl->hw), -EOPNOTSUPP);
	KUNIT_EXPECT_FALSE(test, mock->stopped);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(invalid_sizes),
	KUNIT_CASE(unknown_devices),
	KUNIT_CASE(windows_do_not_fit),
	KUNIT_CASE(windows_that_wrap),
	KUNIT_CASE(clear_that_never_ends),
	KUNIT_CASE(clear_that_takes_long),
	KUNIT_CASE(device_off_the_bus),
	KUNIT_CASE(all_ones_are_a_value),
	KUNIT_CASE(region_lost),
	KUNIT_CASE(region_missing),
	KUNIT_CASE(quiesce_before_reset),
	KUNIT_CASE(no_quiesce_before_1_1),
	{},
};

static struct kunit_suite suite = { .name = "anemone_hw", .test_cases = cases };

kunit_test_suite(suite);
