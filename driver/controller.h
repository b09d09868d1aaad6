/* SPDX-License-Identifier: GPL-2.0 */
/* A controller, and the instances of telemetries on it. */
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

/* A page of lines of all channels. */
#define ANEMONE_BOUNCE_WORDS (PAGE_SIZE / sizeof(u64))

/* near_lines, dedicated_start, dedicated_end, policy and control, eight bytes each. */
#define ANEMONE_FLAT_REGISTERS (ANEMONE_FLAT_CONTROL / 8 + 1)

struct anemone_controller {
	struct kref ref; /* held by the list, open files and telemetries */
	struct list_head on_list;
	int number;
	struct device *dev;
	/*
	 * Guards the members below, the registers, and all instances on the controller; lock order:
	 * file.h. Table entries are also written under the lock of instance->keys alone, because an
	 * invalidation cannot wait.
	 */
	struct mutex lock;
	struct anemone_hw hw;
	struct anemone_memory memory;
	/* Finds where the memory is now; NULL: it does not move. */
	void (*update_memory)(struct anemone_controller *ctl);
	struct anemone_pool pool;
	struct list_head instances;
	/* Flat memory mode's settings by channel and register, for a restart. */
	u64 flat[ANEMONE_CHANNELS_MAX][ANEMONE_FLAT_REGISTERS];
	u64 *bounce;
	bool gone; /* the device was removed */
	bool interrupts_work;
	u64 interrupts, spurious;
	unsigned int spurious_row; /* interrupts in a row without a cause */
	u64 spurious_since;	   /* time of the first of these, ns */
	struct delayed_work poll;  /* where there are no interrupts */
	wait_queue_head_t wait;	   /* for events, and for the end of the device */

	struct miscdevice misc;
	char name[24];
	struct dentry *debugfs;
};

/* An event that waits for its reader; reading it re-arms the pipeline. */
struct anemone_pending_event {
	struct list_head on_file;
	struct anemone_instance *instance;
	unsigned int pipeline;
	unsigned int generation; /* of the instance when the event came */
	struct anemone_event event;
};

struct anemone_instance {
	struct anemone_controller *ctl; /* holds a reference */
	struct anemone_telemetry *telemetry;
	struct list_head on_controller; /* empty: not installed */
	struct anemone_plan plan;
	struct anemone_cache cache;
	struct xarray keys; /* device key to region, as in the tables */
	unsigned int mapped;
	unsigned int generation; /* changes when the counters are cleared */
	unsigned int harvest;	 /* ANEMONE_HARVEST_*: harvest.h */
	u64 *baseline; /* for differences: values consumed, [counter * channels + channel] */
	unsigned int read_generation; /* of the last read with effect, for _consume */
	u64 events;
	/* Counts before the current slice of a rotation, which cleared the device's. */
	struct anemone_counts base_counts;
	struct anemone_pending_event pending[ANEMONE_PIPELINE_COUNT_MAX]; /* by pipeline */
};

void anemone_controller_init(struct anemone_controller *ctl, struct device *dev);
struct anemone_controller *anemone_controller_get(struct anemone_controller *ctl);
void anemone_controller_put(struct anemone_controller *ctl);
/* 0, or why it cannot be used: -ENODEV removed, -EIO given up, -EBUSY suspended. Under the lock. */
int anemone_controller_usable(const struct anemone_controller *ctl);
/* Reads the host's decoders of the memory again. Under the lock, if usable. */
void anemone_controller_update_memory(struct anemone_controller *ctl);
/* Reads the flat memory mode settings that firmware or an earlier driver made. */
void anemone_controller_read_flat(struct anemone_controller *ctl);
/* After a reset: restores flat memory mode and all telemetries; counters start again. */
int anemone_controller_restart(struct anemone_controller *ctl, u64 region_bytes);

/* Called under the controller's lock, except where said. */
int anemone_instance_install(struct anemone_instance *instance, struct anemone_reason *reason);
void anemone_instance_remove(struct anemone_instance *instance);
int anemone_instance_restore(struct anemone_instance *instance);
/* Keys are the device's; a key that is already mapped moves. */
int anemone_instance_map(struct anemone_instance *instance, u64 key, unsigned int region);
int anemone_instance_unmap(struct anemone_instance *instance, u64 key);
/* Waits until the device has the posted table writes. Under either lock, in any context. */
void anemone_instance_flush(struct anemone_instance *instance);
/* Steps of _map and _unmap; _locked: under instance->keys' lock, which suffices, never sleeps. */
int anemone_instance_reserve(struct anemone_instance *instance, u64 key);
int anemone_instance_map_locked(struct anemone_instance *instance, u64 key, unsigned int region);
bool anemone_instance_unmap_locked(struct anemone_instance *instance, u64 key);
/*
 * Reads counters by channel into values[i * stride + channel]. With effect they are whole lines, as
 * anemone_telemetry_check ensures, and _consume takes away what was delivered. If the instance was
 * cleared in between, there is nothing to take away.
 */
int anemone_instance_read(struct anemone_instance *instance, bool effect, unsigned int first,
			  unsigned int count, u64 *values, unsigned int stride);
int anemone_instance_consume(struct anemone_instance *instance, unsigned int first,
			     unsigned int count, const u64 *values, unsigned int stride);
/* -ESTALE if the host's memory is no longer where it was when the telemetry was added. */
int anemone_instance_check_memory(struct anemone_instance *instance);
void anemone_instance_counts(struct anemone_instance *instance, struct anemone_counts *counts);
/* _stop stops counting between two events, and keeps states and tables; _clear zeroes both. */
void anemone_instance_stop(struct anemone_instance *instance);
int anemone_instance_clear(struct anemone_instance *instance);
/* Counts again; the counters of a cleared instance begin at plan.start. */
void anemone_instance_start(struct anemone_instance *instance);

static inline bool anemone_instance_installed(const struct anemone_instance *instance)
{
	return !list_empty(&instance->on_controller);
}

#endif
