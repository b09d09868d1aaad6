// SPDX-License-Identifier: GPL-2.0
/* Notification dispatch (NEMO, section 3.2). */
#include <linux/delay.h>
#include <linux/eventfd.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/version.h>

#include "file.h"
#include "notify.h"
#include "trace.h"

/* So many interrupts in a row, in such a time, that nothing was the cause of: it is given up. */
#define SPURIOUS_MOST 1000
#define SPURIOUS_NS (60 * NSEC_PER_SEC)
/* Between a callback's end and the next of the same pipeline, at least. */
#define CALLBACK_PAUSE_US 1000

unsigned int anemone_poll_ms = 10;
module_param_named(poll_ms, anemone_poll_ms, uint, 0444);
MODULE_PARM_DESC(poll_ms, "milliseconds between looks at a device without interrupts");

static void signal_eventfd(struct eventfd_ctx *eventfd)
{
	if (!eventfd)
		return;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	eventfd_signal(eventfd, 1);
#else
	eventfd_signal(eventfd);
#endif
}

void anemone_notify_wake(struct anemone_telemetry *telemetry)
{
	signal_eventfd(telemetry->eventfd);
	wake_up_interruptible_poll(&telemetry->file->ctl->wait, EPOLLIN | EPOLLRDNORM);
}

static void acknowledge(struct anemone_controller *ctl, unsigned int vector)
{
	anemone_hw_write(&ctl->hw, ANEMONE_INTERRUPT_ACKNOWLEDGE, 1ULL << vector);
}

static void report_errors(struct anemone_controller *ctl)
{
	u64 errors = anemone_hw_read(&ctl->hw, ANEMONE_ERROR_STATUS);

	if (ANEMONE_GET(ERROR_STATUS_PARITY, errors))
		dev_warn_ratelimited(ctl->dev, "telemetry was read with bad parity\n");
	if (ANEMONE_GET(ERROR_STATUS_UNCORRECTED, errors)) {
		u64 first = anemone_hw_read(&ctl->hw, ANEMONE_FIRST_FAULT);

		dev_err_ratelimited(ctl->dev,
				    "flipped bits in memory %llu of channel %llu: data are lost\n",
				    ANEMONE_GET(FIRST_FAULT_MEMORY, first),
				    ANEMONE_GET(FIRST_FAULT_CHANNEL, first));
	}
	/* In this order: errors that stand raise the vector again. */
	anemone_hw_write(&ctl->hw, ANEMONE_ERROR_STATUS, errors);
	acknowledge(ctl, 0);
}

static struct anemone_part *find_part(struct anemone_controller *ctl, unsigned int pipeline,
				      u32 index, u32 *counter)
{
	struct anemone_part *part;

	list_for_each_entry(part, &ctl->parts, on_controller)
		if (anemone_cache_counter(&part->cache, pipeline, index, counter))
			return part;
	return NULL;
}

/* The callback runs without the controller's lock, so that it may read. */
static void call_back(struct anemone_controller *ctl, struct anemone_part *part,
		      const struct anemone_event *event, unsigned int vector)
{
	struct anemone_telemetry *telemetry = part->telemetry;
	unsigned int generation = part->generation;

	anemone_telemetry_get(telemetry);
	mutex_unlock(&ctl->lock);
	mutex_lock(&telemetry->notify_lock);
	if (telemetry->notify)
		telemetry->notify(telemetry, event, telemetry->data);
	mutex_unlock(&telemetry->notify_lock);
	/* A predicate that goes on to hold comes again, but not as fast as it can. */
	usleep_range(CALLBACK_PAUSE_US, 2 * CALLBACK_PAUSE_US);
	mutex_lock(&ctl->lock);
	/* Meanwhile the pipeline may have become another's, or be armed again by a clear. */
	if (anemone_part_installed(part) && part->generation == generation)
		acknowledge(ctl, vector);
	anemone_telemetry_put(telemetry);
}

/* Whether an event of the pipeline waits for its reader, and so keeps its cause. */
static bool told(struct anemone_controller *ctl, unsigned int pipeline)
{
	struct anemone_part *part;

	list_for_each_entry(part, &ctl->parts, on_controller)
		if (!list_empty(&part->waiting[pipeline].on_file) &&
		    part->waiting[pipeline].generation == part->generation)
			return true;
	return false;
}

/* True: there were so many that the device is given up. */
static bool spurious(struct anemone_controller *ctl)
{
	u64 now = ktime_get_ns();

	ctl->spurious++;
	/* One now and then, over months, is no storm. */
	if (!ctl->spurious_row || now - ctl->spurious_since > SPURIOUS_NS) {
		ctl->spurious_row = 0;
		ctl->spurious_since = now;
	}
	if (++ctl->spurious_row < SPURIOUS_MOST)
		return false;
	anemone_hw_abandon(&ctl->hw, "it raises interrupts for nothing");
	return true;
}

