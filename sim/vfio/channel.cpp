// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

#include <stdexcept>
#include <string>

namespace anemone {

Channel::Channel(AxiPins& pins, unsigned number) : pins_(pins), number_(number) {
    pins_.ar.size = pins_.aw.size = kLineSize;
    pins_.ar.burst = pins_.aw.burst = 1; // INCR
    pins_.w.strb = ~uint64_t(0);
    pins_.w.last = 1;
    pins_.r.ready = pins_.b.ready = 1;
}

void Channel::read(uint64_t line) {
    request_ = {line, false};
    guest_ = kToOffer;
}

void Channel::write(uint64_t line) {
    request_ = {line, true};
    guest_ = kToOffer;
}

void Channel::offer(bool accesses) {
    if (offered_ == kNothing) { // what was offered stays until it is accepted
        if (guest_ == kToOffer) {
            offered_ = kGuestRequest;
            drive(request_, kGuest);
        } else if (accesses && !accesses_.empty()) {
            offered_ = kProgram;
            drive(accesses_.front(), unsigned(accepted_ % kIds));
        }
    }
    const bool write = offered_ == kGuestRequest ? request_.write
                                                 : offered_ == kProgram && accesses_.front().write;
    pins_.ar.valid = offered_ != kNothing && !write;
    pins_.aw.valid = pins_.w.valid = write;
}

// Data are the line's address, as memory wants it (memory.h). That holds for what the guest writes,
// too: the region drops it, whatever it is.
void Channel::drive(const Access& access, unsigned id) {
    AddressPins& request = access.write ? pins_.aw : pins_.ar;
    request.id = SData(id);
    request.addr = access.address;
    setWord(pins_.w.data, 0, access.address);
}

void Channel::take() {
    if (offered_ != kNothing &&
        ((pins_.ar.valid && pins_.ar.ready) || (pins_.aw.valid && pins_.aw.ready)))
        accept();
    if (pins_.r.valid)
        takeRead();
    if (pins_.b.valid)
        takeWritten();
}

void Channel::accept() {
    // Memory takes data at once, so nothing may hold them back on their way.
    if (pins_.aw.valid && !pins_.w.ready)
        fail("a write is taken without its data");
    if (offered_ == kGuestRequest) {
        guest_ = kAsked;
    } else {
        if (pins_.ar.valid)
            reads_[pins_.ar.id].push_back(pins_.ar.addr);
        accesses_.pop_front();
        ++accepted_;
        ++pending_;
    }
    offered_ = kNothing;
}

void Channel::takeRead() {
    const BeatData& data = pins_.r.data;
    if (pins_.r.id == kGuest) {
        guest_ = kNone;
        line_.reset();
        if (!pins_.r.resp && !pins_.r.user) {
            line_.emplace();
            for (unsigned w = 0; w < kLineWords; ++w)
                (*line_)[w] = word(data, w);
        }
        return;
    }
    std::deque<uint64_t>& asked = reads_[pins_.r.id % kIds];
    if (asked.empty() || pins_.r.resp || word(data, 0) != asked.front())
        fail("an answer that is not that of its read");
    asked.pop_front();
    --pending_;
}

void Channel::takeWritten() {
    if (pins_.b.id == kGuest) {
        guest_ = kNone;
        return;
    }
    if (!pending_ || pins_.b.resp)
        fail("a write fails");
    --pending_;
}

void Channel::fail(const char* what) const {
    throw std::runtime_error("channel " + std::to_string(number_) + ": " + what);
}

} // namespace anemone
