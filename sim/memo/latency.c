// SPDX-License-Identifier: Apache-2.0
// Latency of ld, nt-ld, st and nt-st (§4.1): 16 back-to-back accesses to random flushed lines.
#include "memo.h"

#include <immintrin.h>
#include <stdlib.h>

static uint64_t state = 1;

static size_t any(size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(((unsigned __int128)state * below) >> 64);
}

// Chooses distinct random lines of the region.
static void choose(const struct region* region, char** lines) {
    for (unsigned i = 0; i < BATCH; i++) {
        lines[i] = region->at + any(region->bytes / LINE) * LINE;
        for (unsigned k = 0; k < i; k++)
            if (lines[k] == lines[i]) {
                i--;
                break;
            }
    }
}

static void flush(char* const* lines) {
    for (unsigned i = 0; i < BATCH; i++)
        _mm_clflush(lines[i]);
    _mm_mfence();
}

static bool all_words_are(const char* line, uint64_t value) {
    for (size_t k = 0; k < LINE / 8; k++)
        if (((const volatile uint64_t*)line)[k] != value)
            return false;
    return true;
}

// Whether the batch read the lines' contents, or the lines hold what it wrote. Restores the lines.
static bool right(const struct region* region, enum access access, char* const* lines,
                  uint64_t value, uint64_t sum) {
    uint64_t held = 0;
    bool good = true;
    for (unsigned i = 0; i < BATCH; i++) {
        const uint64_t number = (uint64_t)(lines[i] - region->at) / LINE + 1;
        held += number * (LINE / 8);
        if (access == ST || access == NT_ST) {
            good &= all_words_are(lines[i], value);
            for (size_t k = 0; k < LINE / 8; k++)
                ((uint64_t*)lines[i])[k] = number;
        }
    }
    return access == LD || access == NT_LD ? held == sum : good;
}

static void one(const struct run* run, const struct region* region, enum access access) {
    const unsigned repeat = run->options->repeat;
    double* found = malloc(repeat * sizeof *found);
    char* lines[BATCH];
    unsigned bad = 0;
    if (!found)
        fail(1, "no memory for %u times", repeat);
    for (unsigned i = 0; i < repeat; i++) {
        uint64_t sum = 0;
        const uint64_t value = ~(uint64_t)i;
        choose(region, lines);
        flush(lines);
        const uint64_t ticks = run->kernels->batch(access, lines, value, &sum);
        bad += !right(region, access, lines, value, sum);
        found[i] = ((double)ticks - run->host->timer_cycles) / run->host->tsc_ghz;
    }
    if (bad)
        wrong("%s: %u of %u batches", access_names[access], bad, repeat);
    row_begin("latency", run->node);
    row_text("access", access_names[access]);
    row_number("ns", quantile(found, repeat, 0.5) / BATCH, 2); // found is sorted from here on
    row_number("batch_ns", found[(repeat - 1) / 2], 1);
    row_number("p10_ns", found[(repeat - 1) / 10] / BATCH, 2);
    row_number("p90_ns", found[(size_t)(repeat - 1) * 9 / 10] / BATCH, 2);
    row_number("batches", repeat, 0);
    row_text("pages", region->pages);
    row_end();
    free(found);
}

void latency_test(const struct run* run) {
    struct region region = region_of(run->options->bytes, run->node, run->options->pages);
    for (int access = LD; access < ACCESSES; access++)
        one(run, &region, (enum access)access);
    region_free(&region);
}
