// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <stdexcept>
#include <string>

namespace anemone {

Memory::Memory(MemoryPins& pins, bool keeps, uint64_t latency)
    : pins_(pins.axi), sidebandWritten_(pins.written), sidebandRead_(pins.read), keeps_(keeps),
      latency_(latency) {
    pins_.ar.ready = pins_.aw.ready = pins_.w.ready = 1;
    pins_.r.last = 1;
}

void Memory::refresh(uint64_t every, uint64_t cycles) {
    refreshEvery_ = every;
    refreshFor_ = cycles;
}

void Memory::offer(uint64_t cycle) {
    const bool busy = refreshEvery_ && cycle % refreshEvery_ < refreshFor_;
    const bool due = !asked_.empty() && asked_.front().due <= cycle && !busy;
    pins_.r.valid = due;
    if (due) {
        pins_.r.id = asked_.front().id;
        const uint64_t address = asked_.front().address;
        const Line line = keeps_ ? lines_[address] : Line{};
        setWord(pins_.r.data, 0, kRatio ? line.word : address);
        setWord(pins_.r.data, 1, line.second);
        if (sidebandRead_)
            *sidebandRead_ = line.sideband;
    }
    pins_.b.valid = !written_.empty();
    if (pins_.b.valid)
        pins_.b.id = written_.front();
}

void Memory::take(uint64_t cycle) {
    if (pins_.r.valid && pins_.r.ready)
        asked_.pop_front();
    if (pins_.b.valid && pins_.b.ready)
        written_.pop_front();
    if (pins_.ar.valid) {
        asked_.push_back({cycle + latency_, lineOf(pins_.ar.addr), pins_.ar.id});
        ++reads_;
    }
    if (pins_.aw.valid)
        addressed_.push_back({lineOf(pins_.aw.addr), pins_.aw.id});
    if (pins_.w.valid) {
        if (addressed_.empty())
            throw std::runtime_error("memory: data without a write");
        perform(addressed_.front());
        addressed_.pop_front();
    }
}

void Memory::perform(const Write& write) {
    const uint64_t holds = word(pins_.w.data, 0);
    const bool whole = pins_.w.last && pins_.w.strb == ~uint64_t(0);
    if (!whole || (!kRatio && holds != write.address))
        throw std::runtime_error("memory: data of another write");
    if (keeps_)
        lines_[write.address] = {holds, word(pins_.w.data, 1),
                                 sidebandWritten_ ? *sidebandWritten_ : IData(0)};
    written_.push_back(write.id);
    ++writes_;
}

void Memory::flipSideband(uint64_t address) {
    const auto line = lines_.find(address);
    if (!sidebandRead_ || line == lines_.end())
        throw std::runtime_error("near memory has no line at " + std::to_string(address));
    line->second.sideband ^= 3;
}

void Memory::reset() {
    asked_.clear();
    addressed_.clear();
    written_.clear();
    pins_.r.valid = pins_.b.valid = 0;
}

} // namespace anemone
