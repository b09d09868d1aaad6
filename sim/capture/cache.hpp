// SPDX-License-Identifier: Apache-2.0
// The last-level cache: set-associative, write-back, write-allocate, true LRU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config.hpp"

namespace capture {

// Addresses here are physical line numbers (byte address / 64).
class Cache {
public:
    struct Evicted {
        std::uint64_t line;
        bool dirty;
        bool unused_prefetch; // brought in by the prefetcher and never asked for
    };
    struct Found {
        bool hit;
        bool prefetched; // the first use of a line that the prefetcher brought in
    };

    explicit Cache(const Config& config)
        : ways_(config.ways), set_mask_(config.sets() - 1), slots_(config.sets() * config.ways) {}

    // A demand access. On a hit the line becomes the most recent of its set, dirty if written.
    // On a miss nothing changes: the caller fills.
    Found access(std::uint64_t line, bool write);

    bool holds(std::uint64_t line) const;

    // Puts a line that is not held at the most recent place; what fell out, if anything did.
    std::optional<Evicted> fill(std::uint64_t line, bool dirty, bool prefetched);

    // Takes a line out; whether it was held, and dirty.
    std::optional<Evicted> remove(std::uint64_t line);

    // Makes the next dirty line clean (lowest set first, most recent first); for a last flush.
    std::optional<Evicted> clean_next();

    std::uint64_t dirty_lines() const;

private:
    // One word a line, most recent first, so that LRU is a matter of order.
    static constexpr std::uint64_t kValid = 1, kDirty = 2, kPrefetched = 4;
    static constexpr unsigned kTag = 3;

    std::uint64_t* set_of(std::uint64_t line) { return &slots_[(line & set_mask_) * ways_]; }
    const std::uint64_t* set_of(std::uint64_t line) const {
        return &slots_[(line & set_mask_) * ways_];
    }
    static bool is(std::uint64_t slot, std::uint64_t line) {
        return (slot & kValid) && slot >> kTag == line;
    }
    static Evicted evicted(std::uint64_t slot) {
        return {slot >> kTag, (slot & kDirty) != 0, (slot & kPrefetched) != 0};
    }

    std::uint64_t ways_, set_mask_;
    std::vector<std::uint64_t> slots_;
    std::uint64_t flush_from_ = 0; // clean_next() has been past all slots before this one
};

} // namespace capture
