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

static size_t anemone_instance_baseline_size(const struct anemone_instance *instance)
{
	return array3_size(instance->cache.slabs, instance->plan.counters,
			   instance->ctl->hw.shape.channels * sizeof(*instance->baseline));
}

/* Reads all lines with effect. The effect is a reset, so a repeated load does no harm. */
static int anemone_instance_reset_counters(struct anemone_instance *instance)
{
	struct anemone_controller *ctl = instance->ctl;
	unsigned int lines = anemone_lines(&ctl->hw.shape), at, slab;
	unsigned int limit = ANEMONE_BOUNCE_WORDS / ANEMONE_LINE_WORDS / ctl->hw.shape.channels;
	int err = 0;

	for (slab = 0; slab < instance->cache.slabs; slab++)
		for (at = 0; at < lines && !err; at += limit, cond_resched())
			err = anemone_hw_lines(&ctl->hw, instance->cache.slab[slab], ctl->hw.effect,
					       at, min(limit, lines - at), ctl->bounce);
	return err;
}

/* Sets counters to their start value; with differences both counters and baseline start at zero. */
static int anemone_instance_init_counters(struct anemone_instance *instance)
{
	if (instance->baseline)
		memset(instance->baseline, 0, anemone_instance_baseline_size(instance));
	return instance->plan.start && !instance->baseline
		       ? anemone_instance_reset_counters(instance)
		       : 0;
}

static void anemone_instance_commit(struct anemone_instance *instance, bool on)
{
	struct anemone_rule rule = instance->plan.rule;
	unsigned int slab;

	if (!on)
		rule.control &= ~ANEMONE_RULE_CONTROL_ENABLE_MASK;
	for (slab = 0; slab < instance->cache.slabs; slab++)
		anemone_hw_commit(&instance->ctl->hw, instance->cache.slab[slab], &rule);
}

void anemone_instance_stop(struct anemone_instance *instance)
{
	anemone_instance_commit(instance, false);
}

void anemone_instance_start(struct anemone_instance *instance)
{
	anemone_instance_commit(instance, true);
}

int anemone_instance_check_memory(struct anemone_instance *instance)
{
	if (!instance->plan.range.size)
		return 0;
	anemone_controller_update_memory(instance->ctl);
	return anemone_plan_is_current(&instance->plan, &instance->ctl->memory) ? 0 : -ESTALE;
}

int anemone_instance_clear(struct anemone_instance *instance)
{
	unsigned int slab;
	unsigned long key;
	void *entry;
	int err = 0;

	instance->generation++;
	for (slab = 0; slab < instance->cache.slabs && !err; slab++)
		err = anemone_hw_clear(&instance->ctl->hw, instance->cache.slab[slab]);
	/* An invalidation may erase its entry at the same time. */
	xa_lock(&instance->keys);
	xa_for_each(&instance->keys, key, entry)
		__xa_erase(&instance->keys, key);
	instance->mapped = 0;
	xa_unlock(&instance->keys);
	return err ?: anemone_instance_init_counters(instance);
}

int anemone_instance_install(struct anemone_instance *instance, struct anemone_reason *reason)
{
	struct anemone_controller *ctl = instance->ctl;
	unsigned int i;
	int err;

	err = anemone_cache_get(&ctl->pool, &instance->cache, instance->plan.regions,
				instance->plan.region_counters, instance->plan.counters);
	if (err)
		return anemone_refuse(reason, -ENOSPC,
				      "%u regions of %u need %u pipelines, %u of %u are free",
				      instance->cache.regions, instance->plan.region_counters,
				      instance->cache.slabs, anemone_pool_free(&ctl->pool),
				      ctl->pool.slabs);
	err = anemone_quota_check(instance, reason);
	if (err) {
		anemone_cache_put(&ctl->pool, &instance->cache);
		return err;
	}
	for (i = 0; i < ARRAY_SIZE(instance->pending); i++)
		INIT_LIST_HEAD(&instance->pending[i].on_file);
	list_add_tail(&instance->on_controller, &ctl->instances);
	instance->harvest = anemone_harvest_choose(&instance->plan, &ctl->hw);
	if (instance->harvest == ANEMONE_HARVEST_DIFFERENCE) {
		instance->baseline =
			kvzalloc(anemone_instance_baseline_size(instance), GFP_KERNEL_ACCOUNT);
		if (!instance->baseline) {
			anemone_instance_remove(instance);
			return anemone_refuse(reason, -ENOMEM, "there is no memory for counters");
		}
	}
	anemone_instance_stop(instance);
	err = anemone_instance_clear(instance);
	if (err) {
		anemone_instance_remove(instance);
		return anemone_refuse(reason, err, "the device does not answer");
	}
	anemone_instance_start(instance);
	return 0;
}

void anemone_instance_remove(struct anemone_instance *instance)
{
	unsigned int i;

	if (!anemone_instance_installed(instance))
		return;
	anemone_instance_stop(instance);
	for (i = 0; i < ARRAY_SIZE(instance->pending); i++)
		list_del_init(&instance->pending[i].on_file);
	anemone_cache_put(&instance->ctl->pool, &instance->cache);
	list_del_init(&instance->on_controller);
	kvfree(instance->baseline);
	instance->baseline = NULL;
	xa_destroy(&instance->keys);
}

