/* SPDX-License-Identifier: GPL-2.0 */
/* A controller, and a telemetry's part on it. */
#ifndef ANEMONE_CONTROLLER_H
#define ANEMONE_CONTROLLER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "alloc.h"
#include "hw.h"
#include "spec.h"

struct anemone_instance;
struct anemone_telemetry;

/* Lines of all channels that are read at a time: a page. */
#define ANEMONE_BOUNCE_WORDS (PAGE_SIZE / sizeof(u64))

/* near_lines, dedicated_start and _end, policy, control: eight bytes each. */
#define ANEMONE_FLAT_REGISTERS (ANEMONE_FLAT_CONTROL / 8 + 1)

struct anemone_controller {
	struct kref ref; /* of the list, of open files and of telemetries */
	struct list_head on_list;
	int number;
	struct device *dev;
	/*
	 * Guards all below, the registers, and the parts on it, each of them whole. Taken before
	 * mmap_lock, so mmap(2) must not take it. Only table entries are also written outside of
	 * it, under the lock of instance->keys (a page that goes away cannot wait).
	 */
	struct mutex lock;
	struct anemone_hw hw;
	struct anemone_memory memory;
	/* Looks where the memory is now; NULL: it stays. */
	void (*update_memory)(struct anemone_controller *ctl);
	struct anemone_pool pool;
	struct list_head instances;
	/* What flat memory mode was told, by channel and register: for a restart. */
	u64 flat[ANEMONE_CHANNELS_MAX][ANEMONE_FLAT_REGISTERS];
	u64 *bounce;
	bool gone; /* the device was removed */
	bool interrupts_work;
	u64 interrupts, spurious;
	unsigned int spurious_row; /* without one that was asked for, */
	u64 spurious_since;	   /* and since when, ns */
	struct delayed_work poll;  /* where there are no interrupts */
	wait_queue_head_t wait;	   /* for events, and for the end of the device */

	struct miscdevice misc;
	char name[24];
	struct dentry *debugfs;
};

/* An event that waits for its reader; the pipeline is re-armed when it is taken. */
struct anemone_pending_event {
	struct list_head on_file;
	struct anemone_instance *instance;
	unsigned int pipeline;
	unsigned int generation; /* of the part's counters that it is of */
	struct anemone_event event;
};

struct anemone_instance {
	struct anemone_controller *ctl; /* holds a reference */
	struct anemone_telemetry *telemetry;
	struct list_head on_controller; /* empty: not installed (any more) */
	struct anemone_plan plan;
	struct anemone_cache cache;
	struct xarray keys; /* of the device, to regions: what the tables say */
	unsigned int mapped;
	unsigned int generation; /* of its counters: another one when they have been cleared */
	unsigned int harvest;	 /* ANEMONE_HARVEST_*: harvest.h */
	u64 *baseline; /* of differences: what counters had, last[counter * channels + channel] */
	unsigned int read_generation; /* of what was read with effect, and is to be taken away */
	u64 events;
	/* Counts until the last turn of a rotation, which cleared the device's. */
	struct anemone_counts base_counts;
	struct anemone_pending_event pending[ANEMONE_PIPELINE_COUNT_MAX]; /* by pipeline */
};

void anemone_controller_init(struct anemone_controller *ctl, struct device *dev);
struct anemone_controller *anemone_controller_get(struct anemone_controller *ctl);
void anemone_controller_put(struct anemone_controller *ctl);
/* 0, or why it cannot be used: -ENODEV gone, -EIO given up, -EBUSY asleep. Under the lock. */
int anemone_controller_usable(const struct anemone_controller *ctl);
/* The host's decoders of its memory may have changed. Under the lock, and usable. */
void anemone_controller_update_memory(struct anemone_controller *ctl);
/* What flat memory mode has been told already, by whoever was here before. */
void anemone_controller_read_flat(struct anemone_controller *ctl);
/* After a reset: flat memory mode and all telemetries again, counters from the start. */
int anemone_controller_restart(struct anemone_controller *ctl, u64 region_bytes);

/* All under the controller's lock. */
int anemone_instance_install(struct anemone_instance *instance, struct anemone_reason *reason);
void anemone_instance_remove(struct anemone_instance *instance);
int anemone_instance_restore(struct anemone_instance *instance);
/* Keys are the device's; a key that is mapped already moves. */
int anemone_instance_map(struct anemone_instance *instance, u64 key, unsigned int region);
int anemone_instance_unmap(struct anemone_instance *instance, u64 key);
/*
 * Entries are posted writes: waits until the device has those of before. Under either lock, and in
 * any context.
 */
void anemone_instance_flush(struct anemone_instance *instance);
/* What they are made of; the latter two under the lock of instance->keys alone, and never wait. */
int anemone_instance_reserve(struct anemone_instance *instance, u64 key);
int anemone_instance_map_locked(struct anemone_instance *instance, u64 key, unsigned int region);
bool anemone_instance_unmap_locked(struct anemone_instance *instance, u64 key);
/*
 * Counters by channel into values[i * stride + channel]. With effect they are whole lines, as
 * anemone_telemetry_check has seen; what was read so is taken away when it has arrived, by the
 * second of the two. A part that was cleared in between has nothing to be taken away.
 */
int anemone_instance_read(struct anemone_instance *instance, bool effect, unsigned int first,
			  unsigned int count, u64 *values, unsigned int stride);
int anemone_instance_consume(struct anemone_instance *instance, unsigned int first,
			     unsigned int count, const u64 *values, unsigned int stride);
/* Whether the host's memory is where it was when it was added: -ESTALE. */
int anemone_instance_check_memory(struct anemone_instance *instance);
void anemone_instance_counts(struct anemone_instance *instance, struct anemone_counts *counts);
/* Stops counting, between two events, with states and tables as they are; and zeroes both. */
void anemone_instance_stop(struct anemone_instance *instance);
int anemone_instance_clear(struct anemone_instance *instance);
/* Counts again; the counters of a part that was cleared begin at plan.start. */
void anemone_instance_start(struct anemone_instance *instance);

static inline bool anemone_instance_installed(const struct anemone_instance *instance)
{
	return !list_empty(&instance->on_controller);
}

#endif
