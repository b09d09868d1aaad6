// SPDX-License-Identifier: GPL-2.0
#include <linux/delay.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../rotate.h"
#include "mock.h"

#define PERIOD_MS 20

/* Keys 0 to count - 1. */
static u64 *keys_up_to(struct kunit *test, u32 count)
{
	u64 *keys = kunit_kmalloc_array(test, count, sizeof(*keys), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, keys);
	for (i = 0; i < count; i++)
		keys[i] = i;
	return keys;
}

/*
 * Returns a slice's counts; waits until the key has had more slices than `turns`, and raises that.
 * A busy host may begin a slice late and shorten it, so use the longest of several.
 */
static u64 next_slice(struct kunit *test, struct anemone_telemetry *telemetry, u32 key, u64 *turns,
		      u64 *longest)
{
	struct anemone_turns turn = {};
	unsigned int wait;
	u64 value = 0;

	for (wait = 0; wait < 2000 && turn.turns <= *turns; wait++) {
		usleep_range(500, 1000);
		KUNIT_ASSERT_EQ(test, anemone_turn(telemetry, key, 1, &value, &turn), 0);
	}
	KUNIT_ASSERT_GT(test, turn.turns, *turns);
	KUNIT_EXPECT_GT(test, turn.end_ns, turn.start_ns);
	*longest = max(*longest, turn.end_ns - turn.start_ns);
	*turns = turn.turns;
	return value;
}

/* M * period * W / (SRAM * G), NEMO section 6.1. */
static void sweep_time(struct kunit *test)
{
	const u64 memory = 1ULL << MOCK_ADDRESS_BITS, sram = MOCK_STATES * 8;
	u64 sweep, width;

	for (width = 8; width <= 64; width *= 2) {
		struct anemone_spec spec = mock_hotness(0);
		struct anemone_telemetry *telemetry;

		spec.width = width;
		spec.translation.primary.shift = 25;
		spec.translation.sub =
			(struct anemone_field){ .mask = 0x1e00000, .shift = 21 }; /* 2 MiB */
		telemetry = mock_add(test, mock_new(test), &spec);
		KUNIT_ASSERT_EQ(test,
				anemone_rotate(telemetry, keys_up_to(test, 32), 32, PERIOD_MS,
					       &sweep),
				0);
		KUNIT_EXPECT_EQ(test, sweep,
				memory * PERIOD_MS * NSEC_PER_MSEC * width / 8 / (sram * SZ_2M));
		KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
	}
	KUNIT_EXPECT_EQ(test, anemone_rotation_batches(1, 7), 1);
	KUNIT_EXPECT_EQ(test, anemone_rotation_batches(7, 7), 1);
	KUNIT_EXPECT_EQ(test, anemone_rotation_batches(8, 7), 2);
}

/* Five keys share two regions: each counts the accesses of its own slices, and nothing else. */
static void time_slices(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(2);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	struct mutex *lock = &mock->ctl->lock;
	u64 had[5] = {}, longest = 0, sweep, seen[5] = {}, sent[5] = {};
	unsigned int round, key, i;

	KUNIT_ASSERT_EQ(test, anemone_rotate(telemetry, keys_up_to(test, 5), 5, PERIOD_MS, &sweep),
			0);
	KUNIT_EXPECT_EQ(test, sweep, 3ULL * PERIOD_MS * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, anemone_turn(telemetry, 5, 1, &sweep, NULL), -ERANGE);
	for (round = 0; round < 2; round++) {
		for (key = 0; key < 5; key++) {
			/* Access all keys until the watched key has had a slice. */
			mutex_lock(lock);
			for (i = 0; i < 5; i++) {
				if (xa_load(&telemetry->instance[0].keys, i))
					sent[i] += 3;
				mock_access(mock, (u64)i << 21, false);
				mock_access(mock, (u64)i << 21 | 64, false);
				mock_access(mock, (u64)i << 21 | 128, true);
			}
			mutex_unlock(lock);
			seen[key] += next_slice(test, telemetry, key, &had[key], &longest);
		}
	}
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), -ENOENT);
	KUNIT_EXPECT_EQ(test, telemetry->instance[0].mapped, 0);
	/* Counts of unseen slices are lost, so this is an upper bound; some were seen. */
	for (key = 0, i = 0; key < 5; key++) {
		KUNIT_EXPECT_LE(test, seen[key], sent[key]);
		i += seen[key];
	}
	KUNIT_EXPECT_GT(test, i, 0);
	KUNIT_EXPECT_GE(test, longest, PERIOD_MS * NSEC_PER_MSEC / 2);
}

