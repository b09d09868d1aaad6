// SPDX-License-Identifier: Apache-2.0
// A set-associative cache with LRU. Its lines may know when they arrive: one that is looked up
// before it is there is in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "timeline.hpp"
#include "ways.hpp"

namespace core {

// Timed: with the cycles in which lines arrive.
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

    // When a line that is held arrives (0, if the cache does not know); it is the most recent now,
    // and dirty, if `dirty`.
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
    // A line is about to be looked for: the processor that runs the model may fetch its set.
    void expect(std::uint64_t line) const {
        __builtin_prefetch(&bytes_[set_of(line) * 2 * padded_]);
    }
    // What falls out if a line comes in now, nothing being ~0 >> 1.
    std::uint64_t next_out(std::uint64_t line) const { return words_[oldest(line)] >> 1; }
    void expect_out(std::uint64_t line) const { __builtin_prefetch(&words_[oldest(line)]); }
    // Puts in a line that is not held; what falls out, if anything does.
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
    // Takes a line out; whether it was dirty, if it was held.
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
    std::uint64_t oldest(std::uint64_t line) const { // of its set
        const std::uint64_t set = set_of(line);
        return set * ways_ + ways::oldest(&bytes_[(set * 2 + 1) * padded_], ways_);
    }
    static constexpr std::uint64_t kNone = ~std::uint64_t{0}; // no line of a machine

    // Any number of sets: by the low bits, or, of an L3 of 11 ways, say, by the remainder.
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
    std::vector<std::uint8_t> bytes_; // of each set the marks, then the ages
};

} // namespace core
