// SPDX-License-Identifier: Apache-2.0
// CXL's component registers (CXL 3.1, 8.2.4): one capability, HDM decoders, of which the first is
// as the options say. A guest can read them; what it writes is lost.
#pragma once

#include <array>
#include <cstdint>

#include "host_memory.h"

namespace anemone {

class ComponentRegisters {
public:
    static constexpr uint64_t kBytes = 0x10000; // of the block

    explicit ComponentRegisters(const HostMemory& memory);

    // Eight bytes at a multiple of eight within the block; 0 where there is nothing.
    uint64_t read(uint64_t offset) const;

private:
    void put(uint64_t offset, uint32_t value) { words_.at((offset - kFirst) / 4) = value; }

    static constexpr uint64_t kFirst = 0x1000; // of those that there are
    std::array<uint32_t, 64> words_{};
};

} // namespace anemone
