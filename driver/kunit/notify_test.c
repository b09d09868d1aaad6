// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>

#include "../file.h"
#include "../notify.h"
#include "mock.h"

static struct anemone_file *new_file(struct kunit *test, struct mock *mock)
{
	struct anemone_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	file->ctl = mock->ctl;
	INIT_LIST_HEAD(&file->events);
	return file;
}

/* Reads an event as read(2) does. */
static bool take(struct anemone_file *file, struct anemone_event *event)
{
	struct anemone_pending_event *pending = anemone_notify_next(file, event);

	if (pending)
		anemone_notify_done(pending, event);
	return pending;
}

static struct anemone_telemetry *watched(struct kunit *test, struct mock *mock,
					 struct anemone_file *file, u64 threshold)
{
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry;

	spec.notify = (struct anemone_operation){ .op = ANEMONE_NOTIFY_GE, .operand = threshold };
	telemetry = mock_add(test, mock, &spec);
	telemetry->file = file;
	telemetry->id = 7;
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 2, 11), 0);
	return telemetry;
}

static void an_event_is_read_once(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_file *file = new_file(test, mock);
	struct anemone_telemetry *telemetry = watched(test, mock, file, 3);
	unsigned int vector = 1 + telemetry->instance[0].cache.slab[0], i;
	struct anemone_event event;

	for (i = 0; i < 2; i++)
		mock_access(mock, 2ULL << 21 | 64, true);
	KUNIT_EXPECT_FALSE(test, take(file, &event));
	for (i = 0; i < 10; i++) /* the predicate holds each time */
		mock_access(mock, 2ULL << 21 | 64, true);
	anemone_notify_vector(mock->ctl, vector);
	anemone_notify_vector(mock->ctl, vector); /* not read yet: still one event */
	KUNIT_EXPECT_EQ(test, telemetry->instance[0].events, 1);
	KUNIT_EXPECT_EQ(test, mock->ctl->spurious, 1);
	KUNIT_ASSERT_TRUE(test, take(file, &event));
	KUNIT_EXPECT_EQ(test, event.id, 7);
	KUNIT_EXPECT_EQ(test, event.counter, 11);
	KUNIT_EXPECT_EQ(test, event.channel, 1);
	KUNIT_EXPECT_FALSE(test, take(file, &event));
	/* The read re-arms the pipeline. */
	KUNIT_EXPECT_EQ(test, mock->pipeline[vector - 1].latch, 0);
	mock_access(mock, 2ULL << 21, false);
	mock_access(mock, 2ULL << 21, false);
	mock_access(mock, 2ULL << 21, false);
	anemone_notify_vector(mock->ctl, vector);
	KUNIT_ASSERT_TRUE(test, take(file, &event));
	KUNIT_EXPECT_EQ(test, event.channel, 0);
	KUNIT_EXPECT_EQ(test, mock->ctl->spurious, 1);
}

static void removed_with_an_event(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_file *file = new_file(test, mock);
	struct anemone_telemetry *telemetry = watched(test, mock, file, 1);
	unsigned int vector = 1 + telemetry->instance[0].cache.slab[0];
	struct anemone_event event;

	mock_access(mock, 2ULL << 21, true);
	anemone_notify_vector(mock->ctl, vector);
	mutex_lock(&mock->ctl->lock);
	anemone_instance_remove(&telemetry->instance[0]);
	mutex_unlock(&mock->ctl->lock);
	KUNIT_EXPECT_FALSE(test, take(file, &event));
	anemone_notify_vector(mock->ctl, vector); /* no telemetry: acknowledged */
	KUNIT_EXPECT_EQ(test, mock->pipeline[vector - 1].latch, 0);
}

struct heard {
	struct anemone_event event;
	unsigned int calls;
	u64 value;
};

static void hear(struct anemone_telemetry *telemetry, const struct anemone_event *event, void *data)
{
	struct heard *heard = data;
	u64 values[8];

	heard->calls++;
	heard->event = *event;
	/* A callback may read. */
	if (!anemone_read(telemetry, 8, 8, values))
		heard->value = values[event->counter - 8];
}

