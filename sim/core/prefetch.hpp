// SPDX-License-Identifier: Apache-2.0
// The data prefetchers of Intel's cores (Optimization Reference Manual, 2.x, "Data Prefetching"):
// stride and next-line at the L1, streamer and adjacent line at the L2. None crosses a 4 KiB page.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "op.hpp"
#include "ways.hpp"

namespace core {

inline bool one_page(std::uint64_t a, std::uint64_t b) { // lines
    return a >> (kPageBits - kLineBits) == b >> (kPageBits - kLineBits);
}

// Prefetches one step ahead when a load's address has moved by the same step twice in a row.
class StridePrefetcher {
public:
    // Tracks 2^log2 loads with steps of at most `most_step` bytes.
    StridePrefetcher(std::uint64_t log2, std::uint64_t most_step)
        : most_step_(static_cast<std::int64_t>(most_step)), table_(std::size_t{1} << log2) {}

    std::optional<std::uint64_t> next(std::uint32_t pc, std::uint64_t address) {
        Entry& e = table_[(pc ^ (pc >> 8)) & (table_.size() - 1)];
        if (e.pc != pc) {
            e = {pc, address, 0, 0};
            return std::nullopt;
        }
        const auto step = static_cast<std::int64_t>(address - e.last);
        e.last = address;
        if (step != e.step || step == 0) {
            e.step = step;
            e.seen = 0;
            return std::nullopt;
        }
        if (e.seen < 1) {
            e.seen++;
            return std::nullopt;
        }
        const std::uint64_t ahead = address + static_cast<std::uint64_t>(step);
        if (std::abs(step) > most_step_ || !one_page(address >> kLineBits, ahead >> kLineBits))
            return std::nullopt;
        return ahead >> kLineBits;
    }

private:
    struct Entry {
        std::uint32_t pc;
        std::uint64_t last;
        std::int64_t step;
        unsigned seen;
    };
    std::int64_t most_step_;
    std::vector<Entry> table_;
};

// Prefetches the next line when loads ascend line by line.
class NextLinePrefetcher {
public:
    std::optional<std::uint64_t> next(std::uint64_t line) {
        const bool rises = line == last_ + 1;
        last_ = line;
        if (!rises || !one_page(line, line + 1))
            return std::nullopt;
        return line + 1;
    }

private:
    std::uint64_t last_ = 0;
};

// Tracks requests to the L2 by page. After two steps in one direction, each further request
// prefetches up to `degree` lines, at most `distance` lines ahead.
class Streamer {
public:
    struct Ahead {
        std::uint64_t first; // line
        int step;
        unsigned count;
    };

    static constexpr unsigned kMaxStreams = 64;

    // Tracks up to kMaxStreams pages.
    explicit Streamer(std::uint64_t pages) : pages_(static_cast<unsigned>(pages)) {
        ages_.fill(ways::kPadding);
        std::iota(ages_.begin(), ages_.begin() + pages_, std::uint8_t{0});
    }

    Ahead next(std::uint64_t line, unsigned distance, unsigned degree) {
        const std::uint64_t page = line >> (kPageBits - kLineBits);
        const int at = static_cast<int>(line & 63);
        const std::uint8_t mark = ways::mark(page);
        const unsigned found = ways::find(marks_.data(), pages_, mark,
                                          [&](unsigned i) { return table_[i].page == page; });
        if (found == ways::kNowhere) {
            const unsigned oldest = ways::oldest(ages_.data(), pages_);
            ways::use(ages_.data(), pages_, oldest);
            marks_[oldest] = mark;
            table_[oldest] = {page, at, at, 0};
            return {0, 0, 0};
        }
        ways::use(ages_.data(), pages_, found);
        Entry* e = &table_[found];
        const int step = at > e->last ? 1 : at < e->last ? -1 : 0;
        if (step == 0)
            return {0, 0, 0};
        if (step != e->step) {
            e->step = step;
            e->head = at;
            e->last = at;
            return {0, 0, 0};
        }
        e->last = at;
        int head = step > 0 ? (e->head > at ? e->head : at) : (e->head < at ? e->head : at);
        const int limit = step > 0 ? std::min(63, at + static_cast<int>(distance))
                                   : std::max(0, at - static_cast<int>(distance));
        const int remaining = step > 0 ? limit - head : head - limit;
        const unsigned count =
            remaining <= 0 ? 0 : std::min(static_cast<unsigned>(remaining), degree);
        const std::uint64_t first = (page << 6) + static_cast<std::uint64_t>(head + step);
        e->head = head + step * static_cast<int>(count);
        return {first, step, count};
    }

private:
    struct Entry {
        std::uint64_t page = ~std::uint64_t{0}; // none
        int last = 0, head = 0, step = 0;
    };
    std::array<Entry, kMaxStreams> table_{};
    std::array<std::uint8_t, kMaxStreams> marks_{}, ages_{};
    unsigned pages_;
};

} // namespace core
