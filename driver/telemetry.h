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

/* Entries for user pages (user_pages.c). */
struct anemone_user_pages {
	struct mutex lock; /* lock order: file.h; mmap_lock is taken under it */
	DECLARE_HASHTABLE(table, 10);
	unsigned int count;	       /* entries in the table */
	struct llist_head invalidated; /* pages that wait for the reaper */
	struct work_struct reaper;
};

struct anemone_telemetry {
	struct kref ref;
	u32 id;	       /* on its file */
	bool physical; /* the owner may name physical memory: access.h */
	/* The owner, under the controller's lock; NULL: the kernel. */
	struct pid *owner;
	kuid_t user;
	struct anemone_spec spec;
	u32 regions, region_counters, granule; /* equal on all instances */
	unsigned int channels;		       /* of all instances together */
	struct anemone_user_pages pages;
	struct mutex rotation_lock; /* guards start, stop and reads of a rotation; see file.h */
	struct anemone_rotation *rotation; /* changes under the controller's lock, too */
	struct anemone_snapshot *snapshot; /* in shared memory, from the first mmap(2) on */

	/* Who is notified: a file and its eventfd, under the controller's lock, or a callback. */
	struct anemone_file *file;
	struct eventfd_ctx *eventfd;
	struct mutex notify_lock; /* held while the callback runs */
	anemone_notify_t notify;
	void *data;

	struct mutex read_lock; /* guards chunk and folded; taken before the controller's */
	u64 *chunk;		/* counters by channel, before they are folded */
	u64 *folded;		/* counters after that */

	unsigned int instances;
	struct anemone_instance instance[];
};

/*
 * Adds a telemetry on one controller, or with ctl = NULL on each that its filter reaches. On
 * failure, returns an ERR_PTR and gives a reason.
 */
struct anemone_telemetry *anemone_telemetry_add(const struct anemone_spec *spec,
						struct anemone_controller *ctl,
						struct anemone_reason *reason);
/* The same for the calling process, within its user's quota (quota.h). */
struct anemone_telemetry *anemone_telemetry_add_owned(const struct anemone_spec *spec,
						      struct anemone_controller *ctl,
						      struct anemone_reason *reason);
/* Takes it off the hardware at once; the last reference frees its memory. */
void anemone_telemetry_remove(struct anemone_telemetry *telemetry);
struct anemone_telemetry *anemone_telemetry_get(struct anemone_telemetry *telemetry);
void anemone_telemetry_put(struct anemone_telemetry *telemetry);

/*
 * Maps the key on every instance that has it; region < 0 unmaps it. The writes are posted, and
 * _flush waits for them. -EBUSY: a rotation is running.
 */
int anemone_telemetry_map(struct anemone_telemetry *telemetry, u64 key, s64 region);
/* -ESTALE if the host's memory is no longer where it was when the telemetry was added. */
int anemone_telemetry_check_memory(struct anemone_telemetry *telemetry);
void anemone_telemetry_flush(struct anemone_telemetry *telemetry);
/*
 * Whether counters can be read: -ERANGE, past the last one; -EINVAL, with effect and not whole
 * lines; -EBUSY, with effect during a rotation; -EOPNOTSUPP, with effect on a processor that
 * cannot.
 */
int anemone_telemetry_check(const struct anemone_telemetry *telemetry, bool effect, u32 first,
			    u32 count);
/*
 * channels: by channel, values[i * telemetry->channels + c], else folded; -EOPNOTSUPP for an op
 * that does not fold. Counts read with effect are taken away only after `deliver` has taken the
 * values without an error.
 */
int anemone_telemetry_deliver(struct anemone_telemetry *telemetry, bool effect, bool channels,
			      u32 first, u32 count,
			      int (*deliver)(void *to, const u64 *values, size_t count), void *to);
int anemone_telemetry_read(struct anemone_telemetry *telemetry, bool effect, bool channels,
			   u32 first, u32 count, u64 *values);

/* All controllers, in the order of their probe, and the lock of the list. */
extern struct list_head anemone_controllers;
extern struct mutex anemone_controllers_lock;

#endif