int anemone_instance_restore(struct anemone_instance *instance)
{
	unsigned long key;
	void *entry;
	int err;

	/* The device lost everything, but the keys stay mapped to their regions. */
	instance->generation++;
	anemone_instance_stop(instance);
	err = anemone_instance_init_counters(instance);
	xa_lock(&instance->keys);
	xa_for_each(&instance->keys, key, entry) {
		struct anemone_location place =
			anemone_cache_locate(&instance->cache, xa_to_value(entry));

		anemone_hw_map(&instance->ctl->hw, place.pipeline, key, place.base, true);
	}
	xa_unlock(&instance->keys);
	anemone_instance_start(instance);
	return err;
}

int anemone_instance_reserve(struct anemone_instance *instance, u64 key)
{
	return xa_reserve(&instance->keys, key, GFP_KERNEL_ACCOUNT);
}

int anemone_instance_map_locked(struct anemone_instance *instance, u64 key, unsigned int region)
{
	struct anemone_hw *hw = &instance->ctl->hw;
	struct anemone_location to = anemone_cache_locate(&instance->cache, region), from;
	void *old = __xa_store(&instance->keys, key, xa_mk_value(region), GFP_NOWAIT);

	/* The slot was reserved, unless an invalidation has just freed its node. */
	if (xa_is_err(old))
		return xa_err(old);
	if (old) {
		/* On the same pipeline the new entry replaces the old one in one write. */
		from = anemone_cache_locate(&instance->cache, xa_to_value(old));
		if (from.pipeline != to.pipeline)
			anemone_hw_map(hw, from.pipeline, key, 0, false);
	} else {
		instance->mapped++;
	}
	anemone_hw_map(hw, to.pipeline, key, to.base, true);
	return 0;
}

bool anemone_instance_unmap_locked(struct anemone_instance *instance, u64 key)
{
	void *old = __xa_erase(&instance->keys, key);
	struct anemone_location from;

	if (!old)
		return false;
	from = anemone_cache_locate(&instance->cache, xa_to_value(old));
	anemone_hw_map(&instance->ctl->hw, from.pipeline, key, 0, false);
	instance->mapped--;
	return true;
}

int anemone_instance_map(struct anemone_instance *instance, u64 key, unsigned int region)
{
	int err = anemone_instance_reserve(instance, key);

	if (err)
		return err;
	xa_lock(&instance->keys);
	err = anemone_instance_map_locked(instance, key, region);
	xa_unlock(&instance->keys);
	return err;
}

void anemone_instance_flush(struct anemone_instance *instance)
{
	/* A device that does not answer costs one timeout; nothing is sent to it afterwards. */
	anemone_hw_alive(&instance->ctl->hw);
}

int anemone_instance_unmap(struct anemone_instance *instance, u64 key)
{
	bool was;

	xa_lock(&instance->keys);
	was = anemone_instance_unmap_locked(instance, key);
	xa_unlock(&instance->keys);
	return was ? 0 : -ENOENT;
}

/* Unpacks the counters `from` to `to` of a word whose first counter is `index`. */
static void anemone_unpack_word(u64 word, unsigned int width, unsigned int index, unsigned int from,
				unsigned int to, u64 *values, unsigned int stride)
{
	unsigned int end = min(index + 64 / width, to);

	for (; index < end; index++, word >>= width % 64)
		if (index >= from)
			values[(index - from) * stride] = anemone_truncate(word, width);
}

/* Reads counters `from` to `to` of a pipeline; their lines fit into the bounce buffer. */
static int anemone_instance_read_lines(struct anemone_instance *instance, unsigned int pipeline,
				       u64 window, unsigned int from, unsigned int to, u64 *values,
				       unsigned int stride)
{
	struct anemone_controller *ctl = instance->ctl;
	unsigned int channels = ctl->hw.shape.channels, width = instance->plan.width;
	unsigned int granule = instance->plan.granule, line = from / granule, index, channel, word;
	const u64 *words = ctl->bounce;
	int err;

	err = anemone_hw_lines(&ctl->hw, pipeline, window, line, DIV_ROUND_UP(to, granule) - line,
			       ctl->bounce);
	if (err)
		return err;
	for (index = line * granule; index < to; index += granule) {
		for (channel = 0; channel < channels; channel++) {
			for (word = 0; word < ANEMONE_LINE_WORDS; word++)
				anemone_unpack_word(*words++, width, index + word * (64 / width),
						    from, to, values + channel, stride);
		}
	}
	return 0;
}

/* Lines are read at the address where they are written back, as one address keeps its order. */
static u64 anemone_instance_window(const struct anemone_instance *instance, bool effect)
{
	const struct anemone_hw *hw = &instance->ctl->hw;

	if (instance->harvest == ANEMONE_HARVEST_ACKNOWLEDGE)
		return hw->acknowledge;
	return effect && instance->harvest == ANEMONE_HARVEST_EFFECT ? hw->effect : hw->snapshot;
}

