// SPDX-License-Identifier: Apache-2.0
// One core's path to memory: prefetcher and write-combining buffers in front of a cache, which
// cores may share.
#pragma once

#include <cstdint>

#include "cache.hpp"
#include "combine.hpp"
#include "config.hpp"
#include "prefetch.hpp"

namespace capture {

// Why a line moves. The first three are read from memory, the others written to it.
enum class Kind : std::uint8_t {
    load,      // a demand miss of a load
    rfo,       // read for ownership: a demand miss of a store
    prefetch,  // a fill that the prefetcher requested
    writeback, // an evicted dirty line
    nt,        // a non-temporal store, which bypasses the cache
};

// Receives the core's memory requests.
class Traffic {
public:
    virtual void stalls() = 0; // a demand miss; called before moves()
    // `full` is false for an incomplete line from a write-combining buffer.
    virtual void moves(std::uint64_t line, Kind kind, bool full) = 0;
    virtual void
    prefetched(bool used) = 0; // first use of a prefetched line, or its eviction unused

protected:
    ~Traffic() = default;
};

// Addresses are physical line numbers. Neither Core nor Cache is thread-safe.
class Core {
public:
    Core(const Config& config, Cache& cache, Traffic& traffic)
        : prefetch_(config.prefetch), cache_(cache), prefetcher_(config), combiner_(config),
          traffic_(traffic) {}

    // An ordinary load or store by the instruction at `pc`. Returns whether the cache hit.
    bool access(std::uint64_t pc, std::uint64_t line, bool write);
    // A non-temporal store of bytes [first, first + n) of a line.
    void stream(std::uint64_t line, unsigned first, unsigned n);
    void fence(); // empties the write-combining buffers

private:
    void bring_in(std::uint64_t line, Kind kind);
    void leaves(WriteCombiner::Drained out) { traffic_.moves(out.line, Kind::nt, out.full); }

    bool prefetch_;
    Cache& cache_;
    StridePrefetcher prefetcher_;
    WriteCombiner combiner_;
    Traffic& traffic_;
};

} // namespace capture
