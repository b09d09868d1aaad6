// SPDX-License-Identifier: GPL-2.0
/* Allocates pipelines and ranges of states. */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include "alloc.h"

void anemone_pool_init(struct anemone_pool *pool, unsigned int pipelines)
{
	pool->slabs = pipelines;
	pool->free = GENMASK(pipelines - 1, 0);
}

unsigned int anemone_pool_free(const struct anemone_pool *pool)
{
	return hweight_long(pool->free);
}

int anemone_cache_get(struct anemone_pool *pool, struct anemone_cache *cache, unsigned int regions,
		      unsigned int region_counters, unsigned int counters)
{
	unsigned int slab;

	*cache = (struct anemone_cache){ .region_log2 = order_base_2(region_counters) };
	cache->per_slab = counters >> cache->region_log2;
	if (!cache->per_slab)
		return -E2BIG;
	cache->regions = regions ?: cache->per_slab;
	cache->slabs = (cache->regions - 1) / cache->per_slab + 1;
	if (cache->slabs > anemone_pool_free(pool))
		return -ENOSPC;
	for (slab = 0; slab < cache->slabs; slab++) {
		cache->slab[slab] = __ffs(pool->free);
		__clear_bit(cache->slab[slab], &pool->free);
	}
	return 0;
}

void anemone_cache_put(struct anemone_pool *pool, struct anemone_cache *cache)
{
	while (cache->slabs)
		__set_bit(cache->slab[--cache->slabs], &pool->free);
}

struct anemone_location anemone_cache_locate(const struct anemone_cache *cache, unsigned int region)
{
	return (struct anemone_location){
		.pipeline = cache->slab[region / cache->per_slab],
		.base = (region % cache->per_slab) << cache->region_log2,
	};
}

bool anemone_cache_counter(const struct anemone_cache *cache, unsigned int pipeline, u32 index,
			   u32 *counter)
{
	unsigned int slab;

	for (slab = 0; slab < cache->slabs; slab++) {
		if (cache->slab[slab] != pipeline)
			continue;
		*counter = ((slab * cache->per_slab) << cache->region_log2) + index;
		return *counter >> cache->region_log2 < cache->regions;
	}
	return false;
}
