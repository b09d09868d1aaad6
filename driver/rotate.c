// SPDX-License-Identifier: GPL-2.0
/* Time multiplexing of a telemetry on one controller. */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "fold.h"
#include "rotate.h"
#include "trace.h"

/* Most values that a rotation may keep. */
#define MAX_ROTATION_VALUES (32U << 20)

struct anemone_rotation {
	struct anemone_telemetry *telemetry;
	struct delayed_work work;
	struct mutex lock; /* guards what follows; lock order: file.h */
	u32 period_ms;
	u32 count, first; /* keys; the first key of the current slice */
	u64 start_ns;
	u64 next_ns; /* start of the next slice, which the work on this one does not delay */
	unsigned int generation; /* of the instance, once all keys of the slice were mapped */
	int err;		 /* that ended the rotation */
	u64 *keys;
	struct anemone_turns *slices; /* by key */
	u64 *values;		      /* by key and offset, folded */
	u64 *channels;		      /* of all regions, by counter and channel */
};

static void anemone_rotation_free(struct anemone_rotation *rotation)
{
	kvfree(rotation->keys);
	kvfree(rotation->slices);
	kvfree(rotation->values);
	kvfree(rotation->channels);
	kfree(rotation);
}

static u32 anemone_rotation_batch(const struct anemone_rotation *rotation)
{
	return min(rotation->telemetry->regions, rotation->count - rotation->first);
}

/* Saves what the keys of the ending slice have counted. */
static int anemone_rotation_collect(struct anemone_rotation *rotation)
{
	struct anemone_telemetry *telemetry = rotation->telemetry;
	struct anemone_instance *instance = &telemetry->instance[0];
	u32 counters = telemetry->region_counters,
	    all = anemone_rotation_batch(rotation) * counters, key;
	u64 *values = rotation->values + (size_t)rotation->first * counters;
	u64 end = ktime_get_ns();
	int err;

	err = anemone_instance_read(instance, false, 0, all, rotation->channels,
				    telemetry->channels);
	if (err)
		return err;
	anemone_fold_all(instance->plan.op, instance->plan.width, instance->plan.start,
			 rotation->channels, telemetry->channels, all, values);
	for (key = rotation->first; key < rotation->first + anemone_rotation_batch(rotation);
	     key++) {
		rotation->slices[key].turns++;
		rotation->slices[key].start_ns = rotation->start_ns;
		rotation->slices[key].end_ns = end;
	}
	trace_anemone_turn(telemetry->spec.name, rotation->first, anemone_rotation_batch(rotation));
	return 0;
}

static int anemone_rotation_begin(struct anemone_rotation *rotation)
{
	struct anemone_instance *instance = &rotation->telemetry->instance[0];
	int err = anemone_instance_check_memory(instance) ?: anemone_instance_clear(instance);
	u32 region;

	for (region = 0; region < anemone_rotation_batch(rotation) && !err; region++)
		err = anemone_instance_map(instance, rotation->keys[rotation->first + region],
					   region);
	rotation->generation = instance->generation;
	/* Map all keys or none: the clear changes the generation, so this slice does not count. */
	if (err)
		anemone_instance_clear(instance);
	anemone_instance_start(instance);
	rotation->start_ns = ktime_get_ns();
	return err;
}

static void anemone_rotation_schedule(struct anemone_rotation *rotation)
{
	u64 now = ktime_get_ns();

	rotation->next_ns += rotation->period_ms * (u64)NSEC_PER_MSEC;
	if (rotation->next_ns < now)
		rotation->next_ns = now;
	/* Rounded down to a tick; anemone_rotation_work sleeps for the rest. */
	schedule_delayed_work(&rotation->work, nsecs_to_jiffies(rotation->next_ns - now));
}