static void dispatch(struct anemone_controller *ctl, unsigned int pipeline)
{
	u64 latch = anemone_hw_read(&ctl->hw,
				    ANEMONE_PIPELINE(pipeline) + ANEMONE_PIPELINE_NOTIFICATION);
	struct anemone_event event = {
		.channel = ANEMONE_GET(PIPELINE_NOTIFICATION_CHANNEL, latch),
		.time_ns = ktime_get_ns(),
	};
	struct anemone_telemetry *telemetry;
	struct anemone_waiting *waiting;
	struct anemone_part *part;

	part = find_part(ctl, pipeline, ANEMONE_GET(PIPELINE_NOTIFICATION_INDEX, latch),
			 &event.counter);
	if (!part) {
		acknowledge(ctl, 1 + pipeline); /* of a telemetry that was just removed */
		return;
	}
	telemetry = part->telemetry;
	event.id = telemetry->id;
	part->events++;
	trace_anemone_notify(telemetry->spec.name, event.counter, event.channel);
	if (!telemetry->file) {
		call_back(ctl, part, &event, 1 + pipeline);
		return;
	}
	waiting = &part->waiting[pipeline];
	waiting->part = part;
	waiting->pipeline = pipeline;
	waiting->generation = part->generation;
	waiting->event = event;
	if (list_empty(&waiting->on_file))
		list_add_tail(&waiting->on_file, &telemetry->file->events);
	anemone_notify_wake(telemetry);
}

static void nothing_pends(struct anemone_controller *ctl, unsigned int vector)
{
	bool excused = ctl->hw.excused >> vector & 1;

	ctl->hw.excused &= ~(1ULL << vector);
	if (excused || !spurious(ctl))
		acknowledge(ctl, vector);
}

void anemone_notify_vector(struct anemone_controller *ctl, unsigned int vector)
{
	u64 pending;

	mutex_lock(&ctl->lock);
	if (anemone_controller_usable(ctl))
		goto unlock;
	ctl->interrupts++;
	pending = anemone_hw_read(&ctl->hw, ANEMONE_INTERRUPT_PENDING);
	if (pending == ~0ULL && !anemone_hw_alive(&ctl->hw))
		goto unlock;
	if (!(pending >> vector & 1)) {
		nothing_pends(ctl, vector);
		goto unlock;
	}
	/* There is one message until it is acknowledged, by the event's reader. */
	if (vector && told(ctl, vector - 1)) {
		spurious(ctl);
		goto unlock;
	}
	ctl->spurious_row = 0;
	if (vector)
		dispatch(ctl, vector - 1);
	else
		report_errors(ctl);
unlock:
	mutex_unlock(&ctl->lock);
}

/* Vectors with a cause that nobody has been told of yet. */
static unsigned long untold(struct anemone_controller *ctl)
{
	unsigned long vectors = 0;
	unsigned int pipeline;

	mutex_lock(&ctl->lock);
	if (!anemone_controller_usable(ctl)) {
		u64 pending = anemone_hw_read(&ctl->hw, ANEMONE_INTERRUPT_PENDING);

		if (pending != ~0ULL || anemone_hw_alive(&ctl->hw))
			vectors = pending;
		for (pipeline = 0; pipeline < ctl->hw.shape.pipelines; pipeline++)
			if (told(ctl, pipeline))
				vectors &= ~(2UL << pipeline);
	}
	mutex_unlock(&ctl->lock);
	return vectors;
}

void anemone_notify_poll_later(struct anemone_controller *ctl)
{
	schedule_delayed_work(&ctl->poll, msecs_to_jiffies(max(anemone_poll_ms, 1U)));
}

void anemone_notify_poll(struct work_struct *work)
{
	struct anemone_controller *ctl =
		container_of(to_delayed_work(work), struct anemone_controller, poll);
	unsigned long vectors = untold(ctl);
	unsigned int vector;

	for_each_set_bit(vector, &vectors, ctl->hw.shape.pipelines + 1)
		anemone_notify_vector(ctl, vector);
	anemone_notify_poll_later(ctl);
}

struct anemone_waiting *anemone_notify_next(struct anemone_file *file, struct anemone_event *event)
{
	struct anemone_waiting *waiting;

	mutex_lock(&file->ctl->lock);
	waiting = list_first_entry_or_null(&file->events, struct anemone_waiting, on_file);
	if (waiting)
		*event = waiting->event;
	mutex_unlock(&file->ctl->lock);
	return waiting;
}

void anemone_notify_done(struct anemone_waiting *waiting, const struct anemone_event *event)
{
	struct anemone_controller *ctl = waiting->part->ctl;

	mutex_lock(&ctl->lock);
	/* Of a device that went meanwhile there is nothing to arm. */
	if (!list_empty(&waiting->on_file) && waiting->event.time_ns == event->time_ns) {
		list_del_init(&waiting->on_file);
		if (waiting->generation == waiting->part->generation)
			acknowledge(ctl, 1 + waiting->pipeline);
	}
	mutex_unlock(&ctl->lock);
}
