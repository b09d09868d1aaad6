// SPDX-License-Identifier: Apache-2.0
// What happens in each cycle of a window that moves with the core: ports taken, buffers occupied,
// and bits of which the counters of stall cycles are made.
//
// Operations are worked on in program order, their events fall into any order of cycles; none falls
// before the cycle in which the last operation entered the window. So all earlier cycles are final.
#pragma once

#include <smmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "zeroed.hpp"

namespace core {

using Cycle = std::uint64_t;

constexpr Cycle kHorizon = Cycle{1} << 20; // cycles that are kept at once

// One byte a cycle, in a ring.
class Occupancy {
public:
    Occupancy() : at_(kHorizon) {}
    std::uint8_t& operator[](Cycle t) { return at_[t & (kHorizon - 1)]; }
    // The first cycle from t on in which fewer than `limit` are occupied.
    Cycle first_below(Cycle t, std::uint64_t limit) {
        const std::uint8_t* all = at_.data();
        const __m128i least = _mm_set1_epi8(static_cast<char>(limit));
        while (all[t & (kHorizon - 1)] >= limit) {
            const Cycle at = t & (kHorizon - 1);
            if (at > kHorizon - kAtOnce) {
                t++;
                continue;
            }
            const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(all + at));
            const int full = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(some, least), some));
            t += static_cast<Cycle>(std::countr_one(static_cast<std::uint16_t>(full)));
        }
        return t;
    }
    // The sum over [from, to).
    std::uint64_t total(Cycle from, Cycle to) {
        std::uint64_t sum = 0;
        each_part(from, to, [&sum, all = at_.data()](Cycle a, Cycle b) {
            __m128i sums = _mm_setzero_si128();
            for (; a + kAtOnce <= b; a += kAtOnce) {
                const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(all + a));
                sums = _mm_add_epi64(sums, _mm_sad_epu8(some, _mm_setzero_si128()));
            }
            sum += static_cast<std::uint64_t>(_mm_extract_epi64(sums, 0)) +
                   static_cast<std::uint64_t>(_mm_extract_epi64(sums, 1));
            for (; a < b; a++)
                sum += all[a];
        });
        return sum;
    }
    void occupy(Cycle from, Cycle to) {
        each_part(from, to, [all = at_.data()](Cycle a, Cycle b) {
            for (; a + kAtOnce <= b; a += kAtOnce)
                add_one(all + a, kOnes);
            if (a + kAtOnce <= kHorizon && a < b)
                add_one(all + a, kOnes + kAtOnce - (b - a));
            else
                for (; a < b; a++)
                    all[a]++;
        });
    }
    void forget(Cycle from, Cycle to) {
        each_part(from, to,
                  [all = at_.data()](Cycle a, Cycle b) { std::fill(all + a, all + b, 0); });
    }

private:
    static constexpr Cycle kAtOnce = 16;
    // So many ones, then zeros.
    static constexpr std::uint8_t kOnes[2 * kAtOnce] = {1, 1, 1, 1, 1, 1, 1, 1,
                                                        1, 1, 1, 1, 1, 1, 1, 1};
    static void add_one(std::uint8_t* at, const std::uint8_t* to) {
        auto* some = reinterpret_cast<__m128i*>(at);
        const __m128i ones = _mm_loadu_si128(reinterpret_cast<const __m128i*>(to));
        _mm_storeu_si128(some, _mm_add_epi8(_mm_loadu_si128(some), ones));
    }
    template <class Do> void each_part(Cycle from, Cycle to, Do act) {
        while (from < to) {
            const Cycle a = from & (kHorizon - 1);
            const Cycle b = std::min(kHorizon, a + (to - from));
            act(a, b);
            from += b - a;
        }
    }
    Zeroed<std::uint8_t> at_;
};

class Timeline {
public:
    enum Bit { executed, l1_miss, l2_miss, l3_miss, offcore_read, stores_full };

    struct Counted {
        std::uint64_t stalls_l1_miss, stalls_l2_miss, stalls_l3_miss, bound_on_stores, read_cycles;
    };

    Occupancy issued, load_ports, store_ports, fill_buffers, superqueue, walks;

    Timeline() : bits_(kHorizon / 64) {}
    void set(Bit bit, Cycle t) { word(bit, t) |= std::uint64_t{1} << (t & 63); }
    void set(Bit bit, Cycle from, Cycle to) {
        if (from >= to)
            return;
        constexpr std::uint64_t ones = ~std::uint64_t{0};
        const Cycle last = (to - 1) / 64;
        std::uint64_t first = ones << (from & 63);
        for (Cycle at = from / 64; at < last; at++, first = ones)
            word(bit, at * 64) |= first;
        word(bit, last * 64) |= first & ones >> (63 - ((to - 1) & 63));
    }
    // The first cycle from t on in which something issues; there is one.
    Cycle next_executed(Cycle t) {
        std::uint64_t rest = word(executed, t) >> (t & 63);
        while (rest == 0) {
            t = (t | 63) + 1;
            rest = word(executed, t);
        }
        return t + static_cast<Cycle>(std::countr_zero(rest));
    }
    // Cycles before t, in whole words, are counted and forgotten.
    void settle(Cycle t) {
        const Cycle end = t & ~Cycle{63};
        if (end <= settled_)
            return;
        for (Cycle at = settled_; at < end; at += 64) {
            const std::uint64_t idle = ~word(executed, at);
            const std::uint64_t missing = word(l1_miss, at);
            counted_.stalls_l1_miss += count(idle & missing);
            counted_.stalls_l2_miss += count(idle & word(l2_miss, at));
            counted_.stalls_l3_miss += count(idle & word(l3_miss, at));
            // The store buffer is full, and it is not a load that the core waits for.
            counted_.bound_on_stores += count(idle & word(stores_full, at) & ~missing);
            counted_.read_cycles += count(word(offcore_read, at));
            if (word(executed, at)) // without it nothing has issued
                for (Occupancy* each : {&issued, &load_ports, &store_ports})
                    each->forget(at, at + 64);
            bits_[(at / 64) & (kHorizon / 64 - 1)] = {};
        }
        for (Occupancy* each : {&fill_buffers, &superqueue, &walks})
            each->forget(settled_, end);
        settled_ = end;
    }
    const Counted& counted() const { return counted_; }
    // An event of cycle t fits in.
    void check(Cycle t) const {
        if (t >= settled_ + kHorizon)
            throw std::runtime_error("memory is so slow that a million cycles are not enough");
    }

private:
    static std::uint64_t count(std::uint64_t word) {
        return static_cast<std::uint64_t>(std::popcount(word));
    }
    std::uint64_t& word(Bit bit, Cycle t) { return bits_[(t / 64) & (kHorizon / 64 - 1)][bit]; }

    // Of 64 cycles each, side by side: they are written together.
    Zeroed<std::array<std::uint64_t, 8>> bits_;
    Counted counted_{};
    Cycle settled_ = 0;
};

} // namespace core
