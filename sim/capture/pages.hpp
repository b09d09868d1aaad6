// SPDX-License-Identifier: Apache-2.0
// Address translation: a page gets its frame at its first access.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "config.hpp"

namespace capture {

// A pseudo-random bijection on [0, n). Multiply, add and xor-shift steps are bijections on the next
// power of two; a value outside [0, n) goes through the steps again (cycle walking).
class Permutation {
public:
    Permutation(std::uint64_t n, std::uint64_t seed);
    std::uint64_t operator()(std::uint64_t x) const;

private:
    static constexpr int kRounds = 4;
    std::uint64_t n_, mask_;
    unsigned shift_;
    std::array<std::uint64_t, kRounds> multiply_, add_;
};

class PageMap {
public:
    explicit PageMap(const Config& config);

    // Returns the physical byte address. Throws std::length_error when the device is full.
    std::uint64_t translate(std::uint64_t virtual_address);

    std::uint64_t used() const { return frames_.size(); } // pages touched so far

private:
    std::uint64_t first_touch(std::uint64_t page);

    // A direct-mapped cache of translations, because most accesses go to a recently used page.
    struct Recent {
        std::uint64_t page = ~0ull, frame = 0;
    };
    static constexpr std::uint64_t kRecent = 1024;

    Config config_;
    Permutation scatter_;
    unsigned shift_;
    std::uint64_t frame_count_, first_frame_;
    std::unordered_map<std::uint64_t, std::uint64_t> frames_;
    std::array<Recent, kRecent> recent_;
};

} // namespace capture
