// SPDX-License-Identifier: GPL-2.0
/* Calls of older and newer programs, and the shared snapshot. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../notify.h"
#include "process.h"

static long call(struct kunit *test, struct file *filp, unsigned int command, void *argument,
		 size_t size)
{
	return process_call(test, filp, command, argument, size);
}

static struct anemone_add added(struct kunit *test, struct file *filp, unsigned int regions)
{
	struct anemone_add add = { .size = sizeof(add), .spec = mock_hotness(regions) };

	KUNIT_ASSERT_EQ_MSG(test, call(test, filp, ANEMONE_ADD, &add, sizeof(add)), 0, "%s",
			    add.reason);
	return add;
}

/* Sizes of version 1 and larger ones: extra zeros are ignored, other values are refused. */
static void sizes_of_other_versions(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct file *filp = process_open(test, mock);
	struct anemone_info info;
	u8 *larger = kunit_kzalloc(test, 4096, GFP_KERNEL);
	u32 size;

	KUNIT_ASSERT_NOT_NULL(test, larger);
	for (size = 0; size <= 4100; size += 4) {
		u32 given = min(size, 4096U);

		memset(larger, 0, 4096);
		memcpy(larger, &size, sizeof(size));
		KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_INFO, larger, max(given, 4U)),
				size < 8 || size > 4096 ? -EINVAL : 0);
	}
	size = 200;
	memset(larger, 0, 4096);
	memcpy(larger, &size, sizeof(size));
	larger[199] = 1;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_INFO, larger, 200), -E2BIG);
	/* The size in the command number does not matter; an unknown number is refused. */
	info = (struct anemone_info){ .size = sizeof(info) };
	KUNIT_EXPECT_EQ(test, call(test, filp, _IOWR(ANEMONE_IOC, 0, u64), &info, sizeof(info)), 0);
	KUNIT_EXPECT_EQ(test, info.pipelines, MOCK_PIPELINES);
	KUNIT_EXPECT_EQ(test, call(test, filp, _IOWR(ANEMONE_IOC, 99, u64), &info, sizeof(info)),
			-ENOTTY);
	KUNIT_EXPECT_EQ(test, call(test, filp, _IOWR('x', 0, u64), &info, sizeof(info)), -ENOTTY);
	KUNIT_EXPECT_EQ(test, filp->f_op->unlocked_ioctl(filp, ANEMONE_INFO, 8), -EFAULT);
}

/* Entries of 16 bytes, and of a later version's size. */
static void entries_may_grow(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct file *filp = process_open(test, mock);
	struct anemone_add add = added(test, filp, 8);
	unsigned long at = process_pages(test, 1);
	struct anemone_map map = { .size = 24, .id = add.id, .entries = at, .count = 2, .done = 7 };
	u64 words[6] = { 4, 1, 5, 2 }; /* key, region and flags */
	static const u64 grown[6] = { 6, 3, 0, 7, 4, 0 };

	process_put(test, at, words, sizeof(words));
	KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_MAP, &map, 24), 0);
	KUNIT_EXPECT_EQ(test, map.done, 2);
	KUNIT_EXPECT_EQ(test, ANEMONE_GET(TABLE_BASE, mock->pipeline[0].table[5]), 2);

	map = (struct anemone_map){
		.size = sizeof(map), .id = add.id, .entries = at, .count = 2, .entry_size = 24
	};
	memcpy(words, grown, sizeof(words));
	process_put(test, at, words, sizeof(words));
	KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_MAP, &map, sizeof(map)), 0);
	KUNIT_EXPECT_EQ(test, ANEMONE_GET(TABLE_BASE, mock->pipeline[0].table[7]), 4);
	words[5] = 1; /* unknown to this kernel */
	process_put(test, at, words, sizeof(words));
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_MAP, &map, sizeof(map)), -E2BIG);
	KUNIT_EXPECT_EQ(test, map.done, 1);
	map.entry_size = 8;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_MAP, &map, sizeof(map)), -EINVAL);
	map.entry_size = 16;
	map.pad = 1;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_MAP, &map, sizeof(map)), -EINVAL);
}

/* A count is checked before memory is allocated for it. */
static void bounds_before_memory(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct file *filp = process_open(test, mock);
	struct anemone_add add = added(test, filp, 8);
	struct anemone_rotate rotate = { .size = sizeof(rotate),
					 .id = add.id,
					 .keys = PAGE_SIZE, /* not mapped */
					 .period_ms = 10 };
	struct anemone_read read = { .size = sizeof(read), .id = add.id, .count = ~0U };
	struct anemone_turn turn = { .size = sizeof(turn), .id = add.id, .count = ~0U };

	rotate.count = MOCK_TABLE + 1;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_ROTATE, &rotate, sizeof(rotate)), -EINVAL);
	rotate.count = 32 << 20;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_ROTATE, &rotate, sizeof(rotate)), -EINVAL);
	rotate.count = MOCK_TABLE;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_ROTATE, &rotate, sizeof(rotate)), -EFAULT);
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_READ, &read, sizeof(read)), -ERANGE);
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_TURN, &turn, sizeof(turn)), -ERANGE);
}

