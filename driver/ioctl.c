// SPDX-License-Identifier: GPL-2.0
/* The ioctls of /dev/anemoneN (include/uapi/linux/anemone.h). */
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "file.h"
#include "user_pages.h"
#include "rotate.h"

/* Counters read at a time. */
#define CHUNK 512

/* Bytes of an entry for programs of the first version, which do not state them. */
#define ENTRY_BYTES 16

static struct anemone_telemetry *anemone_ioctl_find(struct anemone_file *file, u32 id)
{
	return xa_load(&file->telemetries, id) ?: ERR_PTR(-ENOENT);
}

/* INFO and REMOVE do not need the device, so they work after its end, too. */
static int anemone_ioctl_check_device(struct anemone_file *file, unsigned int number)
{
	int err;

	if (number == _IOC_NR(ANEMONE_INFO) || number == _IOC_NR(ANEMONE_REMOVE))
		return 0;
	mutex_lock(&file->ctl->lock);
	err = anemone_controller_usable(file->ctl);
	mutex_unlock(&file->ctl->lock);
	return err;
}

static long anemone_ioctl_info(struct anemone_file *file, struct anemone_info *info)
{
	struct anemone_controller *ctl = file->ctl;
	const struct anemone_shape *shape = &ctl->hw.shape;

	mutex_lock(&ctl->lock);
	if (!anemone_controller_usable(ctl))
		anemone_controller_update_memory(ctl);
	*info = (struct anemone_info){
		.size = info->size,
		.uapi = ANEMONE_UAPI_VERSION,
		.version = shape->version,
		.flags = (ctl->interrupts_work ? ANEMONE_INFO_INTERRUPTS : 0) |
			 (shape->flat ? ANEMONE_INFO_FLAT : 0) |
			 (READ_ONCE(ctl->hw.failed) ? ANEMONE_INFO_FAILED : 0),
		.pipelines = shape->pipelines,
		.pipelines_free = anemone_pool_free(&ctl->pool),
		.channels = shape->channels,
		.states = shape->states,
		.table = 1U << shape->table_log2,
		.address_bits = shape->address_bits,
		.features = shape->features,
		.host_base = ctl->memory.ranges ? ctl->memory.range[0].host_base : 0,
		.host_size = ctl->memory.ranges ? ctl->memory.range[0].size : 0,
		.interrupts = anemone_may_use_physical() ? ctl->interrupts : 0,
		.spurious = ctl->spurious,
	};
	if (!ctl->gone)
		strscpy(info->device, dev_name(ctl->dev), sizeof(info->device));
	mutex_unlock(&ctl->lock);
	return 0;
}

static int anemone_ioctl_add_telemetry(struct anemone_file *file, struct anemone_add *add,
				       struct anemone_reason *reason)
{
	struct anemone_telemetry *telemetry;
	int err;

	if (!anemone_may_add())
		return anemone_refuse(reason, -EPERM, "it takes CAP_PERFMON or CAP_SYS_ADMIN");
	telemetry = anemone_telemetry_add_owned(&add->spec, file->ctl, reason);
	if (IS_ERR(telemetry))
		return PTR_ERR(telemetry);
	mutex_lock(&file->ctl->lock);
	telemetry->file = file;
	telemetry->physical = anemone_may_use_physical();
	mutex_unlock(&file->ctl->lock);
	err = xa_alloc(&file->telemetries, &telemetry->id, telemetry, xa_limit_31b,
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		anemone_telemetry_remove(telemetry);
		return err;
	}
	add->id = telemetry->id;
	add->regions = telemetry->regions;
	add->region_counters = telemetry->region_counters;
	add->pipelines = telemetry->instance[0].cache.slabs;
	add->granule = telemetry->granule;
	return 0;
}

static long anemone_ioctl_add(struct anemone_file *file, struct anemone_add *add)
{
	struct anemone_reason reason = {};
	int err = anemone_ioctl_add_telemetry(file, add, &reason);

	BUILD_BUG_ON(sizeof(add->reason) != sizeof(reason.text));
	memcpy(add->reason, reason.text, sizeof(add->reason));
	return err;
}

static long anemone_ioctl_remove(struct anemone_file *file, struct anemone_id *id)
{
	struct anemone_telemetry *telemetry = anemone_ioctl_find(file, id->id);

	if (IS_ERR(telemetry))
		return PTR_ERR(telemetry);
	anemone_file_remove(file, telemetry);
	return 0;
}

