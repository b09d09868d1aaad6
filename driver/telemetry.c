// SPDX-License-Identifier: GPL-2.0
/* Telemetries on one or more controllers. */
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "fold.h"
#include "user_pages.h"
#include "telemetry.h"
#include "trace.h"

LIST_HEAD(anemone_controllers);
DEFINE_MUTEX(anemone_controllers_lock); /* guards the list; taken before a controller's lock */

/* Counters that are folded at a time. */
#define CHUNK 512

static void anemone_telemetry_release(struct kref *ref)
{
	struct anemone_telemetry *telemetry = container_of(ref, struct anemone_telemetry, ref);
	unsigned int i;

	for (i = 0; i < telemetry->instances; i++) {
		xa_destroy(&telemetry->instance[i].keys);
		anemone_controller_put(telemetry->instance[i].ctl);
	}
	if (telemetry->eventfd)
		eventfd_ctx_put(telemetry->eventfd);
	vfree(telemetry->snapshot);
	kvfree(telemetry->chunk);
	kfree(telemetry->folded);
	put_pid(telemetry->owner);
	kfree(telemetry);
}

struct anemone_telemetry *anemone_telemetry_get(struct anemone_telemetry *telemetry)
{
	kref_get(&telemetry->ref);
	return telemetry;
}

void anemone_telemetry_put(struct anemone_telemetry *telemetry)
{
	kref_put(&telemetry->ref, anemone_telemetry_release);
}

/* Adds an instance on a controller; -ERANGE if the filter does not reach its memory. */
static int anemone_telemetry_add_instance(struct anemone_telemetry *telemetry,
					  struct anemone_controller *ctl,
					  struct anemone_reason *reason)
{
	struct anemone_instance *instance = &telemetry->instance[telemetry->instances];
	int err;

	mutex_lock(&ctl->lock);
	err = anemone_controller_usable(ctl);
	if (err)
		anemone_refuse(reason, err, "the device cannot be used");
	else if (telemetry->spec.flags & ANEMONE_SPEC_HOST)
		anemone_controller_update_memory(ctl);
	if (!err)
		err = anemone_spec_plan(&telemetry->spec, &ctl->hw.shape, &ctl->memory,
					&instance->plan, reason);
	if (err)
		goto unlock;
	instance->ctl = ctl;
	instance->telemetry = telemetry;
	INIT_LIST_HEAD(&instance->on_controller);
	xa_init(&instance->keys);
	if (telemetry->regions)
		instance->plan.regions = telemetry->regions;
	err = anemone_instance_install(instance, reason);
	if (err) {
		xa_destroy(&instance->keys);
		goto unlock;
	}
	telemetry->instances++;
	telemetry->channels += ctl->hw.shape.channels;
	anemone_controller_get(ctl);
	if (telemetry->instances == 1) {
		telemetry->regions = instance->cache.regions;
		telemetry->region_counters = instance->plan.region_counters;
		telemetry->granule = instance->plan.granule;
	} else if (instance->plan.region_counters != telemetry->region_counters) {
		err = anemone_refuse(reason, -EINVAL,
				     "a region has %u counters on one controller, %u on another",
				     telemetry->region_counters, instance->plan.region_counters);
	}
unlock:
	mutex_unlock(&ctl->lock);
	return err;
}

