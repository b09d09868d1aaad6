// SPDX-License-Identifier: Apache-2.0
// The telemetry line that the guest is reading.
//
// A telemetry read returns a whole line and applies the effect to all its counters, but a guest's
// loads come in pieces of eight bytes. A real machine maps the region write-combined and reads it
// with MOVNTDQA: the first load fetches the line into a streaming-load buffer, and the other loads
// take their words from it. This class is that buffer. As in the processor, each word is taken
// once, and all readers share one buffer, so one reader must finish its line before another begins.
#pragma once

#include <cstdint>

#include "channel.h"

namespace anemone {

class LineBuffer {
public:
    // Whether the buffer has the bytes of a load within a word.
    bool holds(uint64_t address, unsigned bytes) const {
        return address % 64 != 0 && address / 64 == line_ &&
               (remaining_ & mask(address, bytes)) == mask(address, bytes);
    }
    void fill(uint64_t address, const Line& words) {
        line_ = address / 64;
        words_ = words;
        remaining_ = ~uint64_t(0);
    }
    void drop() { remaining_ = 0; }

    // Takes the word of a load of `bytes` bytes.
    uint64_t take(uint64_t address, unsigned bytes) {
        remaining_ &= ~mask(address, bytes);
        return words_[address % 64 / 8];
    }

private:
    static uint64_t mask(uint64_t address, unsigned bytes) {
        return ((uint64_t(1) << bytes) - 1) << address % 64;
    }

    uint64_t line_ = 0, remaining_ = 0; // remaining: bytes that are not taken yet
    Line words_{};
};

} // namespace anemone