static void callback(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_spec spec = mock_hotness(0);
	struct anemone_telemetry *telemetry;
	struct heard heard = {};
	unsigned int i;

	spec.notify = (struct anemone_operation){ .op = ANEMONE_NOTIFY_GE, .operand = 4 };
	list_add_tail(&mock->ctl->on_list, &anemone_controllers);
	telemetry = anemone_register_telemetry(&spec, hear, &heard);
	list_del_init(&mock->ctl->on_list);
	KUNIT_ASSERT_FALSE(test, IS_ERR(telemetry));
	KUNIT_ASSERT_EQ(test, anemone_set_translation(telemetry, 6, 13), 0);
	for (i = 0; i < 6; i++)
		mock_access(mock, 6ULL << 21, true);
	anemone_notify_vector(mock->ctl, 1 + telemetry->instance[0].cache.slab[0]);
	KUNIT_EXPECT_EQ(test, heard.calls, 1);
	KUNIT_EXPECT_EQ(test, heard.event.counter, 13);
	KUNIT_EXPECT_EQ(test, heard.value, 6);
	anemone_unregister_telemetry(telemetry);
}

static void spurious_interrupts(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_file *file = new_file(test, mock);
	unsigned int i, vector;

	vector = 1 + watched(test, mock, file, 1)->instance[0].cache.slab[0];
	for (i = 0; i < 999; i++)
		anemone_notify_vector(mock->ctl, 1 + i % MOCK_PIPELINES);
	KUNIT_EXPECT_EQ(test, mock->ctl->spurious, 999);
	KUNIT_EXPECT_FALSE(test, mock->ctl->hw.failed);
	mock_access(mock, 2ULL << 21, true); /* an interrupt with a cause restarts the count */
	anemone_notify_vector(mock->ctl, vector);
	for (i = 0; i < 999; i++)
		anemone_notify_vector(mock->ctl, 0);
	KUNIT_EXPECT_FALSE(test, mock->ctl->hw.failed);
	anemone_notify_vector(mock->ctl, 0);
	KUNIT_EXPECT_TRUE(test, mock->ctl->hw.failed);
}

/* Rare spurious interrupts over days are no storm. */
static void rare_spurious_interrupts(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	unsigned int i;

	for (i = 0; i < 3000; i++) {
		anemone_notify_vector(mock->ctl, 0);
		if (i % 900 == 899) /* a minute passes */
			mock->ctl->spurious_since -= 61ULL * NSEC_PER_SEC;
	}
	KUNIT_EXPECT_EQ(test, mock->ctl->spurious, 3000);
	KUNIT_EXPECT_FALSE(test, mock->ctl->hw.failed);
}

static void interrupt_for_an_unread_event(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_file *file = new_file(test, mock);
	struct anemone_telemetry *telemetry = watched(test, mock, file, 1);
	unsigned int i, vector = 1 + telemetry->instance[0].cache.slab[0];

	mock_access(mock, 2ULL << 21, true);
	for (i = 0; i < 1000; i++)
		anemone_notify_vector(mock->ctl, vector);
	KUNIT_EXPECT_FALSE(test, mock->ctl->hw.failed);
	anemone_notify_vector(mock->ctl, vector);
	KUNIT_EXPECT_TRUE(test, mock->ctl->hw.failed);
	KUNIT_EXPECT_EQ(test, telemetry->instance[0].events, 1);
}

/* Counters start again, as at the end of a time slice, and the predicate holds again. */
static void notify_after_clear(struct mock *mock, struct anemone_telemetry *telemetry, u32 region)
{
	struct anemone_instance *instance = &telemetry->instance[0];

	mutex_lock(&mock->ctl->lock);
	anemone_instance_clear(instance);
	anemone_instance_map(instance, 2, region);
	anemone_instance_start(instance);
	mock_access(mock, 2ULL << 21, true);
	mutex_unlock(&mock->ctl->lock);
}

