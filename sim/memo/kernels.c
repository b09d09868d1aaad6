// SPDX-License-Identifier: Apache-2.0
// The measured kernels for SSE2, AVX2 and AVX-512, selected at run time.
#include "memo.h"

#include <immintrin.h>
#include <string.h>

#include "ticks.h"

const char* const access_names[ACCESSES] = {"ld", "nt-ld", "st", "nt-st"};

// SSE2 has no non-temporal load (SSE4.1 does, and every processor with CXL has AVX2), so this uses
// a non-temporal prefetch and a load.
static inline __m128i sse2_nt_load(const __m128i* at) {
    _mm_prefetch((const char*)at, _MM_HINT_NTA);
    return _mm_load_si128(at);
}

#define NAME sse2
#define TARGET "sse2"
#define VECTOR __m128i
#define ADD _mm_add_epi64
#define SET _mm_set1_epi64x
#define LOAD _mm_load_si128
#define NT_LOAD sse2_nt_load
#define STORE _mm_store_si128
#define NT_STORE _mm_stream_si128
#include "vectors.h"

#define NAME avx2
#define TARGET "avx2"
#define VECTOR __m256i
#define ADD _mm256_add_epi64
#define SET _mm256_set1_epi64x
#define LOAD _mm256_load_si256
#define NT_LOAD(at) _mm256_stream_load_si256((const void*)(at))
#define STORE _mm256_store_si256
#define NT_STORE _mm256_stream_si256
#include "vectors.h"

#define NAME avx512
#define TARGET "avx512f"
#define VECTOR __m512i
#define ADD _mm512_add_epi64
#define SET _mm512_set1_epi64
#define LOAD _mm512_load_si512
#define NT_LOAD(at) _mm512_stream_load_si512((void*)(at))
#define STORE _mm512_store_si512
#define NT_STORE _mm512_stream_si512
#include "vectors.h"

static bool always(void) {
    return true;
}
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}
static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f");
}

// Widest first.
static const struct kernels every[] = {
    {"avx512", has_avx512, batch_avx512, walk_avx512, copy_avx512},
    {"avx2", has_avx2, batch_avx2, walk_avx2, copy_avx2},
    {"sse2", always, batch_sse2, walk_sse2, copy_sse2},
};

const struct kernels* kernels_of(const char* name) {
    for (size_t i = 0; i < sizeof every / sizeof *every; i++)
        if (every[i].here() && (!name || !strcmp(name, every[i].name)))
            return &every[i];
    return NULL;
}