static int anemone_ioctl_map_entry(struct anemone_telemetry *telemetry,
				   const struct anemone_entry *entry)
{
	bool unmap = entry->flags & ANEMONE_ENTRY_UNMAP;
	bool user_page = entry->flags & ANEMONE_ENTRY_VIRTUAL;

	if (entry->flags & ~(ANEMONE_ENTRY_UNMAP | ANEMONE_ENTRY_VIRTUAL))
		return -EINVAL;
	if (!unmap && entry->region >= telemetry->regions)
		return -ERANGE;
	if (user_page)
		return unmap ? anemone_user_page_unmap(telemetry, entry->key)
			     : anemone_user_page_map(telemetry, entry->key, entry->region);
	if (!anemone_may_use_physical())
		return -EPERM;
	return anemone_telemetry_map(telemetry, entry->key, unmap ? -1 : (s64)entry->region);
}

static long anemone_ioctl_map(struct anemone_file *file, struct anemone_map *map)
{
	struct anemone_telemetry *telemetry = anemone_ioctl_find(file, map->id);
	size_t size = map->entry_size ?: ENTRY_BYTES;
	void __user *entries = u64_to_user_ptr(map->entries);
	struct anemone_entry entry;
	int err;

	if (IS_ERR(telemetry))
		return PTR_ERR(telemetry);
	if (map->pad || size < ENTRY_BYTES || size > PAGE_SIZE)
		return -EINVAL;
	if (telemetry->rotation)
		return -EBUSY;
	err = anemone_telemetry_check_memory(telemetry);
	if (err)
		return err;
	for (map->done = 0; map->done < map->count && !err; map->done += !err) {
		if (signal_pending(current))
			err = -EINTR;
		else
			err = copy_struct_from_user(&entry, sizeof(entry),
						    entries + map->done * size, size)
				      ?: anemone_ioctl_map_entry(telemetry, &entry);
		cond_resched();
	}
	/* Accesses that the caller makes after this call must find the entries. */
	anemone_telemetry_flush(telemetry);
	return err;
}

static int anemone_copy_values_to_user(void *to, const u64 *values, size_t count)
{
	u64 __user **at = to;

	if (copy_to_user(*at, values, count * sizeof(*values)))
		return -EFAULT;
	*at += count;
	return 0;
}

static long anemone_ioctl_read(struct anemone_file *file, struct anemone_read *read)
{
	struct anemone_telemetry *telemetry = anemone_ioctl_find(file, read->id);
	bool channels = read->flags & ANEMONE_READ_CHANNELS;
	bool effect = !(read->flags & ANEMONE_READ_SNAPSHOT);
	u64 __user *to = u64_to_user_ptr(read->values);
	u32 first = read->first, count = read->count;
	size_t bytes;
	int err;

	if (IS_ERR(telemetry))
		return PTR_ERR(telemetry);
	if (read->pad || read->flags & ~(ANEMONE_READ_SNAPSHOT | ANEMONE_READ_CHANNELS))
		return -EINVAL;
	/* Check the whole request first, so that a refused read has no effect. */
	err = anemone_telemetry_check(telemetry, effect, first, count);
	bytes = sizeof(*to) * count * (channels ? telemetry->channels : 1);
	/* Consumed counts cannot be put back, so make sure that the buffer can be written. */
	if (!err && effect && fault_in_writeable((char __user *)to, bytes))
		err = -EFAULT;
	while (count && !err) {
		u32 some = min_t(u32, count, CHUNK);

		err = anemone_telemetry_deliver(telemetry, effect, channels, first, some,
						anemone_copy_values_to_user, &to);
		first += some;
		count -= some;
	}
	return err;
}