/* Replaces values by the counts since the last consumed read, plus the start value. */
static void anemone_instance_subtract_baseline(const struct anemone_instance *instance,
					       unsigned int first, unsigned int count, u64 *values,
					       unsigned int stride)
{
	unsigned int channels = instance->ctl->hw.shape.channels, i, c;
	const u64 *baseline = instance->baseline + (size_t)first * channels;

	for (i = 0; i < count; i++, values += stride)
		for (c = 0; c < channels; c++)
			values[c] = anemone_truncate(values[c] - *baseline++ + instance->plan.start,
						     instance->plan.width);
}

static void anemone_instance_advance_baseline(struct anemone_instance *instance, unsigned int first,
					      unsigned int count, const u64 *values,
					      unsigned int stride)
{
	unsigned int channels = instance->ctl->hw.shape.channels, i, c;
	u64 *baseline = instance->baseline + (size_t)first * channels;

	for (i = 0; i < count; i++, values += stride)
		for (c = 0; c < channels; c++, baseline++)
			*baseline = anemone_truncate(*baseline + values[c] - instance->plan.start,
						     instance->plan.width);
}

int anemone_instance_read(struct anemone_instance *instance, bool effect, unsigned int first,
			  unsigned int count, u64 *values, unsigned int stride)
{
	unsigned int counters = instance->plan.counters; /* per pipeline */
	u64 window = anemone_instance_window(instance, effect);
	unsigned int limit = ANEMONE_BOUNCE_WORDS / ANEMONE_LINE_WORDS /
			     instance->ctl->hw.shape.channels * instance->plan.granule;

	if (effect)
		instance->read_generation = instance->generation;
	while (count) {
		unsigned int slab = first / counters, from = first % counters;
		/* The bounce buffer holds `limit` counters from the beginning of the first line. */
		unsigned int to =
			min3(from - from % instance->plan.granule + limit, counters, from + count);
		int err = anemone_instance_read_lines(instance, instance->cache.slab[slab], window,
						      from, to, values, stride);

		if (err)
			return err;
		if (instance->baseline)
			anemone_instance_subtract_baseline(instance, first, to - from, values,
							   stride);
		values += (size_t)(to - from) * stride;
		first += to - from;
		count -= to - from;
	}
	return 0;
}

/* Writes back the lines of a pipeline from counter `from` on, the first counter of a line. */
static int anemone_instance_write_back(struct anemone_instance *instance, unsigned int pipeline,
				       unsigned int from, unsigned int count, const u64 *values,
				       unsigned int stride)
{
	struct anemone_controller *ctl = instance->ctl;
	unsigned int channels = ctl->hw.shape.channels, granule = instance->plan.granule, i, c;
	u64 *words = ctl->bounce;

	for (i = 0; i < count; i += granule)
		for (c = 0; c < channels; c++, words += ANEMONE_LINE_WORDS)
			anemone_harvest_pack(words, instance->plan.width, values + i * stride + c,
					     min(granule, count - i), stride);
	return anemone_hw_acknowledge(&ctl->hw, pipeline, from / granule,
				      DIV_ROUND_UP(count, granule), ctl->bounce);
}

int anemone_instance_consume(struct anemone_instance *instance, unsigned int first,
			     unsigned int count, const u64 *values, unsigned int stride)
{
	unsigned int limit = ANEMONE_BOUNCE_WORDS / ANEMONE_LINE_WORDS /
			     instance->ctl->hw.shape.channels * instance->plan.granule;
	int err = 0;

	if (instance->read_generation != instance->generation)
		return 0;
	if (instance->baseline)
		anemone_instance_advance_baseline(instance, first, count, values, stride);
	while (instance->harvest == ANEMONE_HARVEST_ACKNOWLEDGE && count && !err) {
		unsigned int from = first % instance->plan.counters;
		unsigned int some = min3(limit, instance->plan.counters - from, count);

		err = anemone_instance_write_back(instance,
						  instance->cache
							  .slab[first / instance->plan.counters],
						  from, some, values, stride);
		values += (size_t)some * stride;
		first += some;
		count -= some;
	}
	return err;
}

void anemone_instance_counts(struct anemone_instance *instance, struct anemone_counts *counts)
{
	struct anemone_counts one;
	u64 elsewhere = 0, unmapped = 0;
	unsigned int slab;

	*counts = instance->base_counts;
	for (slab = 0; slab < instance->cache.slabs; slab++) {
		anemone_hw_counts(&instance->ctl->hw, instance->cache.slab[slab], &one);
		counts->matched += one.matched;
		counts->out_of_range += one.out_of_range;
		counts->notifications += one.notifications;
		counts->parity_errors += one.parity_errors;
		if (slab)
			elsewhere += one.matched + one.out_of_range;
		else
			unmapped = one.unmapped;
	}
	/* An event without an entry in the first pipeline may have one in another. */
	counts->unmapped += unmapped - min(elsewhere, unmapped);
}
