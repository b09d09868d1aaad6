// SPDX-License-Identifier: Apache-2.0
// The expander with its clock, memories and hosts, behind the PCI function.
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

// The clock runs only during calls. Every call throws std::runtime_error if the hardware is stuck.
class Device {
public:
    explicit Device(Interrupts& interrupts);

    // One transaction of the control port, of eight bytes. Empty or false: answered with an error.
    std::optional<uint64_t> readRegister(uint32_t offset);
    bool writeRegister(uint32_t offset, uint64_t value, uint8_t strobe);
    // One line of the telemetry region; empty: it was refused or poisoned.
    std::optional<Line> readLine(uint64_t address);
    void writeLine(const LineWrite& write);

    // A program's access to memory, which is made when cycles run. The channels work in parallel.
    void access(uint64_t address, bool write);
    bool injecting() const;     // whether an access is unanswered
    std::size_t queued() const; // most accesses not offered yet on a channel

    // Flips two bits of the sideband of the near line that the address belongs to; from then on its
    // channel may refuse programs' accesses.
    void flipSideband(uint64_t address);

    // Programs' accesses wait meanwhile; those in flight are answered first.
    void reset();

    // Whether the hardware has work, or had some shortly before.
    bool busy() const { return settle_ != 0; }
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
    unsigned settle_ = 0; // cycles to run without requests
};

} // namespace anemone