static long anemone_ioctl_status(struct anemone_file *file, struct anemone_status *status)
{
	struct anemone_telemetry *telemetry = anemone_ioctl_find(file, status->id);
	struct anemone_counts counts;
	struct anemone_instance *instance;
	int err;

	if (IS_ERR(telemetry))
		return PTR_ERR(telemetry);
	instance = &telemetry->instance[0];
	mutex_lock(&file->ctl->lock);
	err = anemone_controller_usable(file->ctl);
	if (!err) {
		anemone_instance_counts(instance, &counts);
		/* A lost device reads as all ones, which the sum over pipelines hides: ask it. */
		if (!anemone_hw_alive(&file->ctl->hw))
			err = -EIO;
		*status = (struct anemone_status){
			.size = status->size,
			.id = telemetry->id,
			.matched = counts.matched,
			/* Counts accesses to memory that may not be the caller's. */
			.unmapped = telemetry->physical ? counts.unmapped : 0,
			.out_of_range = counts.out_of_range,
			.notifications = counts.notifications,
			.parity_errors = counts.parity_errors,
			.events = instance->events,
			.mapped = instance->mapped,
			.harvest = instance->harvest,
		};
	}
	mutex_unlock(&file->ctl->lock);
	return err;
}

static long anemone_ioctl_eventfd(struct anemone_file *file, struct anemone_eventfd *argument)
{
	struct anemone_telemetry *telemetry = anemone_ioctl_find(file, argument->id);
	struct eventfd_ctx *fresh = NULL, *old;

	if (IS_ERR(telemetry))
		return PTR_ERR(telemetry);
	if (argument->pad || argument->fd < -1)
		return -EINVAL;
	if (argument->fd >= 0) {
		fresh = eventfd_ctx_fdget(argument->fd);
		if (IS_ERR(fresh))
			return PTR_ERR(fresh);
	}
	mutex_lock(&file->ctl->lock);
	old = telemetry->eventfd;
	telemetry->eventfd = fresh;
	mutex_unlock(&file->ctl->lock);
	if (old)
		eventfd_ctx_put(old);
	return 0;
}

static long anemone_ioctl_rotate(struct anemone_file *file, struct anemone_rotate *rotate)
{
	struct anemone_telemetry *telemetry = anemone_ioctl_find(file, rotate->id);
	u64 *keys;
	int err;

	if (IS_ERR(telemetry))
		return PTR_ERR(telemetry);
	if (!rotate->count)
		return anemone_rotate_stop(telemetry);
	if (!anemone_may_use_physical())
		return -EPERM;
	err = anemone_rotation_check(telemetry, rotate->count, rotate->period_ms);
	if (err)
		return err;
	keys = vmemdup_user(u64_to_user_ptr(rotate->keys),
			    array_size(rotate->count, sizeof(*keys)));
	if (IS_ERR(keys))
		return PTR_ERR(keys);
	err = anemone_rotate(telemetry, keys, rotate->count, rotate->period_ms, &rotate->sweep_ns);
	kvfree(keys);
	return err;
}

static long anemone_ioctl_turn(struct anemone_file *file, struct anemone_turn *argument)
{
	struct anemone_telemetry *telemetry = anemone_ioctl_find(file, argument->id);
	struct anemone_turns turns;
	u64 *values;
	int err;

	if (IS_ERR(telemetry))
		return PTR_ERR(telemetry);
	if (argument->count > telemetry->region_counters)
		return -ERANGE;
	values = kvmalloc_array(argument->count, sizeof(*values), GFP_KERNEL);
	if (!values)
		return -ENOMEM;
	err = anemone_turn(telemetry, argument->index, argument->count, values, &turns);
	if (!err && copy_to_user(u64_to_user_ptr(argument->values), values,
				 argument->count * sizeof(*values)))
		err = -EFAULT;
	kvfree(values);
	if (err)
		return err;
	argument->turns = turns.turns;
	argument->start_ns = turns.start_ns;
	argument->end_ns = turns.end_ns;
	return 0;
}

static long anemone_ioctl_snapshot(struct anemone_file *file, struct anemone_id *id)
{
	struct anemone_telemetry *telemetry = anemone_ioctl_find(file, id->id);

	return IS_ERR(telemetry) ? PTR_ERR(telemetry) : anemone_snapshot_fill(telemetry);
}

static long anemone_ioctl_events(struct anemone_file *file, struct anemone_events *events)
{
	if (events->flags & ~ANEMONE_EVENTS_LOST || events->known ||
	    events->record < sizeof(struct anemone_event) || events->record > PAGE_SIZE)
		return -EINVAL;
	mutex_lock(&file->ctl->lock);
	file->record = events->record;
	file->report_lost = events->flags & ANEMONE_EVENTS_LOST;
	mutex_unlock(&file->ctl->lock);
	events->known = sizeof(struct anemone_record);
	return 0;
}

