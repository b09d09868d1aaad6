// SPDX-License-Identifier: Apache-2.0
// The line of telemetry that the guest is writing.
//
// A guest's stores come eight bytes at a time; on a real machine a line leaves the CPU's
// write-combining buffer as one, when all of it is there, or in part when something else needs the
// buffer. This is that buffer.
#pragma once

#include <cstdint>
#include <optional>

#include "channel.h"

namespace anemone {

class WriteBuffer {
public:
    // Whether a store to an address goes into another line than what is here.
    bool other(uint64_t address) const { return strobe_ && address / 64 != write_.line / 64; }
    bool full() const { return strobe_ == ~uint64_t(0); }

    // The low bytes of a value, within a word.
    void put(uint64_t address, uint64_t value, unsigned bytes) {
        write_.line = address / 64 * 64;
        uint64_t& word = write_.words[address % 64 / 8];
        for (unsigned i = 0; i < bytes; ++i) {
            const unsigned shift = 8 * unsigned((address + i) % 8);
            word = (word & ~(uint64_t(0xff) << shift)) | (value >> 8 * i & 0xff) << shift;
            strobe_ |= uint64_t(1) << (address + i) % 64;
        }
    }
    // What is here, which is then no more; nothing: there is nothing.
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