/*
 * Counts that could not be delivered, in whole or in part, are returned by the next read, whichever
 * way counters are read.
 */
static void buffer_not_mapped(struct kunit *test)
{
	static const struct {
		u8 width;
		struct anemone_operation effect;
		unsigned int way;
	} cases[] = {
		{ 64, { .op = ANEMONE_OP_RESET }, ANEMONE_HARVEST_DIFFERENCE },
		{ 8, { .op = ANEMONE_OP_RESET }, ANEMONE_HARVEST_ACKNOWLEDGE },
		/* Shifted away. */
		{ 32, { .op = ANEMONE_OP_SHR, .operand = 32 }, ANEMONE_HARVEST_EFFECT },
	};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mock *mock = mock_harvested(test, true, true);
		struct file *filp = process_open(test, mock);
		struct anemone_add add = { .size = sizeof(add), .spec = mock_hotness(64) };
		struct anemone_read read = { .size = sizeof(read), .count = 64 };
		unsigned long at = process_pages(test, 2);
		const unsigned long nowhere[] = { PAGE_SIZE, at + PAGE_SIZE, at + PAGE_SIZE - 8 };
		struct anemone_telemetry *telemetry;
		u64 value;

		add.spec.width = cases[i].width;
		add.spec.read_effect = cases[i].effect;
		KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_ADD, &add, sizeof(add)), 0);
		telemetry = xa_load(&process_file(filp)->telemetries, add.id);
		KUNIT_ASSERT_EQ(test, telemetry->instance[0].harvest, cases[i].way);
		KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 2, 0), 0);
		mock_access(mock, 2ULL << 21, false);
		read.id = add.id;
		KUNIT_ASSERT_EQ(test,
				vm_mmap(NULL, at + PAGE_SIZE, PAGE_SIZE, PROT_NONE,
					MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, 0),
				at + PAGE_SIZE);
		for (k = 0; k < ARRAY_SIZE(nowhere); k++) {
			read.values = nowhere[k];
			KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_READ, &read, sizeof(read)),
					-EFAULT);
		}
		/* Returned once, and not again. */
		read.values = at;
		for (k = 0; k < 2; k++) {
			KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_READ, &read, sizeof(read)),
					0);
			process_get(test, &value, at, sizeof(value));
			KUNIT_EXPECT_EQ(test, value, !k);
		}
	}
}

/* If the end of the buffer cannot be written, a long read takes no counters at all. */
static void end_of_buffer_not_mapped(struct kunit *test)
{
	struct mock *mock = mock_harvested(test, true, true);
	struct file *filp = process_open(test, mock);
	struct anemone_add add = { .size = sizeof(add), .spec = mock_hotness(1024) };
	struct anemone_read read = { .size = sizeof(read), .count = 1024 };
	unsigned long at = process_pages(test, 2);
	struct anemone_telemetry *telemetry;
	u64 value;

	add.spec.width = 8;
	KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_ADD, &add, sizeof(add)), 0);
	telemetry = xa_load(&process_file(filp)->telemetries, add.id);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 2, 0), 0);
	mock_access(mock, 2ULL << 21, false);
	read.id = add.id;
	read.values = at;
	KUNIT_ASSERT_EQ(test,
			vm_mmap(NULL, at + PAGE_SIZE, PAGE_SIZE, PROT_NONE,
				MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, 0),
			at + PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_READ, &read, sizeof(read)), -EFAULT);
	read.values = process_pages(test, 2);
	KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_READ, &read, sizeof(read)), 0);
	process_get(test, &value, read.values, sizeof(value));
	KUNIT_EXPECT_EQ(test, value, 1);
}

/* An id is valid on its file only, and until its removal. */
static void ids_belong_to_their_file(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct file *one = process_open(test, mock), *two = process_open(test, mock);
	struct anemone_add add = added(test, one, 8);
	struct anemone_status status = { .size = sizeof(status), .id = add.id };
	struct anemone_id id = { .size = sizeof(id), .id = add.id };

	KUNIT_EXPECT_EQ(test, call(test, two, ANEMONE_STATUS, &status, sizeof(status)), -ENOENT);
	KUNIT_EXPECT_EQ(test, call(test, two, ANEMONE_REMOVE, &id, sizeof(id)), -ENOENT);
	KUNIT_EXPECT_EQ(test, call(test, one, ANEMONE_STATUS, &status, sizeof(status)), 0);
	KUNIT_EXPECT_EQ(test, call(test, one, ANEMONE_REMOVE, &id, sizeof(id)), 0);
	KUNIT_EXPECT_EQ(test, call(test, one, ANEMONE_REMOVE, &id, sizeof(id)), -ENOENT);
	KUNIT_EXPECT_EQ(test, anemone_pool_free(&mock->ctl->pool), MOCK_PIPELINES);
}

