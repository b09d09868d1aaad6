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
 * has the memory; -ENOSPC, pipelines or states do not suffice; -ENODEV, there is no controller. The
 * kernel's log says why.
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
int anemone_clear_translation(struct anemone_telemetry *telemetry, u64 key);

/*
 * `count` counters from `first` on, counter = region * anemone_region_counters() + offset, folded
 * over channels and controllers by the update's own combine rule. _read applies the read effect, to
 * whole lines: `first` and `count` are multiples of anemone_granule(), or go to the end; _snapshot
 * leaves the counters alone. -ENODEV: all controllers are gone; -EIO: one does not answer.
 */
int anemone_read(struct anemone_telemetry *telemetry, u32 first, u32 count, u64 *values);
int anemone_snapshot(struct anemone_telemetry *telemetry, u32 first, u32 count, u64 *values);

u32 anemone_regions(const struct anemone_telemetry *telemetry);
u32 anemone_region_counters(const struct anemone_telemetry *telemetry);
u32 anemone_granule(const struct anemone_telemetry *telemetry);

#endif
