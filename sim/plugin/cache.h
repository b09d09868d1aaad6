// SPDX-License-Identifier: Apache-2.0
// A set-associative write-back cache of 64 B lines with LRU. It models the CPU's caches: its misses
// and write-backs are the accesses that memory sees.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CACHE_WAYS 8
#define CACHE_SETS 512 // 256 KiB

struct cache_line {
    uint64_t line; // address / 64 + 1; 0: empty
    uint64_t used;
    bool dirty;
};

struct cache {
    struct cache_line way[CACHE_SETS][CACHE_WAYS];
    uint64_t clock;
};

// Called for each line that is read from memory or written to it.
typedef void (*cache_memory)(uint64_t line, bool write);

static inline void cache_access(struct cache* cache, uint64_t line, bool write,
                                cache_memory memory) {
    struct cache_line *way = cache->way[line % CACHE_SETS], *oldest = way;

    for (unsigned int i = 0; i < CACHE_WAYS; i++) {
        if (way[i].line == line + 1) {
            way[i].used = ++cache->clock;
            way[i].dirty |= write;
            return;
        }
        if (way[i].used < oldest->used)
            oldest = &way[i];
    }
    if (oldest->dirty)
        memory(oldest->line - 1, true);
    memory(line, false); // write-allocate: a write fetches its line, too
    *oldest = (struct cache_line){line + 1, ++cache->clock, write};
}
