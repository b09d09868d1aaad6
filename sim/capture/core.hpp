// SPDX-License-Identifier: Apache-2.0
// One core's way to memory: its prefetcher and write-combining buffers in front of a cache that it
// may share with others.
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
    prefetch,  // the prefetcher's
    writeback, // a dirty line that the cache has no room for
    nt,        // a non-temporal store, which goes past the cache
};

// Receives the core's requests of memory.
class Traffic {
public:
    virtual void stalls() = 0; // a demand miss, called before its line moves
    // `full` is false for a line that left a write-combining buffer incomplete.
    virtual void moves(std::uint64_t line, Kind kind, bool full) = 0;
    virtual void prefetched(bool used) = 0; // a prefetched line was asked for, or fell out unasked

protected:
    ~Traffic() = default;
};

// Addresses are physical line numbers. Not for two threads at once, nor is the cache.
class Core {
public:
    Core(const Config& config, Cache& cache, Traffic& traffic)
        : prefetch_(config.prefetch), cache_(cache), prefetcher_(config), combiner_(config),
          traffic_(traffic) {}

    // An ordinary load or store by the instruction at `pc`; whether the cache had the line.
    bool access(std::uint64_t pc, std::uint64_t line, bool write);
    // Bytes [first, first + n) of a line are stored past the cache.
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
