// SPDX-License-Identifier: Apache-2.0
// A core's way to memory: TLBs, L1 with fill buffers, L2 with its queue, the shared L3; and what
// Intel's counters see of it (Table 5 of CAMP).
#pragma once

#include <cstdint>
#include <vector>

#include "cache.hpp"
#include "config.hpp"
#include "memory.hpp"
#include "prefetch.hpp"
#include "timeline.hpp"

namespace core {

// What all cores share.
struct Shared {
    explicit Shared(const Config& config) : split(config.l3_split), memory(config) {
        const std::uint64_t parts = split ? 2 : 1;
        for (std::uint64_t i = 0; i < parts; i++)
            l3.emplace_back(config.l3_kib * 16 / parts, config.l3_ways);
    }
    Cache<false>& l3_of(std::size_t core) { return l3[split && core >= split]; }

    std::uint64_t split;
    std::vector<Cache<false>> l3; // what the L2s let go of: nothing in it is in flight
    Memory memory;
};

// Counts of requests; cycles of missing loads are from their fill buffer to their data.
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

// Where a load found its data; in_flight: they were on their way, in a fill buffer or to the L2.
enum class Origin : std::uint8_t { l1, l2, l3, in_flight, memory };

class Hierarchy {
public:
    Hierarchy(const Config& config, Shared& shared, std::size_t core, Timeline& timeline);

    // A load that issues at t: when its data are there. Then, origin(): where it found them.
    Cycle load(std::uint32_t pc, std::uint64_t address, Cycle t);
    Origin origin() const { return origin_; }
    // A store that is retired at t: when the L1 owns its line.
    Cycle own(std::uint64_t address, Cycle t);

    // An access of this address will come: nothing but a hint. What a miss reads of the caches'
    // tables hangs together, so it is fetched in stages, the later ones as the access comes near.
    static constexpr unsigned kStages = 4;
    void expect(std::uint64_t address, unsigned stage) const;

    const Requests& requests() const { return count_; }

private:
    enum class For { load, store, l1_prefetch, l2_prefetch, walk };
    struct Fetched {
        Cycle arrives;
        bool missed_l2, missed_l3;
        Cycle left; // when it was in the queue to the L3, and was beyond it
        Cycle beyond;
        bool joined; // a request that was on its way to the L2
    };

    static Origin origin_of(const Fetched& got);
    Cycle translate(std::uint64_t address, Cycle t);
    // A line from the L2 or beyond, for a request of the L1 at t.
    Fetched fetch(std::uint64_t line, Cycle t, For what);
    // Demand is in the queue to the L3 from got.left on.
    void count_demand(const Fetched& got);
    // From beyond the L2, into it; t: when the L2 missed.
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
