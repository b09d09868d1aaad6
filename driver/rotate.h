/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time multiplexing (NEMO, section 6.1) of more keys than there are regions.
 *
 * After each period the pipelines stop between two events, their counters are read, states and
 * tables are cleared, the next keys are mapped, and counting goes on. A sweep of all keys takes
 * ceil(keys / regions) periods: with M bytes in keys of R * G bytes, R counters of W bits each for
 * G bytes, and regions that fill the SRAM, that is M * period * W / (SRAM * G).
 */
#ifndef ANEMONE_ROTATE_H
#define ANEMONE_ROTATE_H

#include "telemetry.h"

/* Time slices of a sweep. Only arithmetic, so that KUnit can test it. */
static inline u32 anemone_rotation_batches(u32 keys, u32 regions)
{
	return (keys - 1) / regions + 1;
}

/*
 * Whether a rotation may start: -EINVAL, too many keys or no such period; -EOPNOTSUPP, more than
 * one controller; -EBUSY, one is running.
 */
int anemone_rotation_check(const struct anemone_telemetry *telemetry, u32 count, u32 period_ms);

#endif
