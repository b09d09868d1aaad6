// SPDX-License-Identifier: Apache-2.0
// A core's memory hierarchy: TLBs, L1 with fill buffers, L2 with its superqueue, the shared L3. It
// keeps the counts of Intel's performance counters (CAMP, Table 5).
#pragma once

#include <cstdint>
#include <vector>

#include "cache.hpp"
#include "config.hpp"
#include "memory.hpp"
#include "prefetch.hpp"
#include "timeline.hpp"

namespace core {

// State that all cores share.
struct Shared {
    explicit Shared(const Config& config) : split(config.l3_split), memory(config) {
        const std::uint64_t parts = split ? 2 : 1;
        for (std::uint64_t i = 0; i < parts; i++)
            l3.emplace_back(config.l3_kib * 16 / parts, config.l3_ways);
    }
    Cache<false>& l3_of(std::size_t core) { return l3[split && core >= split]; }

    std::uint64_t split;
    std::vector<Cache<false>> l3; // untimed: it holds victims of the L2s, never lines in flight
    Memory memory;
};

// Counts of requests. The cycles of a miss run from its fill buffer to its data.
struct Requests {
    std::uint64_t l1_miss, fb_hit;                   // P4, P5
    std::uint64_t pf_l1_any, pf_l1_l3_hit;           // P7, P8
    std::uint64_t pf_l2_any, pf_l2_l3_hit;           // P9, P10
    std::uint64_t read_occupancy, reads;             // P11, P12
    std::uint64_t lookups_prefetch, lookups;         // P14, P15
    std::uint64_t prefetch_l3_miss, prefetch_l3_hit; // P16, P17
    std::uint64_t loads, stores;
    std::uint64_t l1_miss_cycles, l2_miss, l2_miss_cycles, l3_miss, l3_miss_cycles;
    std::uint64_t stlb_hits, tlb_miss, tlb_miss_cycles;
    std::uint64_t rfo_offcore, writebacks;
};

// Where a load found its data. in_flight: in a fill buffer, or on the way to the L2.
enum class Origin : std::uint8_t { l1, l2, l3, in_flight, memory };

class Hierarchy {
public:
    Hierarchy(const Config& config, Shared& shared, std::size_t core, Timeline& timeline);

    // Returns when the data of a load issued at t arrive.
    Cycle load(std::uint32_t pc, std::uint64_t address, Cycle t);
    Origin origin() const { return origin_; } // of the last load
    // Returns when the L1 owns the line of a store retired at t.
    Cycle acquire(std::uint64_t address, Cycle t);

    // Prefetches the model's tables for a coming access. A table read depends on the one before, so
    // there are stages, called one after another as the access comes near.
    static constexpr unsigned kStages = 4;
    void expect(std::uint64_t address, unsigned stage) const;

    const Requests& requests() const { return count_; }

private:
    enum class For { load, store, l1_prefetch, l2_prefetch, walk };
    struct Fetched {
        Cycle arrives;
        bool missed_l2, missed_l3;
        Cycle left;   // when it entered the superqueue
        Cycle beyond; // when it missed the L3
        bool joined;  // an outstanding request to the same line
    };

    static Origin origin_of(const Fetched& got);
    Cycle translate(std::uint64_t address, Cycle t);
    // Requests a line from the L2 for the L1, at t.
    Fetched fetch(std::uint64_t line, Cycle t, For what);
    void count_demand(const Fetched& got);
    // Requests a line that missed the L2 at t.
    Fetched beyond_l2(std::uint64_t line, Cycle t, For what);
    void fill_l1(std::uint64_t line, Cycle arrives, bool dirty);
    void fill_l2(std::uint64_t line, Cycle arrives, Cycle t);
    void prefetch_l1(std::uint64_t line, Cycle t);
    void train_l2(std::uint64_t line, Cycle t, bool missed);
    void prefetch_l2(std::uint64_t line, Cycle t);

    const Config& config_;
    Cache<false>& l3_;
    Memory& memory_;
    Timeline& timeline_;
    Cache<true> l1_, l2_, tlb_, stlb_;
    StridePrefetcher stride_;
    NextLinePrefetcher next_line_;
    Streamer streamer_;
    Requests count_{};
    Origin origin_ = Origin::l1;
};

} // namespace core
