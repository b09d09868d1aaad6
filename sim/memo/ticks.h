// SPDX-License-Identifier: Apache-2.0
// The time-stamp counter, read so that what is measured stays between the two readings.
#ifndef MEMO_TICKS_H
#define MEMO_TICKS_H

#include <stdint.h>
#include <x86intrin.h>

// Everything before is done, and nothing behind has begun.
static inline uint64_t ticks_start(void) {
    _mm_mfence();
    _mm_lfence();
    const uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}

// Every load before is done; stores are where the caller has put a fence.
static inline uint64_t ticks_end(void) {
    _mm_lfence();
    const uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}

#endif