static struct anemone_telemetry *anemone_telemetry_new(const struct anemone_spec *spec,
						       unsigned int instances)
{
	struct anemone_telemetry *telemetry;

	telemetry = kzalloc(struct_size(telemetry, instance, instances), GFP_KERNEL_ACCOUNT);
	if (!telemetry)
		return NULL;
	kref_init(&telemetry->ref);
	mutex_init(&telemetry->notify_lock);
	mutex_init(&telemetry->read_lock);
	mutex_init(&telemetry->rotation_lock);
	telemetry->chunk = kvmalloc_array(CHUNK * ANEMONE_CHANNELS_MAX, instances * sizeof(u64),
					  GFP_KERNEL_ACCOUNT);
	telemetry->folded = kmalloc_array(CHUNK, sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (!telemetry->chunk || !telemetry->folded) {
		kvfree(telemetry->chunk);
		kfree(telemetry->folded);
		kfree(telemetry);
		return NULL;
	}
	anemone_user_pages_init(&telemetry->pages);
	telemetry->spec = *spec;
	return telemetry;
}

static struct anemone_telemetry *anemone_telemetry_add_all(const struct anemone_spec *spec,
							   struct anemone_reason *reason)
{
	struct anemone_telemetry *telemetry;
	struct anemone_controller *ctl;
	unsigned int controllers = 0;
	int err = -ENODEV;

	anemone_refuse(reason, err, "there is no controller");
	mutex_lock(&anemone_controllers_lock);
	list_for_each_entry(ctl, &anemone_controllers, on_list)
		controllers++;
	telemetry = anemone_telemetry_new(spec, controllers);
	if (!telemetry) {
		err = -ENOMEM;
		goto unlock;
	}
	list_for_each_entry(ctl, &anemone_controllers, on_list) {
		err = anemone_telemetry_add_instance(telemetry, ctl, reason);
		/* Go on without a controller that has other memory or a dead device. */
		if (err && err != -ERANGE && err != -EIO && err != -ENODEV)
			goto unlock;
	}
	if (telemetry->instances)
		err = 0;
unlock:
	mutex_unlock(&anemone_controllers_lock);
	if (err && telemetry)
		anemone_telemetry_remove(telemetry);
	return err ? ERR_PTR(err) : telemetry;
}

static struct anemone_telemetry *anemone_telemetry_add_one(const struct anemone_spec *spec,
							   struct anemone_controller *ctl,
							   bool owned,
							   struct anemone_reason *reason)
{
	struct anemone_telemetry *telemetry = anemone_telemetry_new(spec, 1);
	int err;

	if (!telemetry)
		return ERR_PTR(-ENOMEM);
	if (owned) {
		telemetry->owner = get_pid(task_tgid(current));
		telemetry->user = current_uid();
	}
	err = anemone_telemetry_add_instance(telemetry, ctl, reason);
	if (err) {
		anemone_telemetry_remove(telemetry);
		return ERR_PTR(err);
	}
	trace_anemone_add(telemetry->spec.name, telemetry->instance[0].cache.slabs,
			  telemetry->regions);
	return telemetry;
}

struct anemone_telemetry *anemone_telemetry_add(const struct anemone_spec *spec,
						struct anemone_controller *ctl,
						struct anemone_reason *reason)
{
	return ctl ? anemone_telemetry_add_one(spec, ctl, false, reason)
		   : anemone_telemetry_add_all(spec, reason);
}

struct anemone_telemetry *anemone_telemetry_add_owned(const struct anemone_spec *spec,
						      struct anemone_controller *ctl,
						      struct anemone_reason *reason)
{
	return anemone_telemetry_add_one(spec, ctl, true, reason);
}

void anemone_telemetry_remove(struct anemone_telemetry *telemetry)
{
	unsigned int i;

	for (i = 0; i < telemetry->instances; i++) {
		struct anemone_instance *instance = &telemetry->instance[i];

		mutex_lock(&instance->ctl->lock);
		anemone_instance_remove(instance);
		mutex_unlock(&instance->ctl->lock);
	}
	anemone_telemetry_put(telemetry);
}

int anemone_telemetry_map(struct anemone_telemetry *telemetry, u64 key, s64 region)
{
	int result = -ERANGE;
	unsigned int i;

	if (region >= telemetry->regions)
		return -ERANGE;
	for (i = 0; i < telemetry->instances; i++) {
		struct anemone_instance *instance = &telemetry->instance[i];
		u64 device_key;
		int err;

		if (anemone_plan_key(&instance->plan, &instance->ctl->hw.shape, key, &device_key))
			continue;
		mutex_lock(&instance->ctl->lock);
		err = anemone_controller_usable(instance->ctl);
		if (!err && telemetry->rotation)
			err = -EBUSY;
		if (!err)
			err = region < 0 ? anemone_instance_unmap(instance, device_key)
					 : anemone_instance_map(instance, device_key, region);
		mutex_unlock(&instance->ctl->lock);
		if (err && err != -ENODEV)
			return err;
		if (result)
			result = err;
	}
	return result;
}

int anemone_telemetry_check_memory(struct anemone_telemetry *telemetry)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < telemetry->instances && !err; i++) {
		struct anemone_instance *instance = &telemetry->instance[i];

		mutex_lock(&instance->ctl->lock);
		if (!anemone_controller_usable(instance->ctl))
			err = anemone_instance_check_memory(instance);
		mutex_unlock(&instance->ctl->lock);
	}
	return err;
}

void anemone_telemetry_flush(struct anemone_telemetry *telemetry)
{
	unsigned int i;

	for (i = 0; i < telemetry->instances; i++) {
		mutex_lock(&telemetry->instance[i].ctl->lock);
		anemone_instance_flush(&telemetry->instance[i]);
		mutex_unlock(&telemetry->instance[i].ctl->lock);
	}
}

