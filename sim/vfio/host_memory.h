// SPDX-License-Identifier: Apache-2.0
// The host addresses of the device's memory, and the CXL registers that describe them.
#pragma once

#include <cstdint>

namespace anemone {

struct HostMemory {
    enum class Source {
        kRange,       // range 1 of CXL's DVSEC for devices
        kInvalid,     // the same, with Memory_Info_Valid clear
        kOff,         // the same, with Mem_Enable clear
        kDecoder,     // HDM decoder 0, committed; the range is 0 and means nothing
        kUncommitted, // the same, written but not committed
    };

    uint64_t base = 0x4080000000; // host address
    uint64_t bytes = 0;           // host addresses, including the shares of other devices
    Source source = Source::kRange;
    unsigned ways = 1, granularity = 256; // interleaving of the decoder

    bool decodes() const { return source == Source::kDecoder || source == Source::kUncommitted; }
};

} // namespace anemone
