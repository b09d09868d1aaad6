// SPDX-License-Identifier: Apache-2.0
// Settings of a capture: cache, prefetcher, pages, clock.
#pragma once

#include <cstdint>
#include <string>

namespace capture {

constexpr std::uint64_t kLineBytes = 64;
constexpr std::uint64_t kBasePage = 4 << 10; // the prefetcher never crosses its boundary
constexpr std::uint64_t kHugePage = 2 << 20;

enum class Pages { base, huge };
enum class Placement { first_touch, scattered };

// Every setting must be given. The defaults and their reasons are in
// sw-model/anemone/capture/settings.py.
struct Config {
    // Last-level cache: physically indexed, write-back, write-allocate, true LRU.
    std::uint64_t llc_kib, ways;

    // Stride prefetcher (prefetch.hpp): on or off, lines ahead, table entries.
    bool prefetch;
    std::uint64_t prefetch_degree, prefetch_table;

    std::uint64_t combine_buffers; // write-combining buffers for non-temporal stores

    // Virtual to physical. `tenants` programs share the device, and this is program `tenant`: its
    // k-th page is page k * tenants + tenant of the placement, so no two programs share a page.
    Pages pages;
    Placement placement;
    std::uint64_t seed;
    std::uint64_t device_gib;
    std::uint64_t base_gib; // the first device address of the pages
    std::uint64_t tenants, tenant;

    // Clock, in picoseconds of a single core.
    std::uint64_t access_ps; // per instrumented access, with the instructions around it
    std::uint64_t call_ps;   // per function call
    std::uint64_t stall_ps;  // stall of the core per demand miss
    std::uint64_t line_ps;   // per line moved to or from memory
    std::uint64_t slow_down; // multiplies all of the above

    std::uint64_t events; // lines to record

    std::uint64_t page_bytes() const { return pages == Pages::huge ? kHugePage : kBasePage; }
    std::uint64_t sets() const { return llc_kib * 1024 / kLineBytes / ways; }
    std::uint64_t frames() const { return ((device_gib - base_gib) << 30) / page_bytes(); }

    // Parses "name=value name=value ...". Throws std::invalid_argument with the setting, its value
    // and the allowed values, in one line.
    static Config parse(const std::string& text);
    void check() const;
};

} // namespace capture
