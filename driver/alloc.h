/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocation of pipelines and ranges of states, as in a slab allocator (NEMO, section 3.2).
 *
 * The pool is a controller's pipelines, its slabs. A cache is a telemetry's regions: objects of one
 * size, in the slabs that it took. A pipeline runs one rule, so two caches never share a slab.
 * Region r is object r % per_slab of slab r / per_slab. Objects have a power of two as size and
 * alignment, so ranges never overlap. Callers hold the controller's lock.
 */
#ifndef ANEMONE_ALLOC_H
#define ANEMONE_ALLOC_H

#include <linux/types.h>

#include "include/anemone_regs.h"

struct anemone_pool {
	unsigned int slabs;
	unsigned long free; /* one bit per pipeline */
};

struct anemone_cache {
	unsigned int regions;
	unsigned int region_log2; /* log2 of the counters of a region */
	unsigned int per_slab;	  /* regions per slab */
	unsigned int slabs;
	u8 slab[ANEMONE_PIPELINE_COUNT_MAX];
};

struct anemone_location {
	unsigned int pipeline;
	u32 base; /* index of the region's first counter in the pipeline */
};

void anemone_pool_init(struct anemone_pool *pool, unsigned int pipelines);
unsigned int anemone_pool_free(const struct anemone_pool *pool);

/*
 * counters: per pipeline and channel. -E2BIG: a region is larger than that; -ENOSPC: more pipelines
 * are needed (cache->slabs) than are free.
 */
int anemone_cache_get(struct anemone_pool *pool, struct anemone_cache *cache, unsigned int regions,
		      unsigned int region_counters, unsigned int counters);
void anemone_cache_put(struct anemone_pool *pool, struct anemone_cache *cache);
struct anemone_location anemone_cache_locate(const struct anemone_cache *cache,
					     unsigned int region);
/* The inverse: the telemetry's counter for a pipeline's counter; false if it is in no region. */
bool anemone_cache_counter(const struct anemone_cache *cache, unsigned int pipeline, u32 index,
			   u32 *counter);

#endif