static void anemone_rotation_work(struct work_struct *work)
{
	struct anemone_rotation *rotation =
		container_of(to_delayed_work(work), struct anemone_rotation, work);
	struct anemone_instance *instance = &rotation->telemetry->instance[0];
	struct anemone_controller *ctl = instance->ctl;
	s64 early_us = div_s64(rotation->next_ns - ktime_get_ns(), NSEC_PER_USEC);
	int err;

	if (early_us > 0)
		usleep_range(early_us, early_us + 100);
	mutex_lock(&rotation->lock);
	mutex_lock(&ctl->lock);
	err = anemone_controller_usable(ctl);
	if (!err && anemone_instance_installed(instance)) {
		anemone_instance_stop(instance);
		/* The clear that follows zeroes the device's counts. */
		anemone_instance_counts(instance, &instance->base_counts);
		/* Repeat a slice that did not map all its keys or saw a reset of the device. */
		if (instance->generation == rotation->generation) {
			err = anemone_rotation_collect(rotation);
			rotation->first += anemone_rotation_batch(rotation);
			if (rotation->first == rotation->count)
				rotation->first = 0;
		}
		if (!err)
			err = anemone_rotation_begin(rotation);
	}
	mutex_unlock(&ctl->lock);
	/* Retry if suspended or out of memory; any other error ends the rotation. */
	rotation->err = err == -EBUSY || err == -ENOMEM ? 0 : err;
	if (!rotation->err)
		anemone_rotation_schedule(rotation);
	mutex_unlock(&rotation->lock);
}

int anemone_rotation_check(const struct anemone_telemetry *telemetry, u32 count, u32 period_ms)
{
	if (READ_ONCE(telemetry->rotation))
		return -EBUSY;
	if (telemetry->instances != 1 ||
	    !anemone_folds(telemetry->instance[0].plan.op, telemetry->channels))
		return -EOPNOTSUPP;
	/* A key is named once and has an entry, so there are not more keys than entries. */
	if (!count || count > 1U << telemetry->instance[0].ctl->hw.shape.table_log2 ||
	    count > MAX_ROTATION_VALUES / telemetry->region_counters || period_ms < 1 ||
	    period_ms > 60000)
		return -EINVAL;
	return 0;
}

/* Translates keys to the device's; each must be in the table, and named once. */
static int anemone_rotation_keys(const struct anemone_instance *instance, const u64 *keys,
				 u32 count, u64 *device)
{
	const struct anemone_shape *shape = &instance->ctl->hw.shape;
	unsigned long *seen = bitmap_zalloc(1U << shape->table_log2, GFP_KERNEL);
	int err = 0;
	u32 i;

	if (!seen)
		return -ENOMEM;
	for (i = 0; i < count && !err; i++) {
		err = anemone_plan_key(&instance->plan, shape, keys[i], &device[i]);
		if (!err && __test_and_set_bit(device[i], seen))
			err = -EINVAL;
	}
	bitmap_free(seen);
	return err;
}

