// SPDX-License-Identifier: Apache-2.0
// The line of telemetry that the guest is reading.
//
// A read of a line takes all of it at once, with its effect on all its counters; but a guest's
// loads come eight bytes at a time. On a real machine the region is mapped write-combined and read
// with MOVNTDQA: the CPU fetches the line into a streaming-load buffer with the first load, and the
// loads behind it take the other words out of there. This is that buffer. As there, a word is given
// out once, and there is one buffer for all who read: a reader has the line to itself until its
// end.
#pragma once

#include <cstdint>

#include "channel.h"

namespace anemone {

class LineBuffer {
public:
    // Whether a load of `bytes` at an address, within a word, can be taken out of here.
    bool holds(uint64_t address, unsigned bytes) const {
        return address % 64 != 0 && address / 64 == line_ &&
               (left_ & mask(address, bytes)) == mask(address, bytes);
    }
    void fill(uint64_t address, const Line& words) {
        line_ = address / 64;
        words_ = words;
        left_ = ~uint64_t(0);
    }
    void drop() { left_ = 0; }

    // The word of an address, of which the load takes `bytes`.
    uint64_t take(uint64_t address, unsigned bytes) {
        left_ &= ~mask(address, bytes);
        return words_[address % 64 / 8];
    }

private:
    static uint64_t mask(uint64_t address, unsigned bytes) {
        return ((uint64_t(1) << bytes) - 1) << address % 64;
    }

    uint64_t line_ = 0, left_ = 0; // left: bytes that were not given out yet
    Line words_{};
};

} // namespace anemone
