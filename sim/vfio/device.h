// SPDX-License-Identifier: Apache-2.0
// The expander with its clock, its memories and its hosts: what the PCI function is in front of.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "channel.h"
#include "control_port.h"
#include "expander.h"
#include "interrupts.h"
#include "memory.h"

namespace anemone {

constexpr uint64_t kDeviceBytes = uint64_t(1) << kAddressBits;

// The clock only runs within a call. All throw std::runtime_error when the hardware is stuck.
class Device {
public:
    explicit Device(Interrupts& interrupts);

    // One transaction of the control port, of eight bytes. Nothing, or false: an error answered.
    std::optional<uint64_t> readRegister(uint32_t offset);
    bool writeRegister(uint32_t offset, uint64_t value, uint8_t strobe);
    // One line of the telemetry region; nothing: it is refused, or its data are poisoned.
    std::optional<Line> readLine(uint64_t address);
    void writeLine(const LineWrite& write);

    // A program's access to memory, made when there are cycles. The channels go on side by side.
    void access(uint64_t address, bool write);
    bool injecting() const;     // any that is not answered yet
    std::size_t behind() const; // of those that wait, the most on a channel

    // Two bits flip beside the line that near memory has in place of one at an address: from then
    // on its channel may refuse programs' accesses.
    void spoil(uint64_t address);

    // Programs' accesses wait meanwhile; those that are on their way are answered before.
    void reset();

    // Whether there is something to do, or was shortly before.
    bool busy() const { return rest_ != 0; }
    void run(unsigned cycles);

    uint64_t cycle() const { return expander_.cycle(); }
    uint64_t events() const; // accesses that were accepted
    uint64_t messages(unsigned vector) const { return expander_.messages()[vector]; }

private:
    void step(bool accesses = true);
    template <typename Done> void runUntil(Done done, const char* what);
    Channel& channelOf(uint64_t address) { return channels_[address / 64 % kChannels]; }

    Interrupts& interrupts_;
    Expander expander_;
    ControlPort port_{expander_};
    std::deque<Channel> channels_;
    std::deque<Memory> memories_;
    unsigned rest_ = 0; // cycles to run though nothing is asked for
};

} // namespace anemone