static int anemone_rotation_start(struct anemone_telemetry *telemetry, const u64 *keys, u32 count,
				  u32 period_ms, u64 *sweep_ns)
{
	struct anemone_instance *instance = &telemetry->instance[0];
	int err = anemone_rotation_check(telemetry, count, period_ms);
	size_t values = array_size(count, telemetry->region_counters);
	struct anemone_rotation *rotation;

	if (err)
		return err;
	rotation = kzalloc(sizeof(*rotation), GFP_KERNEL_ACCOUNT);
	if (!rotation)
		return -ENOMEM;
	rotation->telemetry = telemetry;
	rotation->period_ms = period_ms;
	rotation->count = count;
	rotation->keys = kvmalloc_array(count, sizeof(*rotation->keys), GFP_KERNEL_ACCOUNT);
	rotation->slices = kvcalloc(count, sizeof(*rotation->slices), GFP_KERNEL_ACCOUNT);
	rotation->values = kvcalloc(values, sizeof(*rotation->values), GFP_KERNEL_ACCOUNT);
	rotation->channels =
		kvmalloc_array(array_size(telemetry->regions, telemetry->region_counters),
			       telemetry->channels * sizeof(u64), GFP_KERNEL_ACCOUNT);
	mutex_init(&rotation->lock);
	INIT_DELAYED_WORK(&rotation->work, anemone_rotation_work);
	err = -ENOMEM;
	if (!rotation->keys || !rotation->slices || !rotation->values || !rotation->channels)
		goto free;
	err = anemone_rotation_keys(instance, keys, count, rotation->keys);
	if (err)
		goto free;
	mutex_lock(&instance->ctl->lock);
	err = anemone_controller_usable(instance->ctl);
	if (!err && instance->mapped)
		err = -EBUSY;
	if (!err) {
		anemone_instance_stop(instance);
		anemone_instance_counts(instance, &instance->base_counts);
		err = anemone_rotation_begin(rotation);
	}
	if (!err)
		telemetry->rotation = rotation;
	mutex_unlock(&instance->ctl->lock);
	if (err)
		goto free;
	*sweep_ns = (u64)anemone_rotation_batches(count, telemetry->regions) * period_ms *
		    NSEC_PER_MSEC;
	rotation->next_ns = rotation->start_ns;
	anemone_rotation_schedule(rotation);
	return 0;
free:
	anemone_rotation_free(rotation);
	return err;
}

int anemone_rotate(struct anemone_telemetry *telemetry, const u64 *keys, u32 count, u32 period_ms,
		   u64 *sweep_ns)
{
	int err;

	mutex_lock(&telemetry->rotation_lock);
	err = anemone_rotation_start(telemetry, keys, count, period_ms, sweep_ns);
	mutex_unlock(&telemetry->rotation_lock);
	return err;
}
EXPORT_SYMBOL_GPL(anemone_rotate);

int anemone_rotate_stop(struct anemone_telemetry *telemetry)
{
	struct anemone_instance *instance = &telemetry->instance[0];
	struct anemone_rotation *rotation;

	mutex_lock(&telemetry->rotation_lock);
	rotation = telemetry->rotation;
	if (!rotation) {
		mutex_unlock(&telemetry->rotation_lock);
		return -ENOENT;
	}
	cancel_delayed_work_sync(&rotation->work);
	mutex_lock(&instance->ctl->lock);
	telemetry->rotation = NULL;
	if (!anemone_controller_usable(instance->ctl) && anemone_instance_installed(instance)) {
		anemone_instance_stop(instance);
		anemone_instance_counts(instance, &instance->base_counts);
		anemone_instance_clear(instance);
		anemone_instance_start(instance);
	}
	mutex_unlock(&instance->ctl->lock);
	mutex_unlock(&telemetry->rotation_lock);
	anemone_rotation_free(rotation);
	return 0;
}
EXPORT_SYMBOL_GPL(anemone_rotate_stop);

static int anemone_rotation_slice(struct anemone_rotation *rotation, u32 index, u32 count,
				  u64 *values, struct anemone_turns *turns)
{
	u32 counters;
	int err;

	if (!rotation)
		return -ENOENT;
	counters = rotation->telemetry->region_counters;
	if (index >= rotation->count || count > counters)
		return -ERANGE;
	mutex_lock(&rotation->lock);
	err = rotation->err;
	*turns = rotation->slices[index];
	memcpy(values, rotation->values + (size_t)index * counters, count * sizeof(*values));
	mutex_unlock(&rotation->lock);
	return err;
}

int anemone_turn(struct anemone_telemetry *telemetry, u32 index, u32 count, u64 *values,
		 struct anemone_turns *turns)
{
	int err;

	mutex_lock(&telemetry->rotation_lock);
	err = anemone_rotation_slice(telemetry->rotation, index, count, values, turns);
	mutex_unlock(&telemetry->rotation_lock);
	return err;
}
EXPORT_SYMBOL_GPL(anemone_turn);
