// SPDX-License-Identifier: Apache-2.0
// A cache of 64 B lines: sets of ways, least recently used out first, written back. It stands for
// the CPU's: what it has not, and what it writes back, are the accesses that memory sees.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CACHE_WAYS 8
#define CACHE_SETS 512 // 256 KiB in all

struct cache_line {
    uint64_t line; // address / 64, and one: 0 is none
    uint64_t used;
    bool dirty;
};

struct cache {
    struct cache_line way[CACHE_SETS][CACHE_WAYS];
    uint64_t clock;
};

// Called for each line that memory is asked for, or that is written to it.
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
    memory(line, false); // a write fetches its line, too
    *oldest = (struct cache_line){line + 1, ++cache->clock, write};
}
