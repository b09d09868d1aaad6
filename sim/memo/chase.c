// SPDX-License-Identifier: Apache-2.0
// Latency of dependent loads by working-set size, and whether the last-level cache serves the node.
#include "memo.h"

#include "../common/circle.h"
#include "ticks.h"

// Runs are short, so that the median run is not interrupted.
enum { RUNS = 201, STEPS = 1000 };

static void circle(char* at, size_t lines) {
    if (lines > UINT32_MAX || !circle_of_lines(at, lines, LINE))
        fail(1, "no memory for a circle of %zu lines", lines);
}

static void** follow(void** at, size_t steps) {
    for (size_t i = 0; i < steps; i++)
        at = *at;
    __asm__ volatile("" : : "r"(at));
    return at;
}

// Nanoseconds per load in a circle through the first `bytes` of the region: returns the median run;
// best: the fastest.
static double chased(const struct run* run, const struct region* region, size_t bytes,
                     double* best) {
    const size_t lines = bytes / LINE;
    void** at = (void**)region->at;
    double found[RUNS];
    circle(region->at, lines);
    // One round fills the caches and checks the circle: it returns to the start after all lines.
    size_t steps = 0;
    do {
        at = *at;
        steps++;
    } while (at != (void**)region->at && steps <= lines);
    if (steps != lines)
        wrong("chase of %zu bytes: round after %zu of %zu lines", bytes, steps, lines);
    for (int i = 0; i < RUNS; i++) {
        const uint64_t start = ticks_start();
        at = follow(at, STEPS);
        found[i] = ((double)(ticks_end() - start) - run->host->timer_cycles) / STEPS;
    }
    *best = quantile(found, RUNS, 0) / run->host->tsc_ghz;
    return quantile(found, RUNS, 0.5) / run->host->tsc_ghz;
}

void chase_test(const struct run* run) {
    struct region region = region_of(run->options->bytes, run->node, run->options->pages);
    // A circle has fewer than 2^32 lines, so the last row of a larger memory covers 128 GiB.
    for (size_t bytes = 4096; bytes <= region.bytes && bytes / LINE <= UINT32_MAX; bytes *= 2) {
        double best;
        const double ns = chased(run, &region, bytes, &best);
        row_begin("chase", run->node);
        row_number("bytes", (double)bytes, 0);
        row_number("ns", ns, 2);
        row_number("best_ns", best, 2);
        row_text("pages", region.pages);
        row_end();
    }
    region_free(&region);
}

// §4.3: if the last-level cache serves the node, a working set of half its size is much faster than
// one of four times its size.
void cache_test(const struct run* run) {
    const size_t half = run->host->cache / 2, past = run->host->cache * 4;
    struct region region = region_of(past, run->node, run->options->pages);
    double best;
    const double within = chased(run, &region, half, &best);
    const double beyond = chased(run, &region, past, &best);
    row_begin("cache", run->node);
    row_number("cache_bytes", (double)run->host->cache, 0);
    row_number("half_ns", within, 2);
    row_number("past_ns", beyond, 2);
    row_text("serves", within < 0.7 * beyond ? "yes" : "no");
    row_text("pages", region.pages);
    row_end();
    region_free(&region);
}
