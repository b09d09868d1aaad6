// SPDX-License-Identifier: Apache-2.0
// The last-level cache: set-associative, write-back, write-allocate, true LRU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config.hpp"

namespace capture {

// Addresses are physical line numbers (byte address / 64).
class Cache {
public:
    struct Evicted {
        std::uint64_t line;
        bool dirty;
        bool unused_prefetch; // prefetched, and evicted before any demand access
    };
    struct Found {
        bool hit;
        bool prefetched; // the first demand access to a prefetched line
    };

    explicit Cache(const Config& config)
        : ways_(config.ways), set_mask_(config.sets() - 1), slots_(config.sets() * config.ways) {}

    // A demand access. A hit makes the line the most recent of its set, and dirty if written.
    // A miss changes nothing: the caller fills.
    Found access(std::uint64_t line, bool write);

    bool holds(std::uint64_t line) const;

    // Inserts an absent line as the most recent of its set. Returns the evicted line, if any.
    std::optional<Evicted> fill(std::uint64_t line, bool dirty, bool prefetched);

    // Invalidates a line. Returns it if the cache held it.
    std::optional<Evicted> remove(std::uint64_t line);

    // Cleans the next dirty line (lowest set first, most recent first), for the final flush.
    std::optional<Evicted> clean_next();

    std::uint64_t dirty_lines() const;

private:
    // One word per line. The order within a set is the LRU order, most recent first.
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
    std::uint64_t flush_from_ = 0; // where clean_next() continues
};

} // namespace capture
