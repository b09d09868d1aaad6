/* SPDX-License-Identifier: Apache-2.0
 *
 * What a captured program may say to the capture. Everything else is seen without its help.
 */
#ifndef ANEMONE_CAPTURE_H
#define ANEMONE_CAPTURE_H

#include <emmintrin.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program starts in its load phase: pages get their frames, nothing is recorded. */
void anemone_capture_warm(void);   /* from here the cache runs */
void anemone_capture_record(void); /* from here its traffic is written down; the clock starts */

/* How much of the asked-for trace is there, 0 to 1. At 1 nothing more is recorded: time to stop. */
double anemone_capture_progress(void);

uint64_t anemone_capture_now_ns(void);     /* the trace's clock */
void anemone_capture_idle_ns(uint64_t ns); /* the program sleeps that long on that clock */

/* Non-temporal stores are compiler builtins that -fsanitize=thread does not instrument, so they
 * are announced by hand; the wrappers below do that and store. */
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

/* For code that stands for another machine, such as the client that draws the next request: its
 * own accesses are not the program's. */
#define ANEMONE_UNSEEN __attribute__((no_sanitize("thread"), noinline))

#ifdef __cplusplus
}
#endif
#endif
