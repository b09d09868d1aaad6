// SPDX-License-Identifier: Apache-2.0
// Counts per cycle of a moving window, in rings: issued operations, occupied buffer entries.
#pragma once

#include <smmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "zeroed.hpp"

namespace core {

using Cycle = std::uint64_t;

constexpr Cycle kHorizon = Cycle{1} << 20; // length of the window
constexpr Cycle kBlock = 64;               // cycles that are cleared together

// One byte per cycle.
class PerCycle {
public:
    PerCycle() : at_(kHorizon) {}
    std::uint8_t& operator[](Cycle t) { return at_[t & (kHorizon - 1)]; }
    // The sum over [from, to), which lies in one block.
    std::uint64_t total(Cycle from, Cycle to) {
        const std::uint8_t* at = &(*this)[from];
        const std::uint8_t* end = at + (to - from);
        std::uint64_t sum = 0;
        if (end - at >= 16) {
            __m128i sums = _mm_setzero_si128();
            for (; end - at >= 16; at += 16) {
                const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
                sums = _mm_add_epi64(sums, _mm_sad_epu8(some, _mm_setzero_si128()));
            }
            sum = static_cast<std::uint64_t>(_mm_extract_epi64(sums, 0)) +
                  static_cast<std::uint64_t>(_mm_extract_epi64(sums, 1));
        }
        while (at < end)
            sum += *at++;
        return sum;
    }
    // Clears the block that begins at t.
    void forget(Cycle t) { std::memset(&(*this)[t], 0, kBlock); }

private:
    Zeroed<std::uint8_t> at_;
};

// Occupied entries of a buffer. An interval adds to one count for each block that it covers
// entirely, and to bytes per cycle only in its first and last block. So a long interval, which is
// frequent, touches little memory.
class Occupancy {
public:
    Occupancy() : blocks_(kHorizon / kBlock), parts_(kHorizon) {}
    std::uint64_t operator[](Cycle t) {
        const Block& here = block(t);
        return std::uint64_t{here.whole} + (here.parts ? parts_[t & (kHorizon - 1)] : 0);
    }
    // The first cycle from t on with fewer than `limit` occupied entries.
    Cycle first_below(Cycle t, std::uint64_t limit) {
        while ((*this)[t] >= limit) {
            const Block& here = block(t);
            if (here.whole < limit) {
                const __m128i threshold = _mm_set1_epi8(static_cast<char>(limit - here.whole));
                const std::uint8_t* parts = &parts_[t & (kHorizon - 1) & ~(kBlock - 1)];
                std::uint64_t full = 0;
                for (unsigned i = 0; i < kBlock; i += kAtOnce) {
                    const __m128i some = load(parts + i);
                    const __m128i is = _mm_cmpeq_epi8(_mm_max_epu8(some, threshold), some);
                    full |= std::uint64_t{static_cast<std::uint16_t>(_mm_movemask_epi8(is))} << i;
                }
                const std::uint64_t free = ~full >> (t & (kBlock - 1));
                if (free)
                    return t + static_cast<Cycle>(std::countr_zero(free));
            }
            t = (t | (kBlock - 1)) + 1;
        }
        return t;
    }
    void occupy(Cycle from, Cycle to) {
        if (from >= to)
            return;
        const Cycle last = to & ~(kBlock - 1);
        if ((from & ~(kBlock - 1)) == last) {
            add(last, from & (kBlock - 1), to & (kBlock - 1));
            return;
        }
        if (from & (kBlock - 1)) {
            add(from & ~(kBlock - 1), from & (kBlock - 1), kBlock);
            from = (from | (kBlock - 1)) + 1;
        }
        for (; from < last; from += kBlock)
            block(from).whole++;
        if (to & (kBlock - 1))
            add(last, 0, to & (kBlock - 1));
    }
    // Clears the block that begins at t.
    void forget(Cycle t) { block(t) = {}; }

private:
    struct Block {
        std::uint8_t whole; // entries that cover the block
        std::uint8_t parts; // 1: parts_ has counts, too
    };
    static constexpr Cycle kAtOnce = 16;
    // From index kBlock - i on: i zeros, then ones.
    static constexpr auto kFrom = [] {
        std::array<std::uint8_t, 2 * kBlock> all{};
        for (Cycle i = kBlock; i < 2 * kBlock; i++)
            all[i] = 1;
        return all;
    }();

    static __m128i load(const std::uint8_t* at) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    }
    Block& block(Cycle t) { return blocks_[(t / kBlock) & (kHorizon / kBlock - 1)]; }
    // Adds one in [first, end) of the block that begins at t.
    void add(Cycle t, Cycle first, Cycle end) {
        Block& here = block(t);
        std::uint8_t* parts = &parts_[t & (kHorizon - 1)];
        if (!here.parts) { // the old bytes are stale, so they are overwritten
            here.parts = 1;
            for (Cycle i = 0; i < kBlock; i += kAtOnce) {
                const __m128i after = load(&kFrom[kBlock - first + i]);
                const __m128i past = load(&kFrom[kBlock - end + i]);
                _mm_storeu_si128(reinterpret_cast<__m128i*>(parts + i), _mm_sub_epi8(after, past));
            }
            return;
        }
        for (Cycle i = first & ~(kAtOnce - 1); i < end; i += kAtOnce) {
            const __m128i after = load(&kFrom[kBlock - first + i]);
            const __m128i past = load(&kFrom[kBlock - end + i]);
            auto* at = reinterpret_cast<__m128i*>(parts + i);
            _mm_storeu_si128(at, _mm_add_epi8(_mm_loadu_si128(at), _mm_sub_epi8(after, past)));
        }
    }
    Zeroed<Block> blocks_;
    Zeroed<std::uint8_t> parts_;
};

} // namespace core
