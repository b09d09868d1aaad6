// SPDX-License-Identifier: GPL-2.0
/* Translates the caller's addresses and keys, of the host or of the device, to table keys. */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "spec.h"

/* The one memory range that the filter overlaps; NULL and a reason if there is none or several. */
static const struct anemone_range *anemone_find_range(const struct anemone_spec *spec,
						      const struct anemone_memory *memory, int *err,
						      struct anemone_reason *reason)
{
	u64 start = spec->filter.start,
	    last = spec->filter.end - 1; /* end 0 wraps to the last address */
	const struct anemone_range *found = NULL, *range;

	if (!memory->ranges) {
		*err = anemone_refuse(reason, -EOPNOTSUPP,
				      "host memory is not known: %s; see host_base, host_size",
				      memory->unknown);
		return NULL;
	}
	for (range = memory->range; range < memory->range + memory->ranges; range++) {
		if (start > range->host_base + range->size - 1 || last < range->host_base)
			continue;
		if (found) {
			*err = anemone_refuse(reason, -EINVAL,
					      "%#llx to %#llx is in two ranges of memory: name one",
					      start, last);
			return NULL;
		}
		found = range;
	}
	range = memory->range;
	if (!found)
		*err = anemone_refuse(reason, -ERANGE, "%#llx to %#llx is not in %#llx to %#llx",
				      start, last, range->host_base,
				      range->host_base + range->size - 1);
	return found;
}

static u64 anemone_stripe_size(const struct anemone_range *range)
{
	return (u64)range->ways * range->granularity;
}

/*
 * Each device has an equal share of every stripe, so a key of whole stripes is the same key on
 * every device, whatever the device's position and the host's way of selecting it.
 */
static int anemone_check_interleave(const struct anemone_spec *spec,
				    const struct anemone_range *range,
				    const struct anemone_plan *plan, struct anemone_reason *reason)
{
	const struct anemone_field *sub = &spec->translation.sub;
	u64 stripe = anemone_stripe_size(range), start = plan->rule.start, end = plan->rule.end;

	if (range->ways == 1)
		return 0;
	if (!is_power_of_2(range->ways))
		return anemone_refuse(reason, -EOPNOTSUPP,
				      "memory interleaved %u ways; host addresses need 2, 4, 8, 16",
				      range->ways);
	if (1ULL << spec->translation.primary.shift < stripe)
		return anemone_refuse(reason, -EINVAL,
				      "primary.shift is %u; of memory interleaved so %u or more",
				      spec->translation.primary.shift, ilog2(stripe));
	if ((start | end) & (stripe - 1))
		return anemone_refuse(reason, -EINVAL,
				      "start or end is no multiple of %#llx from %#llx on", stripe,
				      range->host_base);
	if (sub->mask >= range->granularity &&
	    (sub->mask & (stripe - 1) || sub->shift < ilog2(range->ways)))
		return anemone_refuse(reason, -EINVAL,
				      "sub.mask %#llx; interleaved: below %#x, or from %#llx on",
				      sub->mask, range->granularity, stripe);
	return 0;
}

/* Removes the address bits that select a device. */
static void anemone_remove_way_bits(struct anemone_plan *plan, unsigned int ways_log2)
{
	struct anemone_translation *translation = &plan->translation;

	if (!ways_log2)
		return;
	plan->rule.start >>= ways_log2;
	plan->rule.end >>= ways_log2;
	translation->primary.shift -= ways_log2;
	translation->primary.mask = ~0ULL << translation->primary.shift;
	if (translation->sub.mask < plan->range.granularity)
		return;
	translation->sub.mask >>= ways_log2;
	translation->sub.shift -= ways_log2;
}

/* Translates the filter to device addresses, and sets where the caller's keys begin. */
static int anemone_resolve_host(const struct anemone_spec *spec,
				const struct anemone_memory *memory, struct anemone_plan *plan,
				struct anemone_reason *reason)
{
	const struct anemone_field *primary = &spec->translation.primary;
	u64 reach = 1ULL << primary->shift, base, device_reach;
	u64 start = spec->filter.start, end = spec->filter.end ?: ~0ULL;
	const struct anemone_range *range;
	int err = 0;

