// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <stdexcept>

namespace anemone {

Memory::Memory(AxiPins& pins) : pins_(pins) {
    pins_.ar.ready = pins_.aw.ready = pins_.w.ready = 1;
    pins_.r.last = 1;
}

void Memory::offer(uint64_t cycle) {
    const bool due = !asked_.empty() && asked_.front().due <= cycle;
    pins_.r.valid = due;
    if (due) {
        pins_.r.id = asked_.front().id;
        setWord(pins_.r.data, 0, asked_.front().address);
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
        asked_.push_back({cycle + kMemoryLatency, pins_.ar.addr, pins_.ar.id});
        ++reads_;
    }
    if (pins_.aw.valid)
        addressed_.push_back({pins_.aw.addr, pins_.aw.id});
    if (pins_.w.valid) {
        if (addressed_.empty())
            throw std::runtime_error("memory: data without a write");
        const Write& write = addressed_.front();
        if (word(pins_.w.data, 0) != write.address || !pins_.w.last || pins_.w.strb != ~uint64_t(0))
            throw std::runtime_error("memory: data of another write");
        written_.push_back(write.id);
        addressed_.pop_front();
        ++writes_;
    }
}

} // namespace anemone
