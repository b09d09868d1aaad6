// SPDX-License-Identifier: Apache-2.0
#include "cache.hpp"

#include <cstring>

namespace capture {

Cache::Found Cache::access(std::uint64_t line, bool write) {
    std::uint64_t* set = set_of(line);
    for (std::uint64_t way = 0; way < ways_; way++) {
        if (!is(set[way], line))
            continue;
        std::uint64_t slot = set[way];
        const bool prefetched = (slot & kPrefetched) != 0;
        slot = (slot & ~kPrefetched) | (write ? kDirty : 0);
        std::memmove(set + 1, set, way * sizeof *set);
        set[0] = slot;
        return {true, prefetched};
    }
    return {false, false};
}

bool Cache::holds(std::uint64_t line) const {
    const std::uint64_t* set = set_of(line);
    for (std::uint64_t way = 0; way < ways_; way++) {
        if (is(set[way], line))
            return true;
    }
    return false;
}

std::optional<Cache::Evicted> Cache::fill(std::uint64_t line, bool dirty, bool prefetched) {
    std::uint64_t* set = set_of(line);
    // Empty slots are always last: fills enter in front, and remove() closes the gap.
    const std::uint64_t last = set[ways_ - 1];
    std::memmove(set + 1, set, (ways_ - 1) * sizeof *set);
    set[0] = line << kTag | kValid | (dirty ? kDirty : 0) | (prefetched ? kPrefetched : 0);
    if (last & kValid)
        return evicted(last);
    return std::nullopt;
}

std::optional<Cache::Evicted> Cache::remove(std::uint64_t line) {
    std::uint64_t* set = set_of(line);
    for (std::uint64_t way = 0; way < ways_; way++) {
        if (!is(set[way], line))
            continue;
        const Evicted out = evicted(set[way]);
        std::memmove(set + way, set + way + 1, (ways_ - 1 - way) * sizeof *set);
        set[ways_ - 1] = 0;
        return out;
    }
    return std::nullopt;
}

std::optional<Cache::Evicted> Cache::clean_next() {
    for (; flush_from_ < slots_.size(); flush_from_++) {
        std::uint64_t& slot = slots_[flush_from_];
        if ((slot & kValid) && (slot & kDirty)) {
            slot &= ~kDirty; // the line stays in the cache, as after CLWB
            return evicted(slot);
        }
    }
    flush_from_ = 0;
    return std::nullopt;
}

std::uint64_t Cache::dirty_lines() const {
    std::uint64_t n = 0;
    for (const std::uint64_t slot : slots_)
        n += (slot & kValid) && (slot & kDirty);
    return n;
}

} // namespace capture
