// SPDX-License-Identifier: Apache-2.0
#include "core.hpp"

namespace capture {

bool Core::access(std::uint64_t pc, std::uint64_t line, bool write) {
    if (!combiner_.empty()) {
        if (const auto drained = combiner_.drain(line))
            leaves(*drained);
    }
    const Cache::Found found = cache_.access(line, write);
    if (!found.hit) {
        traffic_.stalls();
        bring_in(line, write ? Kind::rfo : Kind::load);
    } else if (found.prefetched) {
        traffic_.prefetched(true);
    }
    if (!prefetch_)
        return found.hit;
    const unsigned ahead = prefetcher_.observe(pc, line);
    for (unsigned i = 1; i <= ahead; i++) {
        const std::uint64_t next = line + i * prefetcher_.stride();
        if (!cache_.holds(next) && !combiner_.holds(next))
            bring_in(next, Kind::prefetch);
    }
    return found.hit;
}

// The read goes first: the evicted line waits in a write buffer.
void Core::bring_in(std::uint64_t line, Kind kind) {
    traffic_.moves(line, kind, true);
    if (const auto out = cache_.fill(line, kind == Kind::rfo, kind == Kind::prefetch)) {
        if (out->unused_prefetch)
            traffic_.prefetched(false);
        if (out->dirty)
            traffic_.moves(out->line, Kind::writeback, true);
    }
}

void Core::stream(std::uint64_t line, unsigned first, unsigned n) {
    // The store bypasses the cache, so the cache must drop its copy. A dirty copy is written back,
    // because the stores to come may not cover the whole line.
    if (const auto held = cache_.remove(line)) {
        if (held->dirty)
            traffic_.moves(line, Kind::writeback, true);
    }
    if (const auto drained = combiner_.store(line, first, n))
        leaves(*drained);
}

void Core::fence() {
    while (const auto drained = combiner_.drain_oldest())
        leaves(*drained);
}

} // namespace capture