/* Records of the size that was agreed on; bytes that this kernel does not know are zero. */
static void records(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct file *filp = process_open(test, mock);
	struct anemone_add add = { .size = sizeof(add), .spec = mock_hotness(8) };
	struct anemone_events events = { .size = sizeof(events), .record = 48 };
	unsigned long at = process_pages(test, 1);
	struct anemone_telemetry *telemetry;
	u64 words[6];
	unsigned int i;

	add.spec.notify = (struct anemone_operation){ .op = ANEMONE_NOTIFY_GE, .operand = 1 };
	KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_ADD, &add, sizeof(add)), 0);
	telemetry = xa_load(&process_file(filp)->telemetries, add.id);
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 2, 3), 0);
	for (i = 0; i < 2; i++) {
		memset(words, 0xff, sizeof(words));
		process_put(test, at, words, sizeof(words));
		mock_access(mock, 2ULL << 21, false);
		anemone_notify_vector(mock->ctl, 1);
		KUNIT_ASSERT_EQ(test,
				filp->f_op->read(filp, (char __user *)at, sizeof(words), NULL),
				i ? 48 : 24);
		process_get(test, words, at, sizeof(words));
		KUNIT_EXPECT_EQ(test, words[0], add.id | 3ULL << 32);
		KUNIT_EXPECT_EQ(test, words[1], 0); /* channel 0, notification */
		KUNIT_EXPECT_EQ(test, words[5], i ? 0 : ~0ULL);
		KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_EVENTS, &events, sizeof(events)), 0);
		events.known = 0;
	}
	events.record = 23;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_EVENTS, &events, sizeof(events)), -EINVAL);
	events.record = 48;
	events.flags = 2;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_EVENTS, &events, sizeof(events)), -EINVAL);
}

static void snapshot(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct file *filp = process_open(test, mock);
	struct anemone_add add = added(test, filp, 8);
	struct anemone_id id = { .size = sizeof(id), .id = add.id };
	struct anemone_telemetry *telemetry = xa_load(&process_file(filp)->telemetries, add.id);
	u64 offset = ANEMONE_SNAPSHOT_OFFSET(add.id), words[4 + 8];
	unsigned long at;

	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_SNAPSHOT, &id, sizeof(id)), -ENXIO);
	/* Never writable, only for this telemetry, and not past its end. */
	KUNIT_EXPECT_EQ(test,
			vm_mmap(filp, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, offset),
			-EPERM);
	KUNIT_EXPECT_EQ(test, vm_mmap(filp, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, 2 * offset),
			-ENXIO);
	KUNIT_EXPECT_EQ(test, vm_mmap(filp, 0, 2 * PAGE_SIZE, PROT_READ, MAP_SHARED, offset),
			-EINVAL);
	at = vm_mmap(filp, 0, PAGE_SIZE, PROT_READ, MAP_SHARED, offset);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 2, 3), 0);
	mock_access(mock, 2ULL << 21, false);
	KUNIT_ASSERT_EQ(test, call(test, filp, ANEMONE_SNAPSHOT, &id, sizeof(id)), 0);
	process_get(test, words, at, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[0], 2); /* even, after one write */
	KUNIT_EXPECT_NE(test, words[1], 0);
	KUNIT_EXPECT_EQ(test, words[2], 8);
	KUNIT_EXPECT_EQ(test, words[3], 0); /* no tail */
	KUNIT_EXPECT_EQ(test, words[4 + 3], 1);
	KUNIT_EXPECT_EQ(test, words[4 + 2], 0);
	/* A dead device gives no values. */
	mock->dead = true;
	KUNIT_EXPECT_EQ(test, call(test, filp, ANEMONE_SNAPSHOT, &id, sizeof(id)), -EIO);
	KUNIT_EXPECT_EQ(test, vm_munmap(at, PAGE_SIZE), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(sizes_of_other_versions),
	KUNIT_CASE(entries_may_grow),
	KUNIT_CASE(bounds_before_memory),
	KUNIT_CASE(buffer_not_mapped),
	KUNIT_CASE(end_of_buffer_not_mapped),
	KUNIT_CASE(ids_belong_to_their_file),
	KUNIT_CASE(records),
	KUNIT_CASE(snapshot),
	{},
};

static struct kunit_suite suite = { .name = "anemone_ioctl", .test_cases = cases };

kunit_test_suite(suite);
