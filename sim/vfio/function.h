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

// Ways in which the device can be broken, for tests of the driver.
enum class Fault {
    kNone,
    kOnes,      // reads of BARs are all ones, writes are lost: it fell off the bus
    kNeverDone, // no clear of a pipeline ever ends
};

class Function {
public:
    // Where the host sees the memory, and whether the telemetry region is said to be in it.
    Function(const HostMemory& memory, bool telemetryInMemory);

    // Bytes of a region of vfio-user's; 0: there is none.
    uint64_t size(unsigned region) const;
    // Within the region. Any number of bytes at any place.
    void read(unsigned region, uint64_t offset, uint8_t* data, uint32_t count);
    void write(unsigned region, uint64_t offset, const uint8_t* data, uint32_t count);
    void reset();

    Device& device() { return device_; }
    Interrupts& interrupts() { return interrupts_; }
    void setFault(Fault fault) { fault_ = fault; }

    uint64_t reads() const { return reads_; } // of BARs, by the guest
    uint64_t writes() const { return writes_; }

private:
    // Within a word of eight bytes, as the low bytes of the value.
    uint64_t readBar(unsigned bar, uint64_t offset, unsigned bytes);
    void writeBar(unsigned bar, uint64_t offset, uint64_t value, unsigned bytes);
    uint64_t readControl(uint32_t offset);
    uint64_t readTelemetry(uint64_t offset, unsigned bytes);
    void writeTelemetry(uint64_t offset, uint64_t value, unsigned bytes);
    void flush(); // what was written in part

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
