// SPDX-License-Identifier: Apache-2.0
// CXL's component registers (CXL 3.1, 8.2.4): one capability, HDM decoders, of which the options
// set the first. They are read-only for the guest.
#pragma once

#include <array>
#include <cstdint>

#include "host_memory.h"

namespace anemone {

class ComponentRegisters {
public:
    static constexpr uint64_t kBytes = 0x10000; // of the block

    explicit ComponentRegisters(const HostMemory& memory);

    // Reads eight bytes at an aligned offset in the block; 0 where there is no register.
    uint64_t read(uint64_t offset) const;

private:
    void put(uint64_t offset, uint32_t value) { words_.at((offset - kFirst) / 4) = value; }

    static constexpr uint64_t kFirst = 0x1000; // of the registers that exist
    std::array<uint32_t, 64> words_{};
};

} // namespace anemone
