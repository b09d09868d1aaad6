// SPDX-License-Identifier: Apache-2.0
// Write-combining buffers: non-temporal stores gather here and leave as one write of a full line.
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
    explicit WriteCombiner(const Config& config) : most_(config.combine_buffers) {
        open_.reserve(most_ + 1);
    }

    // Bytes [first, first + n) of a line are stored, first + n <= 64. At most one buffer leaves:
    // this one when the line is complete, or the oldest when there was no room for a new one.
    // (Both at once would take a full-line store into a full set of buffers: that line never
    // needs a buffer.)
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
        if (open_.size() <= most_)
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

    // The buffer of one line leaves as it is: an ordinary access must see what was stored.
    std::optional<Drained> drain(std::uint64_t line) {
        for (std::size_t i = 0; i < open_.size(); i++) {
            if (open_[i].line == line)
                return take(i);
        }
        return std::nullopt;
    }

    // The oldest buffer leaves; for a fence, until none is left.
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
    std::uint64_t most_;
    std::vector<Buffer> open_; // oldest first
};

} // namespace capture
