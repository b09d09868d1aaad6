// SPDX-License-Identifier: Apache-2.0
// Sizes and times of a simulated machine, as text: `name=value` lines, each exactly once.
#pragma once

#include <cstdint>
#include <string>

namespace core {

// Times are cycles of the core's clock unless they say ns.
struct Config {
    double ghz;
    std::uint64_t cores, width, rob, scheduler, loads, stores, load_ports, store_ports, ports;
    std::uint64_t mispredict;     // cycles from a branch's completion to the next dispatch
    std::uint64_t predictor_log2; // counters of gshare
    std::uint64_t forward;        // cycles from a store's data to a load of them
    std::uint64_t l1_kib, l1_ways, l1_latency, fill_buffers;
    std::uint64_t l2_kib, l2_ways, l2_latency, superqueue;
    std::uint64_t superqueue_demand; // entries of it that prefetches leave to demand
    std::uint64_t l3_kib, l3_ways, l3_latency;
    std::uint64_t
        l3_split; // cores that have one half of the L3, the others the other; 0: all share it
    std::uint64_t tlb_entries, tlb_ways, stlb_entries, stlb_ways, stlb_latency, walkers, walk;
    std::uint64_t page_bits;                             // 12, or 21 for huge pages
    std::uint64_t stride, next_line, streamer, adjacent; // prefetchers: 1 on, 0 off
    // Loads that the first tracks, and bytes between two of one; pages that the streamer tracks.
    std::uint64_t stride_log2, stride_bytes, streams, streamer_distance, streamer_degree;
    // Memory: a load that misses everything takes this long on an idle machine; GB/s each way as
    // one.
    double fast_ns, fast_gb_per_s, slow_ns, slow_gb_per_s;
    double fast_share; // of pages that are on the fast tier: 1 all, 0 none
    // Flat memory mode in place of the two tiers: near lines (0: off), far lines to each. Then
    // fast_share is of the pages that are dedicated near memory.
    std::uint64_t near_lines, ratio;
    // Of flat memory's pages that have data of programs that run for ever; 0: it is as after reset.
    double filled;

    static Config parse(const std::string& text); // throws std::invalid_argument
};

} // namespace core
