// SPDX-License-Identifier: GPL-2.0
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../alloc.h"

#define PIPELINES 8
#define COUNTERS 64

/* The region that owns each counter of each pipeline, to find a counter with two owners. */
struct owners {
	u16 of[PIPELINES][COUNTERS];
};

static void claim(struct kunit *test, struct owners *owners, const struct anemone_cache *cache,
		  u16 who)
{
	unsigned int region, offset;

	for (region = 0; region < cache->regions; region++) {
		struct anemone_location place = anemone_cache_locate(cache, region);

		KUNIT_ASSERT_LT(test, place.pipeline, PIPELINES);
		KUNIT_ASSERT_LE(test, place.base + (1U << cache->region_log2), COUNTERS);
		for (offset = 0; offset < 1U << cache->region_log2; offset++) {
			u32 counter = ~0;

			KUNIT_ASSERT_EQ(test, owners->of[place.pipeline][place.base + offset], 0);
			owners->of[place.pipeline][place.base + offset] = who;
			KUNIT_EXPECT_TRUE(test,
					  anemone_cache_counter(cache, place.pipeline,
								place.base + offset, &counter));
			KUNIT_EXPECT_EQ(test, counter, (region << cache->region_log2) + offset);
		}
	}
}

static void ranges_never_overlap(struct kunit *test)
{
	struct rnd_state random;
	struct anemone_cache caches[PIPELINES] = {};
	struct anemone_pool pool;
	unsigned int step, i, refused = 0;

	prandom_seed_state(&random, 20261121);
	anemone_pool_init(&pool, PIPELINES);
	for (step = 0; step < 2000; step++) {
		struct anemone_cache *cache = &caches[prandom_u32_state(&random) % PIPELINES];
		unsigned int regions = 1 + prandom_u32_state(&random) % 100;
		unsigned int counters = 1 + prandom_u32_state(&random) % 40;
		unsigned int was = anemone_pool_free(&pool), held = 0;
		struct owners *owners;

		if (cache->slabs) {
			held = cache->slabs;
			anemone_cache_put(&pool, cache);
			KUNIT_EXPECT_EQ(test, anemone_pool_free(&pool), was + held);
			continue;
		}
		if (anemone_cache_get(&pool, cache, regions, counters, COUNTERS)) {
			KUNIT_EXPECT_GT(test, cache->slabs, was);
			KUNIT_EXPECT_EQ(test, anemone_pool_free(&pool), was);
			*cache = (struct anemone_cache){};
			refused++;
			continue;
		}
		owners = kunit_kzalloc(test, sizeof(*owners), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, owners);
		for (i = 0; i < PIPELINES; i++)
			if (caches[i].slabs)
				claim(test, owners, &caches[i], i + 1);
		kunit_kfree(test, owners);
	}
	KUNIT_EXPECT_GT(test, refused, 100); /* both outcomes occur */
	KUNIT_EXPECT_LT(test, refused, 1500);
}

static void refusals(struct kunit *test)
{
	struct anemone_cache cache, more;
	struct anemone_pool pool;

	anemone_pool_init(&pool, 2);
	KUNIT_EXPECT_EQ(test, anemone_cache_get(&pool, &cache, 1, COUNTERS + 1, COUNTERS), -E2BIG);
	KUNIT_EXPECT_EQ(test, anemone_cache_get(&pool, &cache, 3, COUNTERS, COUNTERS), -ENOSPC);
	KUNIT_EXPECT_EQ(test, cache.slabs, 3);
	KUNIT_EXPECT_EQ(test, anemone_pool_free(&pool), 2);
	KUNIT_EXPECT_EQ(test, anemone_cache_get(&pool, &cache, 2, COUNTERS, COUNTERS), 0);
	KUNIT_EXPECT_EQ(test, anemone_cache_get(&pool, &more, 1, 1, COUNTERS), -ENOSPC);
	anemone_cache_put(&pool, &cache);
	KUNIT_EXPECT_EQ(test, anemone_cache_get(&pool, &more, 0, 16, COUNTERS), 0);
	KUNIT_EXPECT_EQ(test, more.regions, 4); /* 0: as many as one pipeline holds */
}

static void odd_sizes_round_up(struct kunit *test)
{
	struct anemone_cache cache;
	struct anemone_pool pool;

	anemone_pool_init(&pool, 1);
	KUNIT_ASSERT_EQ(test, anemone_cache_get(&pool, &cache, 0, 17, COUNTERS), 0);
	KUNIT_EXPECT_EQ(test, cache.regions, 2);
	KUNIT_EXPECT_EQ(test, anemone_cache_locate(&cache, 1).base, 32);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ranges_never_overlap),
	KUNIT_CASE(refusals),
	KUNIT_CASE(odd_sizes_round_up),
	{},
};

static struct kunit_suite suite = { .name = "anemone_alloc", .test_cases = cases };

kunit_test_suite(suite);
