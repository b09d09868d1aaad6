// SPDX-License-Identifier: Apache-2.0
// Settings of a capture: cache, prefetcher, pages, clock; checked here, once.
#pragma once

#include <cstdint>
#include <string>

namespace capture {

constexpr std::uint64_t kLineBytes = 64;     // the unit that leaves the cache
constexpr std::uint64_t kBasePage = 4 << 10; // prefetchers never look past one of these
constexpr std::uint64_t kHugePage = 2 << 20;

enum class Pages { base, huge };
enum class Placement { first_touch, scattered };

// Every setting must be given: the defaults, and what they are good for, are in one place, the
// command's (sw-model/anemone/capture/settings.py).
struct Config {
    // Last-level cache: physically indexed, write-back, write-allocate, true LRU.
    std::uint64_t llc_kib, ways;

    // Stride prefetcher (prefetch.hpp): on, lines asked for ahead, instructions watched.
    bool prefetch;
    std::uint64_t prefetch_degree, prefetch_table;

    std::uint64_t combine_buffers; // write-combining buffers that non-temporal stores fill

    // Virtual to physical. Of `tenants` programs that share the device, this is number `tenant`:
    // its k-th page is page k * tenants + tenant of the placement, so no two programs share one.
    Pages pages;
    Placement placement;
    std::uint64_t seed;
    std::uint64_t device_gib;
    std::uint64_t base_gib; // pages are handed out from here up
    std::uint64_t tenants, tenant;

    // Clock, in picoseconds of a single core.
    std::uint64_t access_ps; // a visible access and the instructions around it
    std::uint64_t call_ps;   // a function entered
    std::uint64_t stall_ps;  // what a demand miss holds the core up for
    std::uint64_t line_ps;   // any line moved to or from memory
    std::uint64_t slow_down; // all of the above times this

    std::uint64_t events; // lines to record

    std::uint64_t page_bytes() const { return pages == Pages::huge ? kHugePage : kBasePage; }
    std::uint64_t sets() const { return llc_kib * 1024 / kLineBytes / ways; }
    std::uint64_t frames() const { return ((device_gib - base_gib) << 30) / page_bytes(); }

    // Reads "name=value name=value ...". Throws std::invalid_argument, one line that says which
    // setting, its value, and what is allowed.
    static Config parse(const std::string& text);
    void check() const;
};

} // namespace capture
