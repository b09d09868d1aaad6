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

/* The device is given up after this many interrupts without a cause within SPURIOUS_NS. */
#define MAX_SPURIOUS 1000
#define SPURIOUS_NS (60 * NSEC_PER_SEC)
/* Shortest pause between two callbacks of the same pipeline. */
#define CALLBACK_PAUSE_US 1000

unsigned int anemone_poll_ms = 10;
module_param_named(poll_ms, anemone_poll_ms, uint, 0444);
MODULE_PARM_DESC(poll_ms, "milliseconds between polls of a device without interrupts");

static void anemone_signal_eventfd(struct eventfd_ctx *eventfd)
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
	anemone_signal_eventfd(telemetry->eventfd);
	wake_up_interruptible_poll(&telemetry->file->ctl->wait, EPOLLIN | EPOLLRDNORM);
}

static void anemone_notify_acknowledge(struct anemone_controller *ctl, unsigned int vector)
{
	anemone_hw_write(&ctl->hw, ANEMONE_INTERRUPT_ACKNOWLEDGE, 1ULL << vector);
}

static void anemone_report_errors(struct anemone_controller *ctl)
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
	/* In this order, because an error that is still set raises the vector again. */
	anemone_hw_write(&ctl->hw, ANEMONE_ERROR_STATUS, errors);
	anemone_notify_acknowledge(ctl, 0);
}

static struct anemone_instance *anemone_find_instance(struct anemone_controller *ctl,
						      unsigned int pipeline, u32 index,
						      u32 *counter)
{
	struct anemone_instance *instance;

	list_for_each_entry(instance, &ctl->instances, on_controller)
		if (anemone_cache_counter(&instance->cache, pipeline, index, counter))
			return instance;
	return NULL;
}

/* The callback runs without the controller's lock, so that it may read counters. */
static void anemone_notify_callback(struct anemone_controller *ctl,
				    struct anemone_instance *instance,
				    const struct anemone_event *event, unsigned int vector)
{
	struct anemone_telemetry *telemetry = instance->telemetry;
	unsigned int generation = instance->generation;

	anemone_telemetry_get(telemetry);
	mutex_unlock(&ctl->lock);
	mutex_lock(&telemetry->notify_lock);
	if (telemetry->notify)
		telemetry->notify(telemetry, event, telemetry->data);
	mutex_unlock(&telemetry->notify_lock);
	/* A predicate that keeps holding notifies again, at a limited rate. */
	usleep_range(CALLBACK_PAUSE_US, 2 * CALLBACK_PAUSE_US);
	mutex_lock(&ctl->lock);
	/* The pipeline may have a new owner by now, or a clear has re-armed it. */
	if (anemone_instance_installed(instance) && instance->generation == generation)
		anemone_notify_acknowledge(ctl, vector);
	anemone_telemetry_put(telemetry);
}

/* Whether an event of the pipeline waits for its reader, which keeps the cause pending. */
static bool anemone_event_is_pending(struct anemone_controller *ctl, unsigned int pipeline)
{
	struct anemone_instance *instance;

	list_for_each_entry(instance, &ctl->instances, on_controller)
		if (!list_empty(&instance->pending[pipeline].on_file) &&
		    instance->pending[pipeline].generation == instance->generation)
			return true;
	return false;
}

/* Counts an interrupt without a cause; true if the device is given up for too many. */
static bool anemone_notify_spurious(struct anemone_controller *ctl)
{
	u64 now = ktime_get_ns();

	ctl->spurious++;
	/* Rare spurious interrupts over months are no storm. */
	if (!ctl->spurious_row || now - ctl->spurious_since > SPURIOUS_NS) {
		ctl->spurious_row = 0;
		ctl->spurious_since = now;
	}
	if (++ctl->spurious_row < MAX_SPURIOUS)
		return false;
	anemone_hw_abandon(&ctl->hw, "it raises interrupts for nothing");
	return true;
}

