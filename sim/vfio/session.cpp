// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace anemone {

namespace {
constexpr uint32_t kMostTransfer = 1 << 20;
}

template <typename T> void Session::reply(const T& answer) {
    connection_.reply(message_, &answer, sizeof answer);
}

bool Session::serve() {
    if (!connection_.receive(message_))
        return false;
    switch (message_.header.command) {
    case vfio::kVersion:
        version();
        break;
    case vfio::kDmaMap: // the device does no DMA
    case vfio::kDmaUnmap:
        connection_.reply(message_, message_.data.data(),
                          message_.header.command == vfio::kDmaUnmap ? message_.data.size() : 0);
        break;
    case vfio::kDeviceInfo:
        reply(vfio::DeviceInfo{sizeof(vfio::DeviceInfo), vfio::kDeviceResets | vfio::kDevicePci,
                               vfio::kRegions, vfio::kIrqs});
        break;
    case vfio::kRegionInfo:
        regionInfo();
        break;
    case vfio::kIrqInfo:
        irqInfo();
        break;
    case vfio::kSetIrqs:
        setIrqs();
        break;
    case vfio::kRegionRead:
        regionRead();
        break;
    case vfio::kRegionWrite:
        regionWrite();
        break;
    case vfio::kDeviceReset:
        function_.reset();
        connection_.reply(message_, nullptr, 0);
        break;
    default:
        connection_.refuse(message_, ENOTSUP);
    }
    return true;
}

void Session::version() {
    const std::string capabilities =
        "{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":" +
        std::to_string(kMostTransfer) + "}}";
    // QEMU accepts version 0.0.
    std::vector<char> answer(4, 0);
    answer.insert(answer.end(), capabilities.begin(), capabilities.end());
    answer.push_back('\0');
    connection_.reply(message_, answer.data(), answer.size());
}

void Session::regionInfo() {
    const uint32_t index = message_.as<vfio::RegionInfo>().index;
    const uint64_t size = function_.size(index);
    const uint32_t flags = size ? vfio::kRegionReads | vfio::kRegionWrites : 0;
    reply(vfio::RegionInfo{sizeof(vfio::RegionInfo), flags, index, 0, size, 0});
}

void Session::irqInfo() {
    const uint32_t index = message_.as<vfio::IrqInfo>().index;
    const uint32_t count = index == vfio::kMsixIndex ? function_.interrupts().vectors() : 0;
    reply(
        vfio::IrqInfo{sizeof(vfio::IrqInfo), vfio::kIrqEventfd | vfio::kIrqNoResize, index, count});
}

void Session::setIrqs() {
    const auto set = message_.as<vfio::IrqSet>();
    Interrupts& interrupts = function_.interrupts();
    if (set.index == vfio::kMsixIndex && (set.flags & vfio::kSetTrigger)) {
        if ((set.flags & vfio::kSetNothing) && !set.count) {
            interrupts.disarm();
        } else if (set.flags & vfio::kSetEventfd) {
            if (set.start > interrupts.vectors() || set.count > interrupts.vectors() - set.start) {
                connection_.refuse(message_, EINVAL);
                return;
            }
            // Vectors without a descriptor are masked.
            message_.descriptors.resize(set.count);
            for (uint32_t i = 0; i < set.count; ++i)
                interrupts.arm(set.start + i, std::move(message_.descriptors[i]));
        }
    }
    connection_.reply(message_, nullptr, 0);
}

bool Session::within(const vfio::Access& access) const {
    const uint64_t size = function_.size(access.region);
    return access.count <= kMostTransfer && access.offset <= size &&
           access.count <= size - access.offset;
}

void Session::regionRead() {
    const auto access = message_.as<vfio::Access>();
    if (!within(access)) {
        connection_.refuse(message_, EINVAL);
        return;
    }
    std::vector<uint8_t> answer(sizeof access + access.count);
    std::memcpy(answer.data(), &access, sizeof access);
    function_.read(access.region, access.offset, answer.data() + sizeof access, access.count);
    connection_.reply(message_, answer.data(), answer.size());
}

void Session::regionWrite() {
    const auto access = message_.as<vfio::Access>();
    if (!within(access) || message_.data.size() - sizeof access < access.count) {
        connection_.refuse(message_, EINVAL);
        return;
    }
    function_.write(access.region, access.offset, message_.data.data() + sizeof access,
                    access.count);
    reply(access);
}

} // namespace anemone
