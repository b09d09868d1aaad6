// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace core {

// SplitMix64: the same numbers on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t n) {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
    }
    double share() { return static_cast<double>(next() >> 11) * 0x1p-53; } // [0, 1)
    bool happens(double share_of) { return share() < share_of; }

private:
    std::uint64_t state_;
};

} // namespace core
