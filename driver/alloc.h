/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pipelines and ranges of states, as a slab allocator has pages and objects (NEMO, section 3.2).
 *
 * The pool is a controller's pipelines: its slabs. A cache is a telemetry's: objects of one size,
 * its regions, cut out of the slabs that it took. A pipeline runs one rule, so no two caches share
 * one. Region r is object r % per_slab of slab r / per_slab; objects are a power of two long and
 * begin at a multiple of that, so ranges never overlap. Callers hold the controller's lock.
 */
#ifndef ANEMONE_ALLOC_H
#define ANEMONE_ALLOC_H

#include <linux/types.h>

#include "include/anemone_regs.h"

struct anemone_pool {
	unsigned int slabs;
	unsigned long free; /* a bit a pipeline */
};

struct anemone_cache {
	unsigned int regions;
	unsigned int region_log2; /* counters of a region */
	unsigned int per_slab;	  /* regions */
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
 * counters: of a pipeline on a channel. -E2BIG: a region is larger than that, -ENOSPC: more
 * pipelines are needed than are free (cache->slabs says how many).
 */
int anemone_cache_get(struct anemone_pool *pool, struct anemone_cache *cache, unsigned int regions,
		      unsigned int region_counters, unsigned int counters);
void anemone_cache_put(struct anemone_pool *pool, struct anemone_cache *cache);
struct anemone_location anemone_cache_locate(const struct anemone_cache *cache,
					     unsigned int region);
/* The other way: the counter of the telemetry that a pipeline's counter is; false: of no region. */
bool anemone_cache_counter(const struct anemone_cache *cache, unsigned int pipeline, u32 index,
			   u32 *counter);

#endif
