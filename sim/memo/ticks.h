// SPDX-License-Identifier: Apache-2.0
// Fenced readings of the time-stamp counter: the measured code stays between the two readings.
#ifndef MEMO_TICKS_H
#define MEMO_TICKS_H

#include <stdint.h>
#include <x86intrin.h>

// All earlier accesses are complete, and no later instruction has started.
static inline uint64_t ticks_start(void) {
    _mm_mfence();
    _mm_lfence();
    const uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}

// All earlier loads are complete. For stores the caller adds a fence.
static inline uint64_t ticks_end(void) {
    _mm_lfence();
    const uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}

#endif
