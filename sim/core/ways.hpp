// SPDX-License-Identifier: Apache-2.0
// Lookup and LRU for the ways of a set or the entries of a table. Each way has a mark byte (a hash
// of its key) and an age byte. SSE compares sixteen at once, because lookups dominate the model's
// run time.
#pragma once

#include <smmintrin.h>

#include <bit>
#include <cstdint>

namespace core {

namespace ways {

constexpr unsigned kAtOnce = 16, kNowhere = ~0u;
constexpr std::uint8_t kPadding = 127; // the age of unused bytes: above any way's age

constexpr unsigned padded(unsigned n) {
    return (n + kAtOnce - 1) / kAtOnce * kAtOnce;
}

// Most keys of one set have different marks.
inline std::uint8_t mark(std::uint64_t key) {
    return static_cast<std::uint8_t>(key * 0x9E3779B97F4A7C15u >> 56);
}

inline unsigned equal(const std::uint8_t* bytes, std::uint8_t value) {
    const __m128i found = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    return static_cast<unsigned>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(found, _mm_set1_epi8(static_cast<char>(value)))));
}

// The way among n with this mark for which `is` holds, or kNowhere.
template <class Is> unsigned find(const std::uint8_t* marks, unsigned n, std::uint8_t mark, Is is) {
    for (unsigned from = 0; from < n; from += kAtOnce)
        for (unsigned rest = equal(marks + from, mark); rest; rest &= rest - 1) {
            const unsigned way = from + static_cast<unsigned>(std::countr_zero(rest));
            if (way < n && is(way))
                return way;
        }
    return kNowhere;
}

// Makes `way` the youngest; ways that were younger become one step older.
inline void use(std::uint8_t* ages, unsigned n, unsigned way) {
    const __m128i age = _mm_set1_epi8(static_cast<char>(ages[way]));
    for (unsigned from = 0; from < n; from += kAtOnce) {
        auto* at = reinterpret_cast<__m128i*>(ages + from);
        const __m128i all = _mm_loadu_si128(at);
        _mm_storeu_si128(at, _mm_sub_epi8(all, _mm_cmplt_epi8(all, age)));
    }
    ages[way] = 0;
}

// Makes `way` the oldest.
inline void disuse(std::uint8_t* ages, unsigned n, unsigned way) {
    for (unsigned i = 0; i < n; i++)
        ages[i] = static_cast<std::uint8_t>(ages[i] - (ages[i] > ages[way] && i != way));
    ages[way] = static_cast<std::uint8_t>(n - 1);
}

inline unsigned oldest(const std::uint8_t* ages, unsigned n) {
    return find(ages, n, static_cast<std::uint8_t>(n - 1), [](unsigned) { return true; });
}

} // namespace ways

} // namespace core