static void anemone_notify_dispatch(struct anemone_controller *ctl, unsigned int pipeline)
{
	u64 latch = anemone_hw_read(&ctl->hw,
				    ANEMONE_PIPELINE(pipeline) + ANEMONE_PIPELINE_NOTIFICATION);
	struct anemone_event event = {
		.channel = ANEMONE_GET(PIPELINE_NOTIFICATION_CHANNEL, latch),
		.time_ns = ktime_get_ns(),
	};
	struct anemone_telemetry *telemetry;
	struct anemone_pending_event *pending;
	struct anemone_instance *instance;

	instance = anemone_find_instance(ctl, pipeline,
					 ANEMONE_GET(PIPELINE_NOTIFICATION_INDEX, latch),
					 &event.counter);
	if (!instance) {
		anemone_notify_acknowledge(ctl, 1 + pipeline); /* its telemetry was just removed */
		return;
	}
	telemetry = instance->telemetry;
	event.id = telemetry->id;
	instance->events++;
	trace_anemone_notify(telemetry->spec.name, event.counter, event.channel);
	if (!telemetry->file) {
		anemone_notify_callback(ctl, instance, &event, 1 + pipeline);
		return;
	}
	pending = &instance->pending[pipeline];
	pending->instance = instance;
	pending->pipeline = pipeline;
	pending->generation = instance->generation;
	pending->event = event;
	if (list_empty(&pending->on_file))
		list_add_tail(&pending->on_file, &telemetry->file->events);
	anemone_notify_wake(telemetry);
}

static void anemone_notify_no_cause(struct anemone_controller *ctl, unsigned int vector)
{
	bool stale_vectors = ctl->hw.stale_vectors >> vector & 1;

	ctl->hw.stale_vectors &= ~(1ULL << vector);
	if (stale_vectors || !anemone_notify_spurious(ctl))
		anemone_notify_acknowledge(ctl, vector);
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
		anemone_notify_no_cause(ctl, vector);
		goto unlock;
	}
	/* The device sends one message until the event's reader acknowledges it. */
	if (vector && anemone_event_is_pending(ctl, vector - 1)) {
		anemone_notify_spurious(ctl);
		goto unlock;
	}
	ctl->spurious_row = 0;
	if (vector)
		anemone_notify_dispatch(ctl, vector - 1);
	else
		anemone_report_errors(ctl);
unlock:
	mutex_unlock(&ctl->lock);
}

/* Returns the vectors whose cause has not been reported yet. */
static unsigned long anemone_notify_unreported(struct anemone_controller *ctl)
{
	unsigned long vectors = 0;
	unsigned int pipeline;

	mutex_lock(&ctl->lock);
	if (!anemone_controller_usable(ctl)) {
		u64 pending = anemone_hw_read(&ctl->hw, ANEMONE_INTERRUPT_PENDING);

		if (pending != ~0ULL || anemone_hw_alive(&ctl->hw))
			vectors = pending;
		for (pipeline = 0; pipeline < ctl->hw.shape.pipelines; pipeline++)
			if (anemone_event_is_pending(ctl, pipeline))
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
	unsigned long vectors = anemone_notify_unreported(ctl);
	unsigned int vector;

	for_each_set_bit(vector, &vectors, ctl->hw.shape.pipelines + 1)
		anemone_notify_vector(ctl, vector);
	anemone_notify_poll_later(ctl);
}

struct anemone_pending_event *anemone_notify_next(struct anemone_file *file,
						  struct anemone_event *event)
{
	struct anemone_pending_event *pending;

	mutex_lock(&file->ctl->lock);
	pending = list_first_entry_or_null(&file->events, struct anemone_pending_event, on_file);
	if (pending)
		*event = pending->event;
	mutex_unlock(&file->ctl->lock);
	return pending;
}

void anemone_notify_done(struct anemone_pending_event *pending, const struct anemone_event *event)
{
	struct anemone_controller *ctl = pending->instance->ctl;

	mutex_lock(&ctl->lock);
	/* If the device went meanwhile, the list is empty and there is nothing to re-arm. */
	if (!list_empty(&pending->on_file) && pending->event.time_ns == event->time_ns) {
		list_del_init(&pending->on_file);
		if (pending->generation == pending->instance->generation)
			anemone_notify_acknowledge(ctl, 1 + pending->pipeline);
	}
	mutex_unlock(&ctl->lock);
}
