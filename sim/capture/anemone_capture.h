/* SPDX-License-Identifier: Apache-2.0
 *
 * Optional calls from a captured program to the capture: phases, clock, non-temporal stores.
 */
#ifndef ANEMONE_CAPTURE_H
#define ANEMONE_CAPTURE_H

#include <emmintrin.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program starts in its load phase: touched pages get frames, and nothing is recorded. */
void anemone_capture_warm(void);   /* starts the cache model */
void anemone_capture_record(void); /* starts the recording and the clock */

/* The share of the requested trace that is recorded, 0 to 1. At 1 the program may stop. */
double anemone_capture_progress(void);

uint64_t anemone_capture_now_ns(void);     /* the trace's clock */
void anemone_capture_idle_ns(uint64_t ns); /* advances that clock, as if the program slept */

/* -fsanitize=thread does not instrument non-temporal stores, so the program must announce them.
 * The wrappers below announce and store. */
void anemone_capture_stream(const void* address, uint64_t bytes);
void anemone_capture_fence(void);

static inline void anemone_stream_pd(double* to, __m128d value) {
    anemone_capture_stream(to, 16);
    _mm_stream_pd(to, value);
}

static inline void anemone_stream_si128(__m128i* to, __m128i value) {
    anemone_capture_stream(to, 16);
    _mm_stream_si128(to, value);
}

static inline void anemone_stream_fence(void) {
    anemone_capture_fence();
    _mm_sfence();
}

/* Leaves a function uninstrumented. For code that models another machine, such as a client that
 * generates requests. */
#define ANEMONE_UNSEEN __attribute__((no_sanitize("thread"), noinline))

#ifdef __cplusplus
}
#endif
#endif