/* Reads `count` counters of every channel of every instance, side by side. */
static int anemone_telemetry_read_chunk(struct anemone_telemetry *telemetry, bool effect, u32 first,
					u32 count, u64 *values)
{
	unsigned int i, n, c, channel = 0, there = 0;

	for (i = 0; i < telemetry->instances; i++) {
		struct anemone_instance *instance = &telemetry->instance[i];
		unsigned int channels = instance->ctl->hw.shape.channels;
		int err;

		mutex_lock(&instance->ctl->lock);
		err = anemone_controller_usable(instance->ctl);
		if (!err && !anemone_instance_installed(instance))
			err = -ENODEV;
		if (!err && effect && telemetry->rotation)
			err = -EBUSY;
		if (!err)
			err = anemone_instance_read(instance, effect, first, count,
						    values + channel, telemetry->channels);
		mutex_unlock(&instance->ctl->lock);
		if (err && err != -ENODEV)
			return err;
		there += !err;
		/* A removed controller's counts are lost, so report its start values. */
		for (n = 0; err && n < count; n++)
			for (c = 0; c < channels; c++)
				values[n * telemetry->channels + channel + c] =
					instance->plan.start;
		channel += channels;
	}
	return there ? 0 : -ENODEV;
}

/* Consumes a chunk that was delivered; a removed instance has nothing to consume. */
static void anemone_telemetry_consume_chunk(struct anemone_telemetry *telemetry, u32 first,
					    u32 count, const u64 *values)
{
	unsigned int i, channel = 0;

	for (i = 0; i < telemetry->instances; i++) {
		struct anemone_instance *instance = &telemetry->instance[i];

		mutex_lock(&instance->ctl->lock);
		/* A device that fails here is given up, and the next call says so. */
		if (!anemone_controller_usable(instance->ctl) &&
		    anemone_instance_installed(instance))
			anemone_instance_consume(instance, first, count, values + channel,
						 telemetry->channels);
		mutex_unlock(&instance->ctl->lock);
		channel += instance->ctl->hw.shape.channels;
	}
}

static bool anemone_telemetry_unreadable(const struct anemone_telemetry *telemetry)
{
	unsigned int i;

	for (i = 0; i < telemetry->instances; i++)
		if (telemetry->instance[i].harvest == ANEMONE_HARVEST_REFUSED)
			return true;
	return false;
}

int anemone_telemetry_check(const struct anemone_telemetry *telemetry, bool effect, u32 first,
			    u32 count)
{
	u64 all = (u64)telemetry->regions * telemetry->region_counters;

	if (effect && READ_ONCE(telemetry->rotation))
		return -EBUSY;
	if (first > all || count > all - first)
		return -ERANGE;
	if (effect &&
	    (first % telemetry->granule || (count % telemetry->granule && first + count != all)))
		return -EINVAL;
	return effect && anemone_telemetry_unreadable(telemetry) ? -EOPNOTSUPP : 0;
}

int anemone_telemetry_deliver(struct anemone_telemetry *telemetry, bool effect, bool channels,
			      u32 first, u32 count,
			      int (*deliver)(void *to, const u64 *values, size_t count), void *to)
{
	const struct anemone_plan *plan = &telemetry->instance[0].plan;
	int err = anemone_telemetry_check(telemetry, effect, first, count);
	u64 *chunk = telemetry->chunk;

	if (err)
		return err;
	if (!channels && !anemone_folds(plan->op, telemetry->channels))
		return -EOPNOTSUPP;
	trace_anemone_read(telemetry->spec.name, first, count, effect);
	mutex_lock(&telemetry->read_lock);
	while (count) {
		u32 some = min_t(u32, count, CHUNK);

		err = fatal_signal_pending(current) ? -EINTR : 0;
		if (err)
			break;
		err = anemone_telemetry_read_chunk(telemetry, effect, first, some, chunk);
		if (err)
			break;
		if (channels) {
			err = deliver(to, chunk, (size_t)some * telemetry->channels);
		} else {
			anemone_fold_all(plan->op, plan->width, plan->start, chunk,
					 telemetry->channels, some, telemetry->folded);
			err = deliver(to, telemetry->folded, some);
		}
		if (err)
			break;
		if (effect)
			anemone_telemetry_consume_chunk(telemetry, first, some, chunk);
		first += some;
		count -= some;
		cond_resched();
	}
	mutex_unlock(&telemetry->read_lock);
	return err;
}

static int anemone_copy_values(void *to, const u64 *values, size_t count)
{
	u64 **at = to;

	memcpy(*at, values, count * sizeof(*values));
	*at += count;
	return 0;
}

int anemone_telemetry_read(struct anemone_telemetry *telemetry, bool effect, bool channels,
			   u32 first, u32 count, u64 *values)
{
	return anemone_telemetry_deliver(telemetry, effect, channels, first, count,
					 anemone_copy_values, &values);
}
