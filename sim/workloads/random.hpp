// SPDX-License-Identifier: Apache-2.0
// Random numbers and Zipf ranks. They use only integers, because floating-point libraries give
// different results on different processors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "anemone_capture.h"

namespace workload {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    // Uniform on [0, n), for n up to about 2^32 (the bias is n / 2^64).
    std::uint64_t below(std::uint64_t n) {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
    }
    bool percent(unsigned p) { return below(100) < p; }

private:
    std::uint64_t state_;
};

// A bijection on [0, 2^bits) that scatters neighbours: popular ranks must not be adjacent (YCSB
// scrambles its Zipf keys for the same reason).
inline std::uint64_t scatter(std::uint64_t x, unsigned bits) {
    const std::uint64_t mask = (1ull << bits) - 1;
    for (int i = 0; i < 3; i++) {
        x = (x * 0x9e3779b97f4a7c15 + 0x632be59bd9b4e019) & mask;
        x ^= x >> (bits / 2 + 1);
    }
    return x;
}

// Zipf with exponent 1: rank r in [0, n) has a probability proportional to 1 / (r + 1).
class Zipf {
public:
    ANEMONE_UNSEEN explicit Zipf(std::uint64_t n) {
        std::uint64_t sum = 0;
        for (std::uint64_t r = 1; r <= n; r++)
            upto_.push_back(sum += (1ull << 40) / r);
    }
    ANEMONE_UNSEEN std::uint64_t draw(Random& random) const {
        const std::uint64_t at = random.below(upto_.back());
        const auto found = std::upper_bound(upto_.begin(), upto_.end(), at);
        return static_cast<std::uint64_t>(found - upto_.begin());
    }

private:
    std::vector<std::uint64_t> upto_;
};

} // namespace workload
