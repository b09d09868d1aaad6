// SPDX-License-Identifier: Apache-2.0
#include "function.h"

#include <algorithm>

#include "anemone_regs.h"
#include "protocol.h"

namespace anemone {

namespace {
constexpr uint64_t kControlBytes = uint64_t(1) << 22;
constexpr uint64_t kMsixBytes = kComponentOffset + ComponentRegisters::kBytes;
constexpr uint64_t kTelemetryBytes = 4 * uint64_t(BUILT_WINDOW_BYTES); // three windows
// The first aligned address above the memory.
constexpr uint64_t kTelemetryBase = std::max(kDeviceBytes, kTelemetryBytes);
constexpr uint64_t kOnes = ~uint64_t(0); // a failed read on PCI returns all ones

constexpr bool isPipelineStatus(uint32_t offset) {
    return offset >= ANEMONE_PIPELINE(0) && offset < ANEMONE_PIPELINE(kPipelines) &&
           (offset - ANEMONE_PIPELINE(0)) % (ANEMONE_PIPELINE(1) - ANEMONE_PIPELINE(0)) ==
               ANEMONE_PIPELINE_STATUS;
}
} // namespace

Function::Function(const HostMemory& memory, bool telemetryInMemory)
    : config_({kPipelines + 1, kTelemetryBase, kTelemetryBytes, telemetryInMemory, memory}),
      component_(memory) {}

uint64_t Function::size(unsigned region) const {
    switch (region) {
    case kControlBar:
        return kControlBytes;
    case kTelemetryBar:
        return kTelemetryBytes;
    case kMsixBar:
        return kMsixBytes;
    case vfio::kConfigRegion:
        return ConfigSpace::kBytes;
    default:
        return 0;
    }
}

void Function::read(unsigned region, uint64_t offset, uint8_t* data, uint32_t count) {
    if (region == vfio::kConfigRegion) {
        for (uint32_t i = 0; i < count; ++i)
            data[i] = config_.read(offset + i);
        return;
    }
    ++reads_;
    while (count) {
        const unsigned bytes = unsigned(std::min<uint64_t>(count, 8 - offset % 8));
        const uint64_t value = fault_ == Fault::kOnes ? kOnes : readBar(region, offset, bytes);
        for (unsigned i = 0; i < bytes; ++i)
            *data++ = uint8_t(value >> 8 * i);
        offset += bytes;
        count -= bytes;
    }
}

void Function::write(unsigned region, uint64_t offset, const uint8_t* data, uint32_t count) {
    if (region == vfio::kConfigRegion) {
        bool resets = false;
        for (uint32_t i = 0; i < count; ++i)
            resets |= config_.write(offset + i, data[i]);
        if (resets)
            reset();
        return;
    }
    ++writes_;
    while (count) {
        const unsigned bytes = unsigned(std::min<uint64_t>(count, 8 - offset % 8));
        uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i)
            value |= uint64_t(*data++) << 8 * i;
        if (fault_ != Fault::kOnes)
            writeBar(region, offset, value, bytes);
        offset += bytes;
        count -= bytes;
    }
}

uint64_t Function::readBar(unsigned bar, uint64_t offset, unsigned bytes) {
    flush();
    const unsigned shift = 8 * unsigned(offset % 8);
    switch (bar) {
    case kControlBar:
        return readControl(uint32_t(offset - offset % 8)) >> shift;
    case kTelemetryBar:
        return readTelemetry(offset, bytes) >> shift;
    default: // QEMU has MSI-X's table
        return offset < kComponentOffset
                   ? 0
                   : component_.read(offset - offset % 8 - kComponentOffset) >> shift;
    }
}

uint64_t Function::readControl(uint32_t offset) {
    const uint64_t value = device_.readRegister(offset).value_or(kOnes);
    const bool clearing = fault_ == Fault::kNeverDone && isPipelineStatus(offset);
    return value | (clearing ? ANEMONE_PIPELINE_STATUS_CLEARING_MASK : 0);
}

uint64_t Function::readTelemetry(uint64_t offset, unsigned bytes) {
    if (!buffer_.holds(offset, bytes)) {
        const uint64_t line = offset - offset % 64;
        const auto words = device_.readLine(kTelemetryBase + line);
        if (!words) {
            buffer_.drop();
            return kOnes;
        }
        buffer_.fill(line, *words);
    }
    return buffer_.take(offset, bytes);
}

void Function::writeBar(unsigned bar, uint64_t offset, uint64_t value, unsigned bytes) {
    const unsigned at = unsigned(offset % 8);
    if (bar == kControlBar) {
        flush();
        const unsigned strobe = ((1u << bytes) - 1) << at;
        // A write that is answered with an error is lost, as on PCI.
        device_.writeRegister(uint32_t(offset - at), value << 8 * at, uint8_t(strobe));
    } else if (bar == kTelemetryBar) {
        writeTelemetry(offset, value, bytes);
    }
}

void Function::writeTelemetry(uint64_t offset, uint64_t value, unsigned bytes) {
    buffer_.drop();
    if (written_.other(kTelemetryBase + offset))
        flush();
    written_.put(kTelemetryBase + offset, value, bytes);
    if (written_.full())
        flush();
}

void Function::flush() {
    if (const auto write = written_.take())
        device_.writeLine(*write);
}

void Function::reset() {
    config_.reset();
    buffer_.drop();
    written_.drop();
    device_.reset();
}

} // namespace anemone
