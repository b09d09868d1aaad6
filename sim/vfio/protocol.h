// SPDX-License-Identifier: Apache-2.0
// vfio-user: messages by which a program on a socket implements a PCI function of QEMU. A request
// is a header, the structure of its command, and data; so is the reply.
#pragma once

#include <cstdint>

namespace anemone::vfio {

enum Command : uint16_t {
    kVersion = 1,
    kDmaMap = 2,
    kDmaUnmap = 3,
    kDeviceInfo = 4,
    kRegionInfo = 5,
    kIrqInfo = 7,
    kSetIrqs = 8,
    kRegionRead = 9,
    kRegionWrite = 10,
    kDeviceReset = 13,
};

// Header::flags
constexpr uint32_t kIsReply = 1, kNoReply = 0x10, kIsError = 0x20;

struct Header {
    uint16_t id, command;
    uint32_t size; // of the message, including this header
    uint32_t flags, error;
};

struct DeviceInfo {
    uint32_t argsz, flags, regions, irqs;
};
constexpr uint32_t kDeviceResets = 1, kDevicePci = 2;

struct RegionInfo {
    uint32_t argsz, flags, index, capabilities;
    uint64_t size, offset;
};
constexpr uint32_t kRegionReads = 1, kRegionWrites = 2;
// The region of a BAR has the BAR's number.
constexpr uint32_t kConfigRegion = 7, kRegions = 9;

struct IrqInfo {
    uint32_t argsz, flags, index, count;
};
constexpr uint32_t kIrqEventfd = 1, kIrqNoResize = 8;
constexpr uint32_t kMsixIndex = 2, kIrqs = 5;

struct IrqSet {
    uint32_t argsz, flags, index, start, count;
};
constexpr uint32_t kSetNothing = 1, kSetEventfd = 4, kSetTrigger = 32;

struct Access {
    uint64_t offset;
    uint32_t region, count;
};

static_assert(sizeof(Header) == 16 && sizeof(RegionInfo) == 32 && sizeof(Access) == 16,
              "as on the wire");

} // namespace anemone::vfio
