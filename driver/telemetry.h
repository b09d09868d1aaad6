/* SPDX-License-Identifier: GPL-2.0 */
/* A telemetry: a rule on one controller or several. */
#ifndef ANEMONE_TELEMETRY_H
#define ANEMONE_TELEMETRY_H

#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/mutex.h>

#include "controller.h"
#include "include/linux/anemone.h"

struct anemone_file;
struct anemone_rotation;
struct eventfd_ctx;

/* Callers' own memory that is mapped (user_pages.c). */
struct anemone_user_pages {
	struct mutex lock; /* taken before a controller's; mmap_lock is taken under it */
	DECLARE_HASHTABLE(table, 10);
	unsigned int count;	       /* in the table */
	struct llist_head invalidated; /* of these, whose page went; until they are reaped */
	struct work_struct reaper;
};

struct anemone_telemetry {
	struct kref ref;
	u32 id;	       /* on its file */
	bool physical; /* its owner may know of any memory: access.h */
	/* Whose it is, under the controller's lock; NULL: a kernel subsystem's. */
	struct pid *owner;
	kuid_t user;
	struct anemone_spec spec;
	u32 regions, region_counters, granule; /* the same on every part */
	unsigned int channels;		       /* of all parts together */
	struct anemone_user_pages pages;
	struct mutex rotation_lock; /* its start, its end and who looks at it; before its own */
	struct anemone_rotation *rotation; /* changes under the controller's lock as well */
	struct anemone_snapshot *snapshot; /* in shared memory, from the first mmap(2) on */

	/* Who is told: a file and its eventfd, under the controller's lock, or a callback. */
	struct anemone_file *file;
	struct eventfd_ctx *eventfd;
	struct mutex notify_lock; /* held while the callback runs */
	anemone_notify_t notify;
	void *data;

	struct mutex read_lock; /* the chunk below; taken before a controller's */
	u64 *chunk;		/* counters by channel, on their way to being folded */
	u64 *folded;		/* and after it */

	unsigned int instances;
	struct anemone_instance instance[];
};

/* On one controller, or on each that its filter reaches: ctl = NULL. ERR_PTR and a reason. */
struct anemone_telemetry *anemone_telemetry_add(const struct anemone_spec *spec,
						struct anemone_controller *ctl,
						struct anemone_reason *reason);
/* The calling process's, within what its user may take of the controller (quota.h). */
struct anemone_telemetry *anemone_telemetry_add_owned(const struct anemone_spec *spec,
						      struct anemone_controller *ctl,
						      struct anemone_reason *reason);
/* Off the hardware at once; the memory goes with the last reference. */
void anemone_telemetry_remove(struct anemone_telemetry *telemetry);
struct anemone_telemetry *anemone_telemetry_get(struct anemone_telemetry *telemetry);
void anemone_telemetry_put(struct anemone_telemetry *telemetry);

/*
 * On every part that has the key; region < 0 unmaps it. Posted: _flush waits until it is so.
 * -EBUSY: a rotation goes on.
 */
int anemone_telemetry_map(struct anemone_telemetry *telemetry, u64 key, s64 region);
/* Whether the host's memory is where it was when it was added: -ESTALE. */
int anemone_telemetry_check_memory(struct anemone_telemetry *telemetry);
void anemone_telemetry_flush(struct anemone_telemetry *telemetry);
/*
 * Whether counters can be read: -ERANGE, there are not so many; -EINVAL: not whole lines; with
 * effect, -EBUSY: during a rotation, -EOPNOTSUPP: not by this processor.
 */
int anemone_telemetry_check(const struct anemone_telemetry *telemetry, bool effect, u32 first,
			    u32 count);
/*
 * channels: by channel, values[i * telemetry->channels + c], else folded. What was read with effect
 * is taken away when `deliver` has taken so many values and not failed.
 */
int anemone_telemetry_deliver(struct anemone_telemetry *telemetry, bool effect, bool channels,
			      u32 first, u32 count,
			      int (*deliver)(void *to, const u64 *values, size_t count), void *to);
int anemone_telemetry_read(struct anemone_telemetry *telemetry, bool effect, bool channels,
			   u32 first, u32 count, u64 *values);

/* Controllers, in the order of their coming; list and lock. */
extern struct list_head anemone_controllers;
extern struct mutex anemone_controllers_lock;

#endif
