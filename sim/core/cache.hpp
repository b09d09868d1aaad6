// SPDX-License-Identifier: Apache-2.0
// A set-associative cache with LRU. Its lines may know when they arrive: one that is looked up
// before it is there is in flight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "timeline.hpp"

namespace core {

// Timed: with the cycles in which lines arrive. Ways are in order of use, the most recent first.
template <bool Timed> class Cache {
public:
    struct Victim {
        std::uint64_t line;
        bool dirty;
    };

    Cache(std::uint64_t lines, std::uint64_t ways)
        : ways_(ways), sets_(lines / ways), words_(lines, kNone), arrives_(Timed ? lines : 0) {
        if (sets_ == 0 || sets_ * ways != lines)
            throw std::invalid_argument("a cache's lines are no multiple of its ways");
    }

    // When a line that is held arrives (0, if the cache does not know); it is the most recent now,
    // and dirty, if `dirty`.
    std::optional<Cycle> find(std::uint64_t line, bool dirty = false) {
        const std::uint64_t base = set(line) * ways_;
        for (std::uint64_t i = base; i < base + ways_; i++)
            if (words_[i] >> 1 == line) {
                to_front(base, i);
                words_[base] |= dirty;
                return Timed ? arrives_[base] : 0;
            }
        return std::nullopt;
    }
    bool holds(std::uint64_t line) const {
        const std::uint64_t base = set(line) * ways_;
        for (std::uint64_t i = base; i < base + ways_; i++)
            if (words_[i] >> 1 == line)
                return true;
        return false;
    }
    // Puts in a line that is not held; what falls out, if anything does.
    std::optional<Victim> fill(std::uint64_t line, Cycle arrives, bool dirty) {
        const std::uint64_t base = set(line) * ways_, last = base + ways_ - 1;
        std::optional<Victim> out;
        if (words_[last] != kNone)
            out = Victim{words_[last] >> 1, (words_[last] & 1) != 0};
        to_front(base, last);
        words_[base] = line << 1 | dirty;
        if constexpr (Timed)
            arrives_[base] = arrives;
        return out;
    }
    // Takes a line out; whether it was dirty, if it was held.
    std::optional<bool> remove(std::uint64_t line) {
        const std::uint64_t base = set(line) * ways_;
        for (std::uint64_t i = base; i < base + ways_; i++)
            if (words_[i] >> 1 == line) {
                const bool dirty = (words_[i] & 1) != 0;
                for (; i + 1 < base + ways_; i++) {
                    words_[i] = words_[i + 1];
                    if constexpr (Timed)
                        arrives_[i] = arrives_[i + 1];
                }
                words_[i] = kNone;
                return dirty;
            }
        return std::nullopt;
    }

private:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0}; // no line of a machine

    // Any number of sets: by the low bits, or, of an L3 of 11 ways, say, by the remainder.
    std::uint64_t set(std::uint64_t line) const {
        return (sets_ & (sets_ - 1)) == 0 ? line & (sets_ - 1) : line % sets_;
    }
    void to_front(std::uint64_t base, std::uint64_t i) {
        if (i == base)
            return;
        const std::uint64_t word = words_[i];
        std::copy_backward(&words_[base], &words_[i], &words_[i] + 1);
        words_[base] = word;
        if constexpr (Timed) {
            const Cycle arrives = arrives_[i];
            std::copy_backward(&arrives_[base], &arrives_[i], &arrives_[i] + 1);
            arrives_[base] = arrives;
        }
    }

    std::uint64_t ways_, sets_;
    std::vector<std::uint64_t> words_; // line << 1 | dirty
    std::vector<Cycle> arrives_;
};

} // namespace core