union anemone_argument {
	struct anemone_info info;
	struct anemone_add add;
	struct anemone_id id;
	struct anemone_map map;
	struct anemone_read read;
	struct anemone_status status;
	struct anemone_eventfd eventfd;
	struct anemone_rotate rotate;
	struct anemone_turn turn;
	struct anemone_events events;
};

/* Sizes of the arguments that this kernel knows, by command number. */
static const size_t anemone_argument_sizes[] = {
	[_IOC_NR(ANEMONE_INFO)] = sizeof(struct anemone_info),
	[_IOC_NR(ANEMONE_ADD)] = sizeof(struct anemone_add),
	[_IOC_NR(ANEMONE_REMOVE)] = sizeof(struct anemone_id),
	[_IOC_NR(ANEMONE_MAP)] = sizeof(struct anemone_map),
	[_IOC_NR(ANEMONE_READ)] = sizeof(struct anemone_read),
	[_IOC_NR(ANEMONE_STATUS)] = sizeof(struct anemone_status),
	[_IOC_NR(ANEMONE_EVENTFD)] = sizeof(struct anemone_eventfd),
	[_IOC_NR(ANEMONE_ROTATE)] = sizeof(struct anemone_rotate),
	[_IOC_NR(ANEMONE_TURN)] = sizeof(struct anemone_turn),
	[_IOC_NR(ANEMONE_SNAPSHOT)] = sizeof(struct anemone_id),
	[_IOC_NR(ANEMONE_EVENTS)] = sizeof(struct anemone_events),
};

static long anemone_ioctl_dispatch(struct anemone_file *file, unsigned int number,
				   union anemone_argument *argument)
{
	switch (number) {
	case _IOC_NR(ANEMONE_INFO):
		return anemone_ioctl_info(file, &argument->info);
	case _IOC_NR(ANEMONE_ADD):
		return anemone_ioctl_add(file, &argument->add);
	case _IOC_NR(ANEMONE_REMOVE):
		return anemone_ioctl_remove(file, &argument->id);
	case _IOC_NR(ANEMONE_MAP):
		return anemone_ioctl_map(file, &argument->map);
	case _IOC_NR(ANEMONE_READ):
		return anemone_ioctl_read(file, &argument->read);
	case _IOC_NR(ANEMONE_STATUS):
		return anemone_ioctl_status(file, &argument->status);
	case _IOC_NR(ANEMONE_EVENTFD):
		return anemone_ioctl_eventfd(file, &argument->eventfd);
	case _IOC_NR(ANEMONE_ROTATE):
		return anemone_ioctl_rotate(file, &argument->rotate);
	case _IOC_NR(ANEMONE_TURN):
		return anemone_ioctl_turn(file, &argument->turn);
	case _IOC_NR(ANEMONE_SNAPSHOT):
		return anemone_ioctl_snapshot(file, &argument->id);
	default:
		return anemone_ioctl_events(file, &argument->events);
	}
}

long anemone_ioctl(struct file *filp, unsigned int command, unsigned long address)
{
	struct anemone_file *file = filp->private_data;
	void __user *user = (void __user *)address;
	unsigned int number = _IOC_NR(command);
	union anemone_argument argument;
	size_t size;
	u32 user_size;
	long err;

	/* The size in the command may be another version's; the member `size` decides. */
	if (_IOC_TYPE(command) != ANEMONE_IOC || number >= ARRAY_SIZE(anemone_argument_sizes) ||
	    !anemone_argument_sizes[number])
		return -ENOTTY;
	if (get_user(user_size, (u32 __user *)user))
		return -EFAULT;
	size = anemone_argument_sizes[number];
	if (user_size < sizeof(struct anemone_id) || user_size > PAGE_SIZE)
		return -EINVAL;
	memset(&argument, 0, sizeof(argument));
	err = copy_struct_from_user(&argument, size, user, user_size);
	if (err)
		return err;
	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	err = anemone_ioctl_check_device(file, number);
	if (!err)
		err = anemone_ioctl_dispatch(file, number, &argument);
	mutex_unlock(&file->lock);
	/* Also on failure, for the reason and the number of entries that were set. */
	if (_IOC_DIR(command) & _IOC_READ &&
	    copy_to_user(user, &argument, min_t(size_t, size, user_size)))
		return err ?: -EFAULT;
	return err;
}
