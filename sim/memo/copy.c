// SPDX-License-Identifier: Apache-2.0
// Block copies with vector stores, non-temporal stores, rep movsb, and memcpy.
#include "memo.h"

#include <string.h>

enum { WAYS = 4, PASSES = 4096 };
static const char* const ways[WAYS] = {"st", "nt-st", "rep movsb", "memcpy"};

static void copy_block(const struct run* run, int way, char* to, const char* from, size_t bytes) {
    switch (way) {
    case 0:
    case 1:
        run->kernels->copy(to, from, bytes, way == 1);
        break;
    case 2:
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
        break;
    default:
        memcpy(to, from, bytes);
        __asm__ volatile("" : : : "memory");
    }
}

// GB/s of copied bytes, not of bytes read plus written: returns the median pass; best: the fastest.
// A pass copies each block once, in random order.
static double copied(const struct run* run, int way, char* to, const char* from, size_t half,
                     size_t block, double* best) {
    const size_t blocks = half / block;
    const double deadline = seconds_now() + run->options->seconds;
    double found[PASSES], start, now;
    size_t passes = 0;
    do {
        start = seconds_now();
        for (size_t i = 0; i < blocks; i++) {
            const size_t at = scattered(i, blocks) * block;
            copy_block(run, way, to + at, from + at, block);
        }
        now = seconds_now();
        found[passes++] = (double)half / (now - start) * 1e-9;
    } while (now < deadline && passes < PASSES);
    *best = quantile(found, passes, 1);
    return quantile(found, passes, 0.5);
}

void copy_test(const struct run* run) {
    size_t half = LINE;
    while (half * 4 <= run->options->bytes)
        half *= 2;
    struct region region = region_of(2 * half, run->node, run->options->pages);
    char *from = region.at, *to = region.at + half;
    for (size_t block = 256;; block *= 16) {
        block = block < half ? block : half; // the last block size is the whole half
        for (int way = 0; way < WAYS; way++) {
            memset(to, 0xff, half);
            double best;
            const double found = copied(run, way, to, from, half, block, &best);
            if (memcmp(to, from, half))
                wrong("copy by %s, blocks of %zu bytes", ways[way], block);
            row_begin("copy", run->node);
            row_text("by", ways[way]);
            row_number("block_bytes", (double)block, 0);
            row_number("gb_per_s", found, 3);
            row_number("best_gb_per_s", best, 3);
            row_text("pages", region.pages);
            row_end();
        }
        if (block == half)
            break;
    }
    region_free(&region);
}
