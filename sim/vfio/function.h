// SPDX-License-Identifier: Apache-2.0
// The PCI function: configuration space and BARs in front of the device.
#pragma once

#include <cstdint>
#include <string>

#include "component.h"
#include "config_space.h"
#include "device.h"
#include "interrupts.h"
#include "line_buffer.h"
#include "write_buffer.h"

namespace anemone {

// Faults of the device, for tests of the driver.
enum class Fault {
    kNone,
    kOnes, // BARs read as all ones and writes are lost, as for a device that dropped off the bus
    kNeverDone, // clears of pipelines never end
};

class Function {
public:
    // The host addresses of the memory, and whether the telemetry region is in it.
    Function(const HostMemory& memory, bool telemetryInMemory);

    // Bytes of a vfio-user region; 0: it does not exist.
    uint64_t size(unsigned region) const;
    // Any number of bytes at any offset within the region.
    void read(unsigned region, uint64_t offset, uint8_t* data, uint32_t count);
    void write(unsigned region, uint64_t offset, const uint8_t* data, uint32_t count);
    void reset();

    Device& device() { return device_; }
    Interrupts& interrupts() { return interrupts_; }
    void setFault(Fault fault) { fault_ = fault; }

    uint64_t reads() const { return reads_; } // reads of BARs by the guest
    uint64_t writes() const { return writes_; }

private:
    // Within a word of eight bytes; uses the low bytes of the value.
    uint64_t readBar(unsigned bar, uint64_t offset, unsigned bytes);
    void writeBar(unsigned bar, uint64_t offset, uint64_t value, unsigned bytes);
    uint64_t readControl(uint32_t offset);
    uint64_t readTelemetry(uint64_t offset, unsigned bytes);
    void writeTelemetry(uint64_t offset, uint64_t value, unsigned bytes);
    void flush(); // sends a partial line

    Interrupts interrupts_{kPipelines + 1};
    Device device_{interrupts_};
    ConfigSpace config_;
    ComponentRegisters component_;
    LineBuffer buffer_;
    WriteBuffer written_;
    Fault fault_ = Fault::kNone;
    uint64_t reads_ = 0, writes_ = 0;
};

} // namespace anemone