static void event_of_cleared_counters(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_file *file = new_file(test, mock);
	struct anemone_telemetry *telemetry = watched(test, mock, file, 1);
	unsigned int vector = 1 + telemetry->instance[0].cache.slab[0];
	struct mock_pipeline *pipeline = &mock->pipeline[vector - 1];
	struct anemone_pending_event *pending;
	struct anemone_event event;

	/*
	 * The event before was not read: the newest replaces it, and nothing is counted as
	 * spurious.
	 */
	notify_after_clear(mock, telemetry, 11);
	anemone_notify_vector(mock->ctl, vector);
	notify_after_clear(mock, telemetry, 12);
	anemone_notify_vector(mock->ctl, vector);
	KUNIT_ASSERT_TRUE(test, take(file, &event));
	KUNIT_EXPECT_EQ(test, event.counter, 12);
	KUNIT_EXPECT_FALSE(test, take(file, &event));
	KUNIT_EXPECT_EQ(test, mock->ctl->spurious, 0);
	/* An event that comes while another is being copied stays, and is not acknowledged. */
	notify_after_clear(mock, telemetry, 13);
	anemone_notify_vector(mock->ctl, vector);
	pending = anemone_notify_next(file, &event);
	KUNIT_ASSERT_NOT_NULL(test, pending);
	notify_after_clear(mock, telemetry, 14);
	anemone_notify_vector(mock->ctl, vector);
	anemone_notify_done(pending, &event);
	KUNIT_EXPECT_NE(test, pipeline->latch, 0);
	KUNIT_ASSERT_TRUE(test, take(file, &event));
	KUNIT_EXPECT_EQ(test, event.counter, 14);
	/*
	 * The same before its message has come: only the read of the new event re-arms the
	 * pipeline.
	 */
	notify_after_clear(mock, telemetry, 15);
	anemone_notify_vector(mock->ctl, vector);
	pending = anemone_notify_next(file, &event);
	KUNIT_ASSERT_NOT_NULL(test, pending);
	notify_after_clear(mock, telemetry, 16);
	anemone_notify_done(pending, &event);
	KUNIT_EXPECT_NE(test, pipeline->latch, 0);
	anemone_notify_vector(mock->ctl, vector);
	KUNIT_ASSERT_TRUE(test, take(file, &event));
	KUNIT_EXPECT_EQ(test, event.counter, 16);
	KUNIT_EXPECT_EQ(test, pipeline->latch, 0);
}

/* Clears of the driver, as in a rotation, are not the device's fault. */
static void cause_cleared_by_the_driver(struct kunit *test)
{
	struct mock *mock = mock_new(test);
	struct anemone_file *file = new_file(test, mock);
	struct anemone_telemetry *telemetry = watched(test, mock, file, 1);
	unsigned int i, vector = 1 + telemetry->instance[0].cache.slab[0];

	for (i = 0; i < 2000; i++) {
		mutex_lock(&mock->ctl->lock);
		KUNIT_ASSERT_EQ(test, anemone_instance_map(&telemetry->instance[0], 2, 0), 0);
		mock_access(mock, 2ULL << 21, true);
		anemone_instance_clear(&telemetry->instance[0]);
		anemone_instance_start(&telemetry->instance[0]);
		mutex_unlock(&mock->ctl->lock);
		anemone_notify_vector(mock->ctl, vector); /* the message comes late */
	}
	KUNIT_EXPECT_EQ(test, mock->ctl->spurious, 0);
	KUNIT_EXPECT_FALSE(test, mock->ctl->hw.failed);
	anemone_notify_vector(mock->ctl, vector);
	KUNIT_EXPECT_EQ(test, mock->ctl->spurious, 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(an_event_is_read_once),
	KUNIT_CASE(removed_with_an_event),
	KUNIT_CASE(callback),
	KUNIT_CASE(spurious_interrupts),
	KUNIT_CASE(rare_spurious_interrupts),
	KUNIT_CASE(interrupt_for_an_unread_event),
	KUNIT_CASE(event_of_cleared_counters),
	KUNIT_CASE(cause_cleared_by_the_driver),
	{},
};

static struct kunit_suite suite = { .name = "anemone_notify", .test_cases = cases };

kunit_test_suite(suite);
