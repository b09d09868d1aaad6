// SPDX-License-Identifier: Apache-2.0
// A stride prefetcher of the kind cores have beside their load ports: it watches the lines that one
// instruction touches, and when they go up or down in equal steps it asks for the next ones.
#pragma once

#include <cstdint>
#include <vector>

#include "config.hpp"

namespace capture {

class StridePrefetcher {
public:
    explicit StridePrefetcher(const Config& config)
        : degree_(config.prefetch_degree), table_(config.prefetch_table) {}

    // The instruction at `pc` touched physical line `line`: how many lines to ask for now, which
    // are line + stride() * 1, 2, ... None crosses a 4 KiB boundary, since the next physical page
    // need not be the next virtual one.
    unsigned observe(std::uint64_t pc, std::uint64_t line);
    std::int64_t stride() const { return stride_; }

private:
    static constexpr unsigned kSure = 2; // equal steps seen again before anything is asked for
    struct Entry {
        std::uint64_t pc = 0, last = 0;
        std::int64_t stride = 0;
        unsigned again = 0;
    };
    std::uint64_t degree_;
    std::vector<Entry> table_;
    std::int64_t stride_ = 0;
};

} // namespace capture