/*
 * If all keys fit, they count in every slice, so every access is counted. If a busy host misses
 * slices, only the last one is kept, and the test tries again.
 */
static void nothing_lost_between_slices(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(2);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	u64 had = 0, before, longest = 0, seen = 0, sweep;
	unsigned int attempt, turn, i;
	bool all = false;

	KUNIT_ASSERT_EQ(test, anemone_rotate(telemetry, keys_up_to(test, 2), 2, PERIOD_MS, &sweep),
			0);
	for (attempt = 0; attempt < 50 && !all; attempt++) {
		/* Skip the accesses of the last attempt. */
		next_slice(test, telemetry, 1, &had, &longest);
		next_slice(test, telemetry, 1, &had, &longest);
		all = true;
		seen = 0;
		/* The sixth slice counts the accesses after the end of the fifth. */
		for (turn = 0; turn < 6; turn++) {
			mutex_lock(&mock->ctl->lock);
			for (i = 0; i < 7 && turn < 5; i++)
				mock_access(mock, 1ULL << 21 | 64 * i, false);
			mutex_unlock(&mock->ctl->lock);
			before = had;
			seen += next_slice(test, telemetry, 1, &had, &longest);
			all &= had == before + 1;
		}
	}
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
	KUNIT_EXPECT_TRUE(test, all);
	KUNIT_EXPECT_EQ(test, seen, 5 * 7);
	KUNIT_EXPECT_GE(test, longest, PERIOD_MS * NSEC_PER_MSEC / 2);
}

/*
 * A period that is no whole number of ticks. A busy host delays some slices: the best six are no
 * longer than the period, and the mean of all is no shorter.
 */
static void period_between_ticks(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(1);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	struct anemone_turns turn, first = {}, since = {};
	u64 sweep, value, mean, best = ~0ULL;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, anemone_rotate(telemetry, keys_up_to(test, 1), 1, 15, &sweep), 0);
	KUNIT_EXPECT_EQ(test, sweep, 15 * NSEC_PER_MSEC);
	for (i = 0; i < 60; i++) {
		usleep_range(5000, 6000);
		KUNIT_ASSERT_EQ(test, anemone_turn(telemetry, 0, 1, &value, &turn), 0);
		if (turn.turns < since.turns + 6)
			continue;
		if (since.turns)
			best = min(best,
				   div64_u64(turn.end_ns - since.end_ns, turn.turns - since.turns));
		else
			first = turn;
		since = turn;
	}
	KUNIT_ASSERT_GT(test, since.turns, first.turns);
	mean = div64_u64(since.end_ns - first.end_ns, since.turns - first.turns);
	KUNIT_EXPECT_GE(test, mean, 14 * NSEC_PER_MSEC);
	KUNIT_EXPECT_LE(test, best, 17 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
}

/* A reset loses what a slice has counted, so the slice is repeated from then on. */
static void reset_during_a_slice(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(1);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	struct anemone_turns turn = {};
	u64 sweep, value, had = 0, longest = 0, reset;

	KUNIT_ASSERT_EQ(test, anemone_rotate(telemetry, keys_up_to(test, 1), 1, PERIOD_MS, &sweep),
			0);
	next_slice(test, telemetry, 0, &had, &longest);
	mutex_lock(&mock->ctl->lock);
	reset = ktime_get_ns();
	KUNIT_EXPECT_EQ(test, anemone_instance_restore(&telemetry->instance[0]), 0);
	mutex_unlock(&mock->ctl->lock);
	while (turn.end_ns < reset) {
		next_slice(test, telemetry, 0, &had, &longest);
		KUNIT_ASSERT_EQ(test, anemone_turn(telemetry, 0, 1, &value, &turn), 0);
	}
	KUNIT_EXPECT_GE(test, turn.start_ns, reset);
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
}

/* The device is removed during a rotation, as by an unplug. */
static void device_removed(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(1);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	u64 sweep;

	KUNIT_ASSERT_EQ(test, anemone_rotate(telemetry, keys_up_to(test, 9), 9, 1, &sweep), 0);
	msleep(20);
	mutex_lock(&mock->ctl->lock);
	mock->ctl->gone = true;
	mock->ctl->hw.down = true;
	anemone_instance_remove(&telemetry->instance[0]);
	mutex_unlock(&mock->ctl->lock);
	msleep(20);
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
}

