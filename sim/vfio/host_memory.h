// SPDX-License-Identifier: Apache-2.0
// Where the host has the device's memory, and by which of CXL's registers it says so.
#pragma once

#include <cstdint>

namespace anemone {

struct HostMemory {
    enum class Told {
        kRange,       // range 1 of CXL's DVSEC for devices
        kInvalid,     // the same, with Memory_Info_Valid clear
        kOff,         // the same, with Mem_Enable clear
        kDecoder,     // HDM decoder 0, committed; the range then means nothing, and is 0
        kUncommitted, // the same, with what was written to it, not committed
    };

    uint64_t base = 0x4080000000; // host address
    uint64_t bytes = 0;           // of the host's addresses, those of other devices among them
    Told told = Told::kRange;
    unsigned ways = 1, granularity = 256; // of the decoder's interleave

    bool decodes() const { return told == Told::kDecoder || told == Told::kUncommitted; }
};

} // namespace anemone
