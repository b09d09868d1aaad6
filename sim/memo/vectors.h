// SPDX-License-Identifier: Apache-2.0
// The kernels for one vector width. kernels.c defines NAME, TARGET, VECTOR and its operations, and
// includes this file once for each width.
#define LABEL2(a, b) a##_##b
#define LABEL(a, b) LABEL2(a, b)
#define FN(a) LABEL(a, NAME)
#define ON static __attribute__((target(TARGET)))
#define INLINE static inline __attribute__((always_inline, target(TARGET)))
enum { FN(VECTORS) = LINE / sizeof(VECTOR) };

ON uint64_t FN(total)(VECTOR sum) {
    uint64_t words[sizeof sum / 8], all = 0;
    memcpy(words, &sum, sizeof sum);
    for (size_t i = 0; i < sizeof sum / 8; i++)
        all += words[i];
    return all;
}

INLINE VECTOR FN(load_line)(const char* line, VECTOR sum, bool nt) {
#pragma GCC unroll 4
    for (int v = 0; v < FN(VECTORS); v++) {
        const VECTOR* at = (const VECTOR*)line + v;
        sum = ADD(sum, nt ? NT_LOAD(at) : LOAD(at));
    }
    return sum;
}

INLINE void FN(store_line)(char* line, VECTOR value, bool nt) {
#pragma GCC unroll 4
    for (int v = 0; v < FN(VECTORS); v++) {
        VECTOR* at = (VECTOR*)line + v;
        if (nt)
            NT_STORE(at, value);
        else
            STORE(at, value);
    }
}

// Sixteen accesses between two fenced time readings. lfence waits for the loads; mfence waits for
// the stores, with the write-combining buffers.
INLINE uint64_t FN(batch_of)(enum access access, char* const* lines, VECTOR with, VECTOR* sum) {
    const bool nt = access == NT_LD || access == NT_ST;
    const uint64_t start = ticks_start();
#pragma GCC unroll 16
    for (int i = 0; i < BATCH; i++) {
        if (access == LD || access == NT_LD)
            *sum = FN(load_line)(lines[i], *sum, nt);
        else
            FN(store_line)(lines[i], with, nt);
    }
    if (access == ST || access == NT_ST)
        _mm_mfence();
    return ticks_end() - start;
}

ON uint64_t FN(batch)(enum access access, char* const* lines, uint64_t value, uint64_t* sum) {
    VECTOR read = SET((long long)0);
    const VECTOR with = SET((long long)value);
    uint64_t ticks = 0;
    switch (access) {
    case LD:
        ticks = FN(batch_of)(LD, lines, with, &read);
        break;
    case NT_LD:
        ticks = FN(batch_of)(NT_LD, lines, with, &read);
        break;
    case ST:
        ticks = FN(batch_of)(ST, lines, with, &read);
        break;
    default:
        ticks = FN(batch_of)(NT_ST, lines, with, &read);
        break;
    }
    *sum = FN(total)(read);
    return ticks;
}

INLINE uint64_t FN(walk_of)(const struct walk* w, bool random, bool nt) {
    const size_t period = w->reads + w->writes;
    const VECTOR value = SET((long long)w->value);
    VECTOR sum = SET((long long)0);
    for (size_t i = 0; i < w->lines; i += period) {
        const size_t end = i + period < w->lines ? i + period : w->lines;
        const size_t written = i + w->reads < end ? i + w->reads : end;
        for (size_t k = i; k < written; k++)
            sum = FN(load_line)(w->base + (random ? scattered(k, w->lines) : k) * LINE, sum, nt);
        for (size_t k = written; k < end; k++)
            FN(store_line)(w->base + (random ? scattered(k, w->lines) : k) * LINE, value, nt);
    }
    _mm_sfence();
    return FN(total)(sum);
}

ON uint64_t FN(walk)(const struct walk* w) {
    if (w->random)
        return w->nt ? FN(walk_of)(w, true, true) : FN(walk_of)(w, true, false);
    return w->nt ? FN(walk_of)(w, false, true) : FN(walk_of)(w, false, false);
}

INLINE void FN(copy_of)(char* to, const char* from, size_t bytes, bool nt) {
    for (size_t at = 0; at < bytes; at += LINE) {
#pragma GCC unroll 4
        for (int v = 0; v < FN(VECTORS); v++) {
            const VECTOR value = LOAD((const VECTOR*)(from + at) + v);
            VECTOR* there = (VECTOR*)(to + at) + v;
            if (nt)
                NT_STORE(there, value);
            else
                STORE(there, value);
        }
    }
    _mm_sfence();
}

ON void FN(copy)(char* to, const char* from, size_t bytes, bool nt) {
    if (nt)
        FN(copy_of)(to, from, bytes, true);
    else
        FN(copy_of)(to, from, bytes, false);
}

#undef LABEL2
#undef LABEL
#undef FN
#undef ON
#undef INLINE
#undef NAME
#undef TARGET
#undef VECTOR
#undef ADD
#undef SET
#undef LOAD
#undef NT_LOAD
#undef STORE
#undef NT_STORE
