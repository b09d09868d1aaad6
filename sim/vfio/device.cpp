// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace anemone {

namespace {
// Cycles in which the hardware finishes what it does by itself; a clear takes longest.
constexpr unsigned kSettleCycles = 2 * (kTable + kLines) + 12000;
// Longest wait for a response: a write to a table waits for a clear.
constexpr unsigned kResponseLimit = 4 * kSettleCycles;
// Further cycles after each register read, so that polling a register makes time pass.
constexpr unsigned kAfterRead = 16;
} // namespace

Device::Device(Interrupts& interrupts) : interrupts_(interrupts) {
    for (unsigned c = 0; c < kChannels; ++c)
        channels_.emplace_back(expander_.upstream(c), c);
    for (MemoryPins& pins : expander_.memories())
        memories_.emplace_back(pins);
    reset();
}

void Device::step(bool accesses) {
    const uint64_t cycle = expander_.cycle();
    port_.offer();
    for (Channel& channel : channels_)
        channel.offer(accesses);
    for (Memory& memory : memories_)
        memory.offer(cycle);
    expander_.settle();
    port_.take();
    for (Channel& channel : channels_)
        channel.take();
    for (Memory& memory : memories_)
        memory.take(cycle);
    const int message = expander_.message();
    expander_.tick();
    if (message >= 0)
        interrupts_.raise(unsigned(message));
}

template <typename Done> void Device::runUntil(Done done, const char* what) {
    for (unsigned i = 0; !done(); ++i) {
        if (i == kResponseLimit)
            throw std::runtime_error(std::string("stuck: ") + what + " for " +
                                     std::to_string(kResponseLimit) + " cycles");
        step();
    }
    settle_ = kSettleCycles;
}

std::optional<uint64_t> Device::readRegister(uint32_t offset) {
    port_.read(offset);
    runUntil([&] { return !port_.busy(); }, "a register's read is not answered");
    for (unsigned i = 0; i < kAfterRead; ++i)
        step();
    if (port_.failed())
        return std::nullopt;
    return port_.value();
}

bool Device::writeRegister(uint32_t offset, uint64_t value, uint8_t strobe) {
    port_.write(offset, value, strobe);
    runUntil([&] { return !port_.busy(); }, "a register's write is not answered");
    return !port_.failed();
}

std::optional<Line> Device::readLine(uint64_t address) {
    Channel& channel = channelOf(address);
    channel.read(address);
    runUntil([&] { return !channel.guestWaits(); }, "a telemetry line does not come");
    return channel.line();
}

void Device::writeLine(const LineWrite& write) {
    Channel& channel = channelOf(write.line);
    channel.write(write);
    runUntil([&] { return !channel.guestWaits(); }, "a write to telemetry is not answered");
}

void Device::access(uint64_t address, bool write) {
    channelOf(address).access(address, write);
    settle_ = kSettleCycles;
}

bool Device::injecting() const {
    return !std::all_of(channels_.begin(), channels_.end(),
                        [](const Channel& channel) { return channel.idle(); });
}

void Device::flipSideband(uint64_t address) {
    if (!kRatio)
        throw std::runtime_error("there is no near memory");
    memories_[2 * (address / 64 % kChannels)].flipSideband(address / 64 / kChannels * 64);
    channelOf(address).allowErrors();
}

void Device::reset() {
    const auto waiting = [](const Channel& channel) { return channel.waiting(); };
    for (unsigned i = 0; std::any_of(channels_.begin(), channels_.end(), waiting); ++i) {
        if (i == kResponseLimit)
            throw std::runtime_error("stuck: memory does not answer before a reset");
        step(false);
    }
    for (Channel& channel : channels_)
        channel.withdraw();
    for (Memory& memory : memories_)
        memory.reset();
    expander_.beginReset();
    expander_.endReset();
    for (unsigned i = 0; i < Expander::kAfterReset; ++i)
        step(false); // flat memory mode completes the writes of swaps
    interrupts_.reset();
    settle_ = kSettleCycles;
}

void Device::run(unsigned cycles) {
    const bool injecting = this->injecting();
    for (unsigned i = 0; i < cycles; ++i)
        step();
    settle_ = injecting ? kSettleCycles : settle_ - std::min(settle_, cycles);
}

std::size_t Device::queued() const {
    std::size_t longest = 0;
    for (const Channel& channel : channels_)
        longest = std::max(longest, channel.queued());
    return longest;
}

uint64_t Device::events() const {
    uint64_t sum = 0;
    for (const Channel& channel : channels_)
        sum += channel.count();
    return sum;
}

} // namespace anemone
