// SPDX-License-Identifier: GPL-2.0
/* A telemetry on one controller: its pipelines, tables and counters. */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "controller.h"
#include "fold.h"
#include "harvest.h"
#include "quota.h"

static size_t last_bytes(const struct anemone_part *part)
{
	return array3_size(part->cache.slabs, part->plan.counters,
			   part->ctl->hw.shape.channels * sizeof(*part->last));
}

/* All lines once with effect: a read resets what it returns, also when it is made twice. */
static int prime(struct anemone_part *part)
{
	struct anemone_controller *ctl = part->ctl;
	unsigned int lines = anemone_lines(&ctl->hw.shape), at, slab;
	unsigned int most = ANEMONE_BOUNCE_WORDS / ANEMONE_LINE_WORDS / ctl->hw.shape.channels;
	int err = 0;

	for (slab = 0; slab < part->cache.slabs; slab++)
		for (at = 0; at < lines && !err; at += most, cond_resched())
			err = anemone_hw_lines(&ctl->hw, part->cache.slab[slab], ctl->hw.effect, at,
					       min(most, lines - at), ctl->bounce);
	return err;
}

/* Counters are where they begin. Those of which differences are made are zero, and so was the last.
 */
static int from_the_start(struct anemone_part *part)
{
	if (part->last)
		memset(part->last, 0, last_bytes(part));
	return part->plan.start && !part->last ? prime(part) : 0;
}

static void commit(struct anemone_part *part, bool on)
{
	struct anemone_rule rule = part->plan.rule;
	unsigned int slab;

	if (!on)
		rule.control &= ~ANEMONE_RULE_CONTROL_ENABLE_MASK;
	for (slab = 0; slab < part->cache.slabs; slab++)
		anemone_hw_commit(&part->ctl->hw, part->cache.slab[slab], &rule);
}

void anemone_part_stop(struct anemone_part *part)
{
	commit(part, false);
}

void anemone_part_start(struct anemone_part *part)
{
	commit(part, true);
}

int anemone_part_stands(struct anemone_part *part)
{
	if (!part->plan.range.size)
		return 0;
	anemone_controller_look(part->ctl);
	return anemone_plan_stands(&part->plan, &part->ctl->memory) ? 0 : -ESTALE;
}

int anemone_part_clear(struct anemone_part *part)
{
	unsigned int slab;
	unsigned long key;
	void *entry;
	int err = 0;

	part->generation++;
	for (slab = 0; slab < part->cache.slabs && !err; slab++)
		err = anemone_hw_clear(&part->ctl->hw, part->cache.slab[slab]);
	/* A page may go at the same time, and its entry. */
	xa_lock(&part->keys);
	xa_for_each(&part->keys, key, entry)
		__xa_erase(&part->keys, key);
	part->mapped = 0;
	xa_unlock(&part->keys);
	return err ?: from_the_start(part);
}

int anemone_part_install(struct anemone_part *part, struct anemone_reason *reason)
{
	struct anemone_controller *ctl = part->ctl;
	unsigned int i;
	int err;

	err = anemone_cache_get(&ctl->pool, &part->cache, part->plan.regions,
				part->plan.region_counters, part->plan.counters);
	if (err)
		return anemone_refuse(reason, -ENOSPC,
				      "%u regions of %u need %u pipelines, %u of %u are free",
				      part->cache.regions, part->plan.region_counters,
				      part->cache.slabs, anemone_pool_free(&ctl->pool),
				      ctl->pool.slabs);
	err = anemone_quota_check(part, reason);
	if (err) {
		anemone_cache_put(&ctl->pool, &part->cache);
		return err;
	}
	for (i = 0; i < ARRAY_SIZE(part->waiting); i++)
		INIT_LIST_HEAD(&part->waiting[i].on_file);
	list_add_tail(&part->on_controller, &ctl->parts);
	part->harvest = anemone_harvest_choose(&part->plan, &ctl->hw);
	if (part->harvest == ANEMONE_HARVEST_DIFFERENCE) {
		part->last = kvzalloc(last_bytes(part), GFP_KERNEL_ACCOUNT);
		if (!part->last) {
			anemone_part_remove(part);
			return anemone_refuse(reason, -ENOMEM, "there is no memory for counters");
		}
	}
	anemone_part_stop(part);
	err = anemone_part_clear(part);
	if (err) {
		anemone_part_remove(part);
		return anemone_refuse(reason, err, "the device does not answer");
	}
	anemone_part_start(part);
	return 0;
}

