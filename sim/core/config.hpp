// SPDX-License-Identifier: Apache-2.0
// Sizes and times of a simulated machine. The text format is `name=value` lines, each exactly once.
#pragma once

#include <cstdint>
#include <string>

namespace core {

// Times are in cycles of the core's clock, except for names that end in _ns.
struct Config {
    double ghz;
    std::uint64_t cores, width, rob, scheduler, loads, stores, load_ports, store_ports, ports;
    std::uint64_t mispredict;     // cycles from a branch's completion to the next dispatch
    std::uint64_t predictor_log2; // log2 of gshare's counters
    std::uint64_t forward;        // latency of store-to-load forwarding
    std::uint64_t l1_kib, l1_ways, l1_latency, fill_buffers;
    std::uint64_t l2_kib, l2_ways, l2_latency, superqueue;
    std::uint64_t superqueue_demand; // entries reserved for demand requests
    std::uint64_t l3_kib, l3_ways, l3_latency;
    // The first l3_split cores share one half of the L3, the others the other half; 0: no split.
    std::uint64_t l3_split;
    std::uint64_t tlb_entries, tlb_ways, stlb_entries, stlb_ways, stlb_latency, walkers, walk;
    std::uint64_t page_bits;                             // 12, or 21 for huge pages
    std::uint64_t stride, next_line, streamer, adjacent; // prefetchers: 1 on, 0 off
    std::uint64_t stride_log2, stride_bytes; // stride prefetcher: log2 of its entries, largest step
    std::uint64_t streams, streamer_distance, streamer_degree; // streamer: pages, lines, lines
    // Latency of a load that misses every cache, on an idle machine, and the bandwidth of reads and
    // writes together.
    double fast_ns, fast_gb_per_s, slow_ns, slow_gb_per_s;
    double fast_share; // share of the pages on the fast tier, 0 to 1
    // Flat memory mode instead of the two tiers: near lines (0: off) and far lines per near line.
    // fast_share is then the share of the pages in dedicated near memory.
    std::uint64_t near_lines, ratio;
    // Share of flat memory's pages in use by programs in a steady state; 0: the state after reset.
    double filled;

    static Config parse(const std::string& text); // throws std::invalid_argument
};

} // namespace core
