// SPDX-License-Identifier: Apache-2.0
#include "config_space.h"

#include "anemone_pci.h"

namespace anemone {

namespace {
// Offsets of capabilities.
constexpr std::size_t kMsix = 0x40, kExpress = 0x60, kPower = 0xa0;
constexpr std::size_t kAnemone = 0x100, kCxl = 0x140, kLocator = 0x180;

// PCI Express device control: initiate a function level reset.
constexpr std::size_t kResetByte = kExpress + 9;
constexpr uint8_t kResetBit = 0x80;

// Sizes of CXL's DVSECs that anemone_pci.h does not define.
constexpr unsigned kCxlRevision = 2, kCxlLength = 0x3c, kLocatorLength = 0x14;
} // namespace

ConfigSpace::ConfigSpace(const FunctionLayout& layout) {
    header();
    capabilities(layout.vectors);
    anemoneDvsec(layout);
    cxlDvsec(layout.memory);
    locatorDvsec();
    initial_ = bytes_;
}

bool ConfigSpace::write(std::size_t offset, uint8_t value) {
    const uint8_t mask = writable_.at(offset);
    bytes_[offset] = uint8_t((bytes_[offset] & ~mask) | (value & mask));
    return offset == kResetByte && (value & kResetBit);
}

void ConfigSpace::reset() {
    bytes_ = initial_;
}

void ConfigSpace::put(std::size_t offset, unsigned bytes, uint64_t value, uint64_t writable) {
    for (unsigned i = 0; i < bytes; ++i) {
        bytes_.at(offset + i) = uint8_t(value >> 8 * i);
        writable_.at(offset + i) = uint8_t(writable >> 8 * i);
    }
}

void ConfigSpace::header() {
    put(0x00, 2, ANEMONE_PCI_VENDOR);
    put(0x02, 2, ANEMONE_PCI_DEVICE);
    put(0x04, 2, 0, 0x0546); // memory, bus master, parity, SERR, INTx off
    put(0x06, 2, 0x0010);    // has a capability list
    put(0x08, 1, 1);         // revision
    // A system peripheral. As a CXL memory device (0x050210) Linux's cxl_pci would take it.
    put(0x09, 3, 0x088000);
    put(0x0c, 1, 0, 0xff);
    put(0x10 + 4 * kControlBar, 4, 0x4);   // 64 bits
    put(0x10 + 4 * kTelemetryBar, 4, 0xc); // 64 bits, prefetchable
    put(0x10 + 4 * kMsixBar, 4, 0x4);
    put(0x2c, 2, ANEMONE_PCI_VENDOR);
    put(0x2e, 2, ANEMONE_PCI_DEVICE);
    put(0x34, 1, kMsix);
    put(0x3c, 1, 0, 0xff);
}

void ConfigSpace::capabilities(unsigned vectors) {
    put(kMsix, 2, 0x11 | kExpress << 8);
    put(kMsix + 2, 2, vectors - 1, 0xc000);
    put(kMsix + 4, 4, kMsixBar);         // the table, at 0
    put(kMsix + 8, 4, 0x800 | kMsixBar); // the pending bits

    put(kExpress, 2, 0x10 | kPower << 8);
    put(kExpress + 2, 2, 0x0002);     // version 2, an endpoint
    put(kExpress + 4, 4, 0x10008000); // function level reset, role-based error reporting
    put(kExpress + 8, 2, 0x2810, 0x7fff);
    put(kExpress + 0x0c, 4, 0x11); // x1, 2.5 GT/s
    put(kExpress + 0x12, 2, 0x11);

    put(kPower, 2, 0x01);
    put(kPower + 2, 2, 0x0003);         // version 3; D0 and D3hot
    put(kPower + 4, 2, 0x0008, 0x0003); // no reset on wake-up
}

void ConfigSpace::extended(std::size_t offset, unsigned vendor, unsigned id, unsigned revision,
                           unsigned length, std::size_t next) {
    put(offset, 4, 0x0023 | 1 << 16 | next << 20); // a DVSEC
    put(offset + 4, 4, vendor | revision << 16 | length << 20);
    put(offset + 8, 2, id);
}

void ConfigSpace::anemoneDvsec(const FunctionLayout& layout) {
    extended(kAnemone, ANEMONE_PCI_VENDOR, ANEMONE_DVSEC_ID, ANEMONE_DVSEC_REVISION,
             ANEMONE_DVSEC_LENGTH, kCxl);
    put(kAnemone + ANEMONE_DVSEC_CONTROL_BAR, 1, kControlBar);
    put(kAnemone + ANEMONE_DVSEC_TELEMETRY_BAR, 1,
        layout.telemetryInMemory ? unsigned(ANEMONE_DVSEC_IN_MEMORY) : kTelemetryBar);
    put(kAnemone + ANEMONE_DVSEC_TELEMETRY_BASE, 8, layout.telemetryBase);
    put(kAnemone + ANEMONE_DVSEC_TELEMETRY_SIZE, 8, layout.telemetryBytes);
}

void ConfigSpace::cxlDvsec(const HostMemory& memory) {
    using Source = HostMemory::Source;
    extended(kCxl, ANEMONE_CXL_VENDOR, ANEMONE_CXL_DEVICE_DVSEC, kCxlRevision, kCxlLength,
             kLocator);
    put(kCxl + ANEMONE_CXL_CAPABILITY, 2, 0x0016); // CXL.io, CXL.mem, one range
    put(kCxl + ANEMONE_CXL_CONTROL, 2,
        memory.source == Source::kOff ? 0 : ANEMONE_CXL_CONTROL_MEM_ENABLE);
    if (memory.decodes())
        return;
    // Bits 31 to 28 of size and base.
    const unsigned flags = ANEMONE_CXL_RANGE_ACTIVE |
                           (memory.source == Source::kInvalid ? 0 : ANEMONE_CXL_RANGE_VALID);
    put(kCxl + ANEMONE_CXL_RANGE_SIZE_HIGH(0), 4, memory.bytes >> 32);
    put(kCxl + ANEMONE_CXL_RANGE_SIZE_LOW(0), 4, (memory.bytes & 0xf0000000) | flags);
    put(kCxl + ANEMONE_CXL_RANGE_BASE_HIGH(0), 4, memory.base >> 32);
    put(kCxl + ANEMONE_CXL_RANGE_BASE_LOW(0), 4, memory.base & 0xf0000000);
}

void ConfigSpace::locatorDvsec() {
    extended(kLocator, ANEMONE_CXL_VENDOR, ANEMONE_CXL_LOCATOR_DVSEC, 0, kLocatorLength, 0);
    put(kLocator + ANEMONE_CXL_LOCATOR_FIRST, 4,
        kMsixBar | ANEMONE_CXL_BLOCK_COMPONENT << 8 | kComponentOffset);
}

} // namespace anemone
