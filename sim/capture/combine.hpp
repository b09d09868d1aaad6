// SPDX-License-Identifier: Apache-2.0
// Write-combining buffers: they collect non-temporal stores and write a full line at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config.hpp"

namespace capture {

class WriteCombiner {
public:
    struct Drained {
        std::uint64_t line;
        bool full;
    };
    explicit WriteCombiner(const Config& config) : capacity_(config.combine_buffers) {
        open_.reserve(capacity_ + 1);
    }

    // Stores bytes [first, first + n) of a line, first + n <= 64. Drains at most one buffer: this
    // one when its line is complete, or the oldest one when no buffer is free. A full-line store
    // needs no buffer, so both never happen at once.
    std::optional<Drained> store(std::uint64_t line, unsigned first, unsigned n) {
        const std::uint64_t bytes = n == 64 ? ~0ull : ((1ull << n) - 1) << first;
        for (std::size_t i = 0; i < open_.size(); i++) {
            if (open_[i].line != line)
                continue;
            open_[i].bytes |= bytes;
            if (open_[i].bytes != ~0ull)
                return std::nullopt;
            return take(i);
        }
        if (bytes == ~0ull)
            return Drained{line, true};
        open_.push_back({line, bytes});
        if (open_.size() <= capacity_)
            return std::nullopt;
        return take(0);
    }

    bool holds(std::uint64_t line) const {
        for (const Buffer& b : open_) {
            if (b.line == line)
                return true;
        }
        return false;
    }

    // Drains the buffer of one line, complete or not: an ordinary access must see the stored bytes.
    std::optional<Drained> drain(std::uint64_t line) {
        for (std::size_t i = 0; i < open_.size(); i++) {
            if (open_[i].line == line)
                return take(i);
        }
        return std::nullopt;
    }

    // A fence calls this until no buffer is open.
    std::optional<Drained> drain_oldest() {
        if (open_.empty())
            return std::nullopt;
        return take(0);
    }

    bool empty() const { return open_.empty(); }

private:
    struct Buffer {
        std::uint64_t line, bytes;
    };
    Drained take(std::size_t i) {
        const Drained out{open_[i].line, open_[i].bytes == ~0ull};
        open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
        return out;
    }
    std::uint64_t capacity_;
    std::vector<Buffer> open_; // oldest first
};

} // namespace capture