/* Calls that a rotation refuses, and rotations that are refused. */
static void refusals(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(2);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	u64 *keys = keys_up_to(test, 3), sweep, values[2];
	struct anemone_turns turns;

	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 0, 10, &sweep), -EINVAL);
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 3, 0, &sweep), -EINVAL);
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 3, 60001, &sweep), -EINVAL);
	keys[2] = 1;
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 3, 10, &sweep), -EINVAL);
	keys[2] = 1ULL << 40;
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 3, 10, &sweep), -ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_turn(telemetry, 0, 1, values, &turns), -ENOENT);
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 2, 10, &sweep), -EBUSY);
	KUNIT_EXPECT_EQ(test, anemone_clear_translation(telemetry, 1), 0);

	KUNIT_ASSERT_EQ(test, anemone_rotate(telemetry, keys, 2, 10, &sweep), 0);
	KUNIT_EXPECT_EQ(test, anemone_rotate(telemetry, keys, 2, 10, &sweep), -EBUSY);
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, 1, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, anemone_read(telemetry, 0, 2, values), -EBUSY);
	KUNIT_EXPECT_EQ(test, anemone_snapshot(telemetry, 0, 2, values), 0);
	KUNIT_EXPECT_EQ(test, anemone_turn(telemetry, 2, 1, values, &turns), -ERANGE);
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
	KUNIT_EXPECT_EQ(test, anemone_set_translation(telemetry, 1, 0), 0);
}

static u64 seen_by(struct anemone_telemetry *telemetry)
{
	struct anemone_counts counts;

	mutex_lock(&telemetry->instance[0].ctl->lock);
	anemone_instance_counts(&telemetry->instance[0], &counts);
	mutex_unlock(&telemetry->instance[0].ctl->lock);
	return counts.matched + counts.unmapped;
}

/* The clears of a rotation do not reduce the sums. */
static void sums_continue(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(1);
	struct anemone_telemetry *telemetry = mock_add(test, mock, &spec);
	u64 sweep;

	mock_access(mock, 64, false);
	KUNIT_EXPECT_EQ(test, seen_by(telemetry), 1);
	KUNIT_ASSERT_EQ(test, anemone_rotate(telemetry, keys_up_to(test, 1), 1, 60000, &sweep), 0);
	KUNIT_EXPECT_EQ(test, seen_by(telemetry), 1);
	mutex_lock(&mock->ctl->lock);
	mock_access(mock, 64, false);
	mutex_unlock(&mock->ctl->lock);
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(telemetry), 0);
	KUNIT_EXPECT_EQ(test, seen_by(telemetry), 2);
}

struct reading {
	struct kunit *test;
	struct anemone_telemetry *telemetry;
	u64 had, longest;
};

/* A rotation starts, and ends a slice, between a read and its consume. */
static int rotates(void *to, const u64 *some, size_t count)
{
	struct reading *reading = to;
	u64 sweep;
	int err = anemone_clear_translation(reading->telemetry, 0)
			  ?: anemone_rotate(reading->telemetry, keys_up_to(reading->test, 1), 1,
					    400, &sweep);

	if (!err)
		next_slice(reading->test, reading->telemetry, 0, &reading->had, &reading->longest);
	return err;
}

/* What was read before a rotation is not taken from any of its slices. */
static void read_while_it_starts(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);
	struct reading reading = { .test = test, .telemetry = mock_add(test, mock, &spec) };

	KUNIT_ASSERT_EQ(test, anemone_set_translation(reading.telemetry, 0, 0), 0);
	mock_access(mock, 0, false);
	KUNIT_ASSERT_EQ(test,
			anemone_telemetry_deliver(reading.telemetry, true, false, 0,
						  reading.telemetry->granule, rotates, &reading),
			0);
	mutex_lock(&mock->ctl->lock);
	mock_access(mock, 0, false);
	mock_access(mock, 64, false);
	mutex_unlock(&mock->ctl->lock);
	KUNIT_EXPECT_EQ(test,
			next_slice(test, reading.telemetry, 0, &reading.had, &reading.longest), 2);
	KUNIT_EXPECT_EQ(test, anemone_rotate_stop(reading.telemetry), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(read_while_it_starts), KUNIT_CASE(sweep_time),
	KUNIT_CASE(time_slices),	  KUNIT_CASE(nothing_lost_between_slices),
	KUNIT_CASE(device_removed),	  KUNIT_CASE(period_between_ticks),
	KUNIT_CASE(reset_during_a_slice), KUNIT_CASE(refusals),
	KUNIT_CASE(sums_continue),	  {},
};

static struct kunit_suite suite = { .name = "anemone_rotate", .test_cases = cases };

kunit_test_suite(suite);
