/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory telemetry for other subsystems (NEMO, section 3.2, Listings 1 to 3).
 *
 * A telemetry runs on every controller whose memory its filter reaches. Addresses and keys are the
 * host's physical ones with ANEMONE_SPEC_HOST in spec.flags, and then go to the controller whose
 * memory they are in; else they are each device's own. All calls may sleep, except where said.
 */
#ifndef _LINUX_ANEMONE_H
#define _LINUX_ANEMONE_H

#include "../uapi/linux/anemone.h"

struct anemone_telemetry;

/*
 * Called from a thread for each event, with the telemetry's own counter number. The pipeline that
 * it came from is re-armed when this returns. May read and map; may not unregister.
 */
typedef void (*anemone_notify_t)(struct anemone_telemetry *telemetry,
				 const struct anemone_event *event, void *data);

/*
 * ERR_PTR: -EINVAL, a field is out of its range; -EOPNOTSUPP, not built in; -ERANGE, no controller
 * has the memory; -ENOSPC, pipelines or states do not suffice; -ENODEV, there is no controller;
 * -EBUSY, one is asleep; -ENOMEM. The kernel's log says why. It is on the controllers of now: one
 * that comes later is not part of it.
 */
struct anemone_telemetry *anemone_register_telemetry(const struct anemone_spec *spec,
						     anemone_notify_t notify, void *data);
/* Waits for a callback that runs. */
void anemone_unregister_telemetry(struct anemone_telemetry *telemetry);

/*
 * Requests of `key` count in region `region_idx` from now on: -ERANGE, no controller has the key,
 * or there is no such region.
 */
int anemone_set_translation(struct anemone_telemetry *telemetry, u64 key, u32 region_idx);
/* -ENOENT: there is no such entry. */
int anemone_clear_translation(struct anemone_telemetry *telemetry, u64 key);

/*
 * `count` counters from `first` on, counter = region * anemone_region_counters() + offset, folded
 * over channels and controllers by the update's own combine rule. _read applies the read effect, to
 * whole lines: `first` and `count` are multiples of anemone_granule(), or go to the end; _snapshot
 * leaves the counters alone. -ENODEV: all controllers are gone; -EIO: one does not answer.
 */
int anemone_read(struct anemone_telemetry *telemetry, u32 first, u32 count, u64 *values);
int anemone_snapshot(struct anemone_telemetry *telemetry, u32 first, u32 count, u64 *values);

/* Of a key of a rotation: its turns so far, and the last one's time (CLOCK_MONOTONIC). */
struct anemone_turns {
	u64 turns, start_ns, end_ns;
};

/*
 * Time multiplexing (NEMO, section 6.1), of a telemetry on one controller: of these keys, as many
 * as it has regions are counted for a period of 1 to 60000 ms, read, and followed by the next.
 * *sweep_ns: until all have had a turn. _turn has what the key of an index counted in its last one.
 * Keys are mapped and read with effect by nobody else meanwhile (-EBUSY). -EINVAL: keys are named
 * twice, are too many, or the period is out of its range; -ERANGE: the telemetry's filter lets no
 * address of a key pass; -EOPNOTSUPP: it is on several controllers.
 */
int anemone_rotate(struct anemone_telemetry *telemetry, const u64 *keys, u32 count, u32 period_ms,
		   u64 *sweep_ns);
/* -ENOENT: there is none. */
int anemone_rotate_stop(struct anemone_telemetry *telemetry);
int anemone_turn(struct anemone_telemetry *telemetry, u32 index, u32 count, u64 *values,
		 struct anemone_turns *turns);

u32 anemone_regions(const struct anemone_telemetry *telemetry);
u32 anemone_region_counters(const struct anemone_telemetry *telemetry);
u32 anemone_granule(const struct anemone_telemetry *telemetry);

#endif