	range = anemone_find_range(spec, memory, &err, reason);
	if (!range)
		return err;
	base = range->host_base;
	if (primary->mask >> primary->shift != ~0ULL >> primary->shift)
		return anemone_refuse(reason, -EINVAL,
				      "primary.mask %#llx; with host addresses all from bit %u on",
				      primary->mask, primary->shift);
	if (spec->translation.sub.mask >= reach)
		return anemone_refuse(reason, -EINVAL,
				      "sub.mask %#llx; with host addresses below %#llx",
				      spec->translation.sub.mask, reach);
	plan->rule.start = max(start, base) - base;
	plan->rule.end = min(end - base, range->size);
	err = anemone_check_interleave(spec, range, plan, reason);
	if (err)
		return err;
	device_reach = reach >> ilog2(range->ways);
	if (base & (reach - 1) || range->device_base & (device_reach - 1))
		return anemone_refuse(reason, -EINVAL,
				      "memory begins at %#llx, not at a multiple of %#llx", base,
				      reach);
	plan->range = *range;
	anemone_remove_way_bits(plan, ilog2(range->ways));
	plan->rule.start += range->device_base;
	plan->rule.end += range->device_base;
	plan->key_base = base >> primary->shift;
	plan->key_device = range->device_base >> plan->translation.primary.shift;
	return 0;
}

/*
 * The table has fewer entries than there are keys, so it starts at the filter's first key.
 * Addresses past its last key do not match the rule.
 */
static void anemone_position_table(const struct anemone_shape *shape, struct anemone_plan *plan)
{
	struct anemone_field *primary = &plan->translation.primary;
	u64 table = 1ULL << shape->table_log2, first, last;

	plan->every_key = primary->mask >> primary->shift == ~0ULL >> primary->shift;
	first = plan->rule.start >> primary->shift;
	last = (plan->rule.end - 1) >> primary->shift;
	if (!plan->every_key || last < table || !first)
		return;
	plan->first_key = first;
	primary->mask = (table - 1) << primary->shift;
	if (last - first >= table)
		plan->rule.end = (first + table) << primary->shift;
}

int anemone_resolve_addresses(const struct anemone_spec *spec, const struct anemone_shape *shape,
			      const struct anemone_memory *memory, struct anemone_plan *plan,
			      struct anemone_reason *reason)
{
	u64 limit = 1ULL << shape->address_bits;
	int err = 0;

	plan->rule.start = spec->filter.start;
	plan->rule.end = spec->filter.end ?: limit;
	if (spec->flags & ANEMONE_SPEC_HOST)
		err = anemone_resolve_host(spec, memory, plan, reason);
	if (err)
		return err;
	if (plan->rule.start >= limit)
		return anemone_refuse(reason, -ERANGE, "start is %#llx, the device ends at %#llx",
				      plan->rule.start, limit);
	plan->rule.end = min(plan->rule.end, limit);
	anemone_position_table(shape, plan);
	return 0;
}

bool anemone_plan_is_current(const struct anemone_plan *plan, const struct anemone_memory *memory)
{
	unsigned int i;

	for (i = 0; i < memory->ranges; i++)
		if (!memcmp(&memory->range[i], &plan->range, sizeof(plan->range)))
			return true;
	return !plan->range.size;
}

int anemone_plan_key(const struct anemone_plan *plan, const struct anemone_shape *shape, u64 key,
		     u64 *device_key)
{
	unsigned int shift = plan->translation.primary.shift;

	if (key < plan->key_base || key - plan->key_base > ~0ULL - plan->key_device)
		return -ERANGE;
	key = key - plan->key_base + plan->key_device;
	if (key < plan->first_key || (key - plan->first_key) >> shape->table_log2)
		return -ERANGE;
	/* A key without any address in the filter is a mistake of the caller. */
	if (plan->every_key &&
	    (key > (plan->rule.end - 1) >> shift || key < plan->rule.start >> shift))
		return -ERANGE;
	*device_key = key & ((1ULL << shape->table_log2) - 1);
	return 0;
}
