/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How counters are read so that each event is in one read with effect, and in no other.
 *
 * A load that changes what it reads may be made twice, or for nothing: by a processor that guesses,
 * that is interrupted, whose link retries. So, in this order: (1) differences of snapshots, where
 * they are exact; (2) a snapshot, and then what was read is taken away by a write of the line
 * (acknowledged); (3) the load that changes, by a processor with loads of a whole line.
 *
 * A rule that notifies counts up to its operand from what the read leaves in the counter, so
 * differences, which leave all, are not for it.
 */
#ifndef ANEMONE_HARVEST_H
#define ANEMONE_HARVEST_H

#include "spec.h"

/* ANEMONE_HARVEST_*: of a rule on this hardware, by this processor. */
unsigned int anemone_harvest_choose(const struct anemone_plan *plan, const struct anemone_hw *hw);

/* Counters of `width` bits into a line of a channel, zero where there are none. */
void anemone_harvest_pack(u64 *words, unsigned int width, const u64 *values, unsigned int count,
			  unsigned int stride);

#endif
