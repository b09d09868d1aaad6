/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How counters are read, so that each event is in exactly one read with effect.
 *
 * A processor may repeat a load or make it speculatively, and a link may retry it, so a load that
 * changes what it reads is not safe. The ways, in this order: (1) differences of snapshots, where
 * they are exact; (2) a snapshot, and then a write of the line that takes away what was read
 * (acknowledge); (3) a load that changes the counters, if the processor loads a whole line at once.
 *
 * A rule that notifies counts up to its operand from the value after a read. Differences do not
 * change the counter, so such a rule cannot use them.
 */
#ifndef ANEMONE_HARVEST_H
#define ANEMONE_HARVEST_H

#include "spec.h"

/* The ANEMONE_HARVEST_* of a rule on this hardware and processor. */
unsigned int anemone_harvest_choose(const struct anemone_plan *plan, const struct anemone_hw *hw);

/* Packs counters of `width` bits into a line of a channel; the rest is zero. */
void anemone_harvest_pack(u64 *words, unsigned int width, const u64 *values, unsigned int count,
			  unsigned int stride);

#endif
