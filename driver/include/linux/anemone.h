/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory telemetry for other kernel subsystems (NEMO, section 3.2, Listings 1 to 3).
 *
 * A telemetry runs on every controller whose memory its filter reaches. With ANEMONE_SPEC_HOST in
 * spec.flags, addresses and keys are the host's physical ones, and a key goes to the controller
 * that has the memory; otherwise they are each device's own. All calls may sleep.
 */
#ifndef _LINUX_ANEMONE_H
#define _LINUX_ANEMONE_H

#include "../uapi/linux/anemone.h"

struct anemone_telemetry;

/*
 * Called from a thread for each event; event->counter is the telemetry's counter number. The
 * event's pipeline is re-armed on return. It may read and map; it may not unregister.
 */
typedef void (*anemone_notify_t)(struct anemone_telemetry *telemetry,
				 const struct anemone_event *event, void *data);

/*
 * Returns an ERR_PTR on failure: -EINVAL, a field is out of its range; -EOPNOTSUPP, not built in;
 * -ERANGE, no controller has the memory; -ENOSPC, not enough pipelines or states; -ENODEV, there is
 * no controller; -EBUSY, one is suspended; -ENOMEM. The kernel's log has the reason. The telemetry
 * runs on the controllers that exist now, and not on later ones.
 */
struct anemone_telemetry *anemone_register_telemetry(const struct anemone_spec *spec,
						     anemone_notify_t notify, void *data);
/* Waits for a running callback. */
void anemone_unregister_telemetry(struct anemone_telemetry *telemetry);

/*
 * Requests of `key` count in region `region_idx` from now on; -ERANGE: no controller has the key,
 * or there is no such region.
 */
int anemone_set_translation(struct anemone_telemetry *telemetry, u64 key, u32 region_idx);
/* -ENOENT: there is no such entry. */
int anemone_clear_translation(struct anemone_telemetry *telemetry, u64 key);

/*
 * Read `count` counters from `first` on, where counter = region * anemone_region_counters() +
 * offset, folded over channels and controllers by the update's combine rule. _read applies the read
 * effect, to whole lines: `first` and `count` are multiples of anemone_granule(), or go to the end.
 * _snapshot does not change counters. -ENODEV: all controllers are gone; -EIO: one does not answer.
 */
int anemone_read(struct anemone_telemetry *telemetry, u32 first, u32 count, u64 *values);
int anemone_snapshot(struct anemone_telemetry *telemetry, u32 first, u32 count, u64 *values);

/*
 * The time slices (turns) that a key of a rotation has had, and the last one's time
 * (CLOCK_MONOTONIC).
 */
struct anemone_turns {
	u64 turns, start_ns, end_ns;
};

/*
 * Time multiplexing (NEMO, section 6.1) of a telemetry on one controller. As many keys as it has
 * regions are counted for a period of 1 to 60000 ms, then read, and the next ones follow.
 * *sweep_ns: time until all keys have had a slice. anemone_turn returns what the key of an index
 * counted in its last slice. Meanwhile, other maps and reads with effect fail with -EBUSY. -EINVAL:
 * a key is named twice, there are too many keys, or the period is out of its range; -ERANGE: the
 * telemetry's filter lets no address of a key pass; -EOPNOTSUPP: it is on several controllers.
 */
int anemone_rotate(struct anemone_telemetry *telemetry, const u64 *keys, u32 count, u32 period_ms,
		   u64 *sweep_ns);
/* -ENOENT: there is no rotation. */
int anemone_rotate_stop(struct anemone_telemetry *telemetry);
int anemone_turn(struct anemone_telemetry *telemetry, u32 index, u32 count, u64 *values,
		 struct anemone_turns *turns);

u32 anemone_regions(const struct anemone_telemetry *telemetry);
u32 anemone_region_counters(const struct anemone_telemetry *telemetry);
u32 anemone_granule(const struct anemone_telemetry *telemetry);

#endif
