/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time multiplexing (NEMO, section 6.1): keys that are more than the regions take turns.
 *
 * Each period the pipelines stop between two events, what they counted is read, states and tables
 * are cleared, the next keys are mapped, and they go on. A sweep of all keys takes
 * ceil(keys / regions) periods: with M bytes in keys of R * G bytes, R counters of W bits each for
 * G bytes, and regions that fill the SRAM, that is M * period * W / (SRAM * G).
 */
#ifndef ANEMONE_ROTATE_H
#define ANEMONE_ROTATE_H

#include "telemetry.h"

/* The order of turns; no more than arithmetic, so that KUnit can look at it. */
static inline u32 anemone_rotation_batches(u32 keys, u32 regions)
{
	return (keys - 1) / regions + 1;
}

/* Whether it may: -EINVAL, too many keys or no such period; -EOPNOTSUPP; -EBUSY: one goes on. */
int anemone_rotation_check(const struct anemone_telemetry *telemetry, u32 count, u32 period_ms);

#endif
