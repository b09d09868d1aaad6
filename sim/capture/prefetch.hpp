// SPDX-License-Identifier: Apache-2.0
// A stride prefetcher as in a core's load unit: it follows the lines that one instruction touches
// and prefetches the next ones when the lines go up or down in equal steps.
#pragma once

#include <cstdint>
#include <vector>

#include "config.hpp"

namespace capture {

class StridePrefetcher {
public:
    explicit StridePrefetcher(const Config& config)
        : degree_(config.prefetch_degree), table_(config.prefetch_table) {}

    // The instruction at `pc` touched physical line `line`. Returns how many lines to prefetch:
    // line + stride() * 1, 2, ... They stay within 4 KiB, because the next physical page need not
    // be the next virtual one.
    unsigned observe(std::uint64_t pc, std::uint64_t line);
    std::int64_t stride() const { return stride_; }

private:
    static constexpr unsigned kSure = 2; // repeats of a stride before the first prefetch
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
