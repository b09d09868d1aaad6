// SPDX-License-Identifier: Apache-2.0
#include "port.h"

#include <stdexcept>

namespace anemone {

Port::Port(AxiPins& pins) : pins_(pins) {
    pins_.ar.size = pins_.aw.size = kLineSize;
    pins_.ar.burst = pins_.aw.burst = 1; // INCR
    pins_.w.strb = ~uint64_t(0);
    pins_.w.last = 1;
    pins_.r.ready = pins_.b.ready = 1;
}

void Port::offer() {
    const bool any = !waiting_.empty();
    const bool write = any && waiting_.front().write;
    pins_.ar.valid = any && !write;
    pins_.aw.valid = write && !addressed_;
    pins_.w.valid = write && !filled_;
    if (!any)
        return;
    const Request& next = waiting_.front();
    AddressPins& address = write ? pins_.aw : pins_.ar;
    address.id = SData(id_);
    address.addr = next.address;
    if (write) {
        setWord(pins_.w.data, 0, next.address); // the memory model checks it (memory.h)
        setWord(pins_.w.data, 1, next.value);
    }
}

void Port::accept() {
    Request& next = waiting_.front();
    (next.write ? writes_ : reads_)[id_].push_back(next);
    waiting_.pop_front();
    addressed_ = filled_ = false;
    id_ = (id_ + 1) % kPortIds;
    ++underWay_;
    ++accepted_;
}

const Request& Port::answer(std::deque<Request>& asked, const char* what) {
    if (asked.empty())
        throw std::runtime_error(std::string(what) + ": no request at this port");
    Request& done = done_[asked.front().write];
    done = asked.front();
    asked.pop_front();
    --underWay_;
    return done;
}

Answered Port::take(uint64_t cycle) {
    if (pins_.ar.valid && pins_.ar.ready) {
        accept();
    } else if (!waiting_.empty() && waiting_.front().write) {
        addressed_ |= pins_.aw.valid && pins_.aw.ready;
        filled_ |= pins_.w.valid && pins_.w.ready;
        if (addressed_ && filled_)
            accept();
    }
    Answered answered;
    if (pins_.r.valid) {
        const Request& read = answer(reads_[pins_.r.id % kPortIds], "read data");
        if (pins_.r.resp || pins_.r.user || word(pins_.r.data, 0) != read.address)
            throw std::runtime_error("read data: refused, poisoned or another line's");
        if (read.message && word(pins_.r.data, 1) != read.value)
            throw std::runtime_error("a message's load finds an older message");
        answered.read = &read;
        answered.cycles = cycle - read.arrived;
    }
    if (pins_.b.valid) {
        answered.written = &answer(writes_[pins_.b.id % kPortIds], "a write's answer");
        if (pins_.b.resp)
            throw std::runtime_error("a write is refused");
    }
    return answered;
}

} // namespace anemone
