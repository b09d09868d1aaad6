// SPDX-License-Identifier: Apache-2.0
// A set-associative cache with LRU. A timed cache records when each line arrives, so that a lookup
// can find a line in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "timeline.hpp"
#include "ways.hpp"

namespace core {

// Timed: records the cycle in which each line arrives.
template <bool Timed> class Cache {
public:
    struct Victim {
        std::uint64_t line;
        bool dirty;
    };

    Cache(std::uint64_t lines, std::uint64_t ways)
        : ways_(static_cast<unsigned>(ways)), padded_(ways::padded(ways_)), sets_(lines / ways),
          words_(lines, kNone), arrives_(Timed ? lines : 0) {
        if (sets_ == 0 || sets_ * ways != lines)
            throw std::invalid_argument("a cache's lines are no multiple of its ways");
        bytes_.resize(sets_ * 2 * padded_, ways::kPadding);
        for (std::uint64_t set = 0; set < sets_; set++)
            for (unsigned way = 0; way < ways_; way++)
                ages(set)[way] = static_cast<std::uint8_t>(way);
    }

    // Looks a line up. A hit returns the line's arrival (0 if untimed), makes it the most recent
    // and, with `dirty`, dirty.
    std::optional<Cycle> find(std::uint64_t line, bool dirty = false) {
        const std::uint64_t set = set_of(line);
        const unsigned way = way_of(set, line);
        if (way == ways::kNowhere)
            return std::nullopt;
        ways::use(ages(set), ways_, way);
        words_[set * ways_ + way] |= dirty;
        return Timed ? arrives_[set * ways_ + way] : 0;
    }
    bool holds(std::uint64_t line) const { return way_of(set_of(line), line) != ways::kNowhere; }
    // Prefetches the host's cache lines of the set for a later find().
    void expect(std::uint64_t line) const {
        __builtin_prefetch(&bytes_[set_of(line) * 2 * padded_]);
    }
    // The line that fill() would evict; ~0 >> 1 if none.
    std::uint64_t next_out(std::uint64_t line) const { return words_[oldest(line)] >> 1; }
    void expect_out(std::uint64_t line) const { __builtin_prefetch(&words_[oldest(line)]); }
    // Inserts an absent line. Returns the evicted line, if any.
    std::optional<Victim> fill(std::uint64_t line, Cycle arrives, bool dirty) {
        const std::uint64_t set = set_of(line);
        const unsigned way = ways::oldest(ages(set), ways_);
        std::uint64_t& word = words_[set * ways_ + way];
        std::optional<Victim> out;
        if (word != kNone)
            out = Victim{word >> 1, (word & 1) != 0};
        ways::use(ages(set), ways_, way);
        marks(set)[way] = ways::mark(line);
        word = line << 1 | dirty;
        if constexpr (Timed)
            arrives_[set * ways_ + way] = arrives;
        return out;
    }
    // Invalidates a line. Returns whether it was dirty, if the cache held it.
    std::optional<bool> remove(std::uint64_t line) {
        const std::uint64_t set = set_of(line);
        const unsigned way = way_of(set, line);
        if (way == ways::kNowhere)
            return std::nullopt;
        std::uint64_t& word = words_[set * ways_ + way];
        const bool dirty = (word & 1) != 0;
        word = kNone;
        ways::disuse(ages(set), ways_, way);
        return dirty;
    }

private:
    std::uint64_t oldest(std::uint64_t line) const { // in the line's set
        const std::uint64_t set = set_of(line);
        return set * ways_ + ways::oldest(&bytes_[(set * 2 + 1) * padded_], ways_);
    }
    static constexpr std::uint64_t kNone = ~std::uint64_t{0}; // an empty way

    // An L3 of 11 ways, for example, may have a number of sets that is no power of two.
    std::uint64_t set_of(std::uint64_t line) const {
        return (sets_ & (sets_ - 1)) == 0 ? line & (sets_ - 1) : line % sets_;
    }
    unsigned way_of(std::uint64_t set, std::uint64_t line) const {
        const std::uint64_t* words = &words_[set * ways_];
        return ways::find(&bytes_[set * 2 * padded_], ways_, ways::mark(line),
                          [words, line](unsigned way) { return words[way] >> 1 == line; });
    }
    std::uint8_t* marks(std::uint64_t set) { return &bytes_[set * 2 * padded_]; }
    std::uint8_t* ages(std::uint64_t set) { return marks(set) + padded_; }

    unsigned ways_, padded_;
    std::uint64_t sets_;
    std::vector<std::uint64_t> words_; // line << 1 | dirty
    std::vector<Cycle> arrives_;
    std::vector<std::uint8_t> bytes_; // for each set: the ways' marks, then their ages
};

} // namespace core