void anemone_part_remove(struct anemone_part *part)
{
	unsigned int i;

	if (!anemone_part_installed(part))
		return;
	anemone_part_stop(part);
	for (i = 0; i < ARRAY_SIZE(part->waiting); i++)
		list_del_init(&part->waiting[i].on_file);
	anemone_cache_put(&part->ctl->pool, &part->cache);
	list_del_init(&part->on_controller);
	kvfree(part->last);
	part->last = NULL;
	xa_destroy(&part->keys);
}

int anemone_part_restore(struct anemone_part *part)
{
	unsigned long key;
	void *entry;
	int err;

	/* The device was cleared as a whole; what the keys are mapped to is still wanted. */
	part->generation++;
	anemone_part_stop(part);
	err = from_the_start(part);
	xa_lock(&part->keys);
	xa_for_each(&part->keys, key, entry) {
		struct anemone_place place = anemone_cache_place(&part->cache, xa_to_value(entry));

		anemone_hw_map(&part->ctl->hw, place.pipeline, key, place.base, true);
	}
	xa_unlock(&part->keys);
	anemone_part_start(part);
	return err;
}

int anemone_part_reserve(struct anemone_part *part, u64 key)
{
	return xa_reserve(&part->keys, key, GFP_KERNEL_ACCOUNT);
}

int anemone_part_map_locked(struct anemone_part *part, u64 key, unsigned int region)
{
	struct anemone_hw *hw = &part->ctl->hw;
	struct anemone_place to = anemone_cache_place(&part->cache, region), from;
	void *old = __xa_store(&part->keys, key, xa_mk_value(region), GFP_NOWAIT);

	/* The place was reserved, unless an invalidation has just taken its node away. */
	if (xa_is_err(old))
		return xa_err(old);
	if (old) {
		/* On the same pipeline the new entry takes the old one's place in one write. */
		from = anemone_cache_place(&part->cache, xa_to_value(old));
		if (from.pipeline != to.pipeline)
			anemone_hw_map(hw, from.pipeline, key, 0, false);
	} else {
		part->mapped++;
	}
	anemone_hw_map(hw, to.pipeline, key, to.base, true);
	return 0;
}

bool anemone_part_unmap_locked(struct anemone_part *part, u64 key)
{
	void *old = __xa_erase(&part->keys, key);
	struct anemone_place from;

	if (!old)
		return false;
	from = anemone_cache_place(&part->cache, xa_to_value(old));
	anemone_hw_map(&part->ctl->hw, from.pipeline, key, 0, false);
	part->mapped--;
	return true;
}

int anemone_part_map(struct anemone_part *part, u64 key, unsigned int region)
{
	int err = anemone_part_reserve(part, key);

	if (err)
		return err;
	xa_lock(&part->keys);
	err = anemone_part_map_locked(part, key, region);
	xa_unlock(&part->keys);
	return err;
}

void anemone_part_flush(struct anemone_part *part)
{
	/* One that does not answer costs a timeout, once: nothing goes to it any more. */
	anemone_hw_alive(&part->ctl->hw);
}

int anemone_part_unmap(struct anemone_part *part, u64 key)
{
	bool was;

	xa_lock(&part->keys);
	was = anemone_part_unmap_locked(part, key);
	xa_unlock(&part->keys);
	return was ? 0 : -ENOENT;
}

/* The counters of a word that are from `from` to `to`, `index` being its first one's. */
static void unpack(u64 word, unsigned int width, unsigned int index, unsigned int from,
		   unsigned int to, u64 *values, unsigned int stride)
{
	unsigned int end = min(index + 64 / width, to);

	for (; index < end; index++, word >>= width % 64)
		if (index >= from)
			values[(index - from) * stride] = anemone_cut(word, width);
}

/* Counters `from` to `to` of a pipeline, which are in as many lines as the bounce buffer holds. */
static int read_lines(struct anemone_part *part, unsigned int pipeline, u64 window,
		      unsigned int from, unsigned int to, u64 *values, unsigned int stride)
{
	struct anemone_controller *ctl = part->ctl;
	unsigned int channels = ctl->hw.shape.channels, width = part->plan.width;
	unsigned int granule = part->plan.granule, line = from / granule, index, channel, word;
	const u64 *words = ctl->bounce;
	int err;

	err = anemone_hw_lines(&ctl->hw, pipeline, window, line, DIV_ROUND_UP(to, granule) - line,
			       ctl->bounce);
	if (err)
		return err;
	for (index = line * granule; index < to; index += granule) {
		for (channel = 0; channel < channels; channel++) {
			for (word = 0; word < ANEMONE_LINE_WORDS; word++)
				unpack(*words++, width, index + word * (64 / width), from, to,
				       values + channel, stride);
		}
	}
	return 0;
}

