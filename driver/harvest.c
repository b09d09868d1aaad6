// SPDX-License-Identifier: GPL-2.0
/* Chooses how counters are read, and packs the lines that are written back. */
#include <linux/string.h>

#include "fold.h"
#include "harvest.h"

/* Whether the difference of two snapshots is exactly what was counted between them. */
static bool anemone_harvest_by_difference(const struct anemone_plan *plan)
{
	return (plan->op == ANEMONE_OP_ADD || plan->op == ANEMONE_OP_SUB) && plan->width >= 32 &&
	       ANEMONE_GET(RULE_CONTROL_NOTIFY_OP, plan->rule.control) == ANEMONE_PREDICATE_NONE;
}

static bool anemone_harvest_by_acknowledge(const struct anemone_plan *plan,
					   const struct anemone_hw *hw)
{
	return hw->acknowledge && hw->atomic_stores && plan->op != ANEMONE_OP_SHR &&
	       plan->op != ANEMONE_OP_SHL && plan->op < ANEMONE_OP_EWMA2;
}

unsigned int anemone_harvest_choose(const struct anemone_plan *plan, const struct anemone_hw *hw)
{
	u64 kind = ANEMONE_GET(RULE_CONTROL_EFFECT_KIND, plan->rule.control);

	if (kind == ANEMONE_READ_EFFECT_NONE)
		return ANEMONE_HARVEST_NONE;
	if (kind == ANEMONE_READ_EFFECT_RESET && anemone_harvest_by_difference(plan))
		return ANEMONE_HARVEST_DIFFERENCE;
	if (kind == ANEMONE_READ_EFFECT_RESET && anemone_harvest_by_acknowledge(plan, hw))
		return ANEMONE_HARVEST_ACKNOWLEDGE;
	return hw->atomic_loads ? ANEMONE_HARVEST_EFFECT : ANEMONE_HARVEST_REFUSED;
}

void anemone_harvest_pack(u64 *words, unsigned int width, const u64 *values, unsigned int count,
			  unsigned int stride)
{
	unsigned int each = 64 / width, i;

	memset(words, 0, ANEMONE_LINE_BYTES);
	for (i = 0; i < count; i++)
		words[i / each] |= anemone_truncate(values[i * stride], width)
				   << (i % each * width);
}
