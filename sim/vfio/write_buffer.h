// SPDX-License-Identifier: Apache-2.0
// The telemetry line that the guest is writing.
//
// A guest's stores come in pieces of eight bytes. On a real machine a line leaves the processor's
// write-combining buffer at once when it is complete, or in part when the buffer is needed for
// something else. This class is that buffer.
#pragma once

#include <cstdint>
#include <optional>

#include "channel.h"

namespace anemone {

class WriteBuffer {
public:
    // Whether a store at the address is to another line than the buffered one.
    bool other(uint64_t address) const { return strobe_ && address / 64 != write_.line / 64; }
    bool full() const { return strobe_ == ~uint64_t(0); }

    // Stores the low bytes of a value, within a word.
    void put(uint64_t address, uint64_t value, unsigned bytes) {
        write_.line = address / 64 * 64;
        uint64_t& word = write_.words[address % 64 / 8];
        for (unsigned i = 0; i < bytes; ++i) {
            const unsigned shift = 8 * unsigned((address + i) % 8);
            word = (word & ~(uint64_t(0xff) << shift)) | (value >> 8 * i & 0xff) << shift;
            strobe_ |= uint64_t(1) << (address + i) % 64;
        }
    }
    // Removes and returns the buffered line; empty: there is none.
    std::optional<LineWrite> take() {
        if (!strobe_)
            return std::nullopt;
        write_.strobe = strobe_;
        strobe_ = 0;
        return write_;
    }
    void drop() { strobe_ = 0; }

private:
    LineWrite write_{};
    uint64_t strobe_ = 0;
};

} // namespace anemone