/* Lines that are written back are read where they are written: one place keeps its order. */
static u64 window_of(const struct anemone_part *part, bool effect)
{
	const struct anemone_hw *hw = &part->ctl->hw;

	if (part->harvest == ANEMONE_HARVEST_ACKNOWLEDGE)
		return hw->acknowledge;
	return effect && part->harvest == ANEMONE_HARVEST_EFFECT ? hw->effect : hw->snapshot;
}

/* What came since the last one was taken away, from where counters begin. */
static void subtract_last(const struct anemone_part *part, unsigned int first, unsigned int count,
			  u64 *values, unsigned int stride)
{
	unsigned int channels = part->ctl->hw.shape.channels, i, c;
	const u64 *last = part->last + (size_t)first * channels;

	for (i = 0; i < count; i++, values += stride)
		for (c = 0; c < channels; c++)
			values[c] = anemone_cut(values[c] - *last++ + part->plan.start,
						part->plan.width);
}

static void add_to_last(struct anemone_part *part, unsigned int first, unsigned int count,
			const u64 *values, unsigned int stride)
{
	unsigned int channels = part->ctl->hw.shape.channels, i, c;
	u64 *last = part->last + (size_t)first * channels;

	for (i = 0; i < count; i++, values += stride)
		for (c = 0; c < channels; c++, last++)
			*last = anemone_cut(*last + values[c] - part->plan.start, part->plan.width);
}

int anemone_part_read(struct anemone_part *part, bool effect, unsigned int first,
		      unsigned int count, u64 *values, unsigned int stride)
{
	unsigned int counters = part->plan.counters; /* of a pipeline */
	u64 window = window_of(part, effect);
	unsigned int most = ANEMONE_BOUNCE_WORDS / ANEMONE_LINE_WORDS /
			    part->ctl->hw.shape.channels * part->plan.granule;

	if (effect)
		part->read_generation = part->generation;
	while (count) {
		unsigned int slab = first / counters, from = first % counters;
		/* Up to where the lines of a read end, which begin with a line's first counter. */
		unsigned int to =
			min3(from - from % part->plan.granule + most, counters, from + count);
		int err =
			read_lines(part, part->cache.slab[slab], window, from, to, values, stride);

		if (err)
			return err;
		if (part->last)
			subtract_last(part, first, to - from, values, stride);
		values += (size_t)(to - from) * stride;
		first += to - from;
		count -= to - from;
	}
	return 0;
}

/* Lines of a pipeline from counter `from` on, which is the first of one. */
static int write_back(struct anemone_part *part, unsigned int pipeline, unsigned int from,
		      unsigned int count, const u64 *values, unsigned int stride)
{
	struct anemone_controller *ctl = part->ctl;
	unsigned int channels = ctl->hw.shape.channels, granule = part->plan.granule, i, c;
	u64 *words = ctl->bounce;

	for (i = 0; i < count; i += granule)
		for (c = 0; c < channels; c++, words += ANEMONE_LINE_WORDS)
			anemone_harvest_pack(words, part->plan.width, values + i * stride + c,
					     min(granule, count - i), stride);
	return anemone_hw_acknowledge(&ctl->hw, pipeline, from / granule,
				      DIV_ROUND_UP(count, granule), ctl->bounce);
}

int anemone_part_take(struct anemone_part *part, unsigned int first, unsigned int count,
		      const u64 *values, unsigned int stride)
{
	unsigned int most = ANEMONE_BOUNCE_WORDS / ANEMONE_LINE_WORDS /
			    part->ctl->hw.shape.channels * part->plan.granule;
	int err = 0;

	if (part->read_generation != part->generation)
		return 0;
	if (part->last)
		add_to_last(part, first, count, values, stride);
	while (part->harvest == ANEMONE_HARVEST_ACKNOWLEDGE && count && !err) {
		unsigned int from = first % part->plan.counters;
		unsigned int some = min3(most, part->plan.counters - from, count);

		err = write_back(part, part->cache.slab[first / part->plan.counters], from, some,
				 values, stride);
		values += (size_t)some * stride;
		first += some;
		count -= some;
	}
	return err;
}

void anemone_part_counts(struct anemone_part *part, struct anemone_counts *counts)
{
	struct anemone_counts one;
	u64 elsewhere = 0, unmapped = 0;
	unsigned int slab;

	*counts = part->before;
	for (slab = 0; slab < part->cache.slabs; slab++) {
		anemone_hw_counts(&part->ctl->hw, part->cache.slab[slab], &one);
		counts->matched += one.matched;
		counts->out_of_range += one.out_of_range;
		counts->notifications += one.notifications;
		counts->parity_errors += one.parity_errors;
		if (slab)
			elsewhere += one.matched + one.out_of_range;
		else
			unmapped = one.unmapped;
	}
	/* What the first pipeline has no entry for, another may have. */
	counts->unmapped += unmapped - min(elsewhere, unmapped);
}
