// SPDX-License-Identifier: Apache-2.0
// The 4 KiB of PCI configuration: header, MSI-X, PCI Express, power management, and the DVSECs of
// driver/include/anemone_pci.h. QEMU itself shows the guest the BARs and MSI-X's table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "host_memory.h"

namespace anemone {

constexpr unsigned kControlBar = 0, kTelemetryBar = 2, kMsixBar = 4;
// The last BAR has CXL's component registers after MSI-X.
constexpr uint64_t kComponentOffset = 0x10000;

// The properties that the configuration space describes, in bytes and device addresses.
struct FunctionLayout {
    unsigned vectors;
    uint64_t telemetryBase, telemetryBytes; // all windows
    bool telemetryInMemory;                 // the windows are in the memory, not in a BAR
    HostMemory memory;
};

class ConfigSpace {
public:
    static constexpr std::size_t kBytes = 4096;

    explicit ConfigSpace(const FunctionLayout& layout);

    uint8_t read(std::size_t offset) const { return bytes_.at(offset); }
    // Changes only writable bits. Returns true for the command to reset the function.
    bool write(std::size_t offset, uint8_t value);
    void reset();

private:
    void header();
    void capabilities(unsigned vectors);
    void anemoneDvsec(const FunctionLayout& layout);
    void cxlDvsec(const HostMemory& memory);
    void locatorDvsec();
    // Little-endian; writable: bits that the guest can change.
    void put(std::size_t offset, unsigned bytes, uint64_t value, uint64_t writable = 0);
    void extended(std::size_t offset, unsigned vendor, unsigned id, unsigned revision,
                  unsigned length, std::size_t next);

    std::array<uint8_t, kBytes> bytes_{}, initial_{}, writable_{};
};

} // namespace anemone
