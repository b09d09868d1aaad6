// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

#include <stdexcept>
#include <string>

namespace anemone {

Channel::Channel(AxiPins& pins, unsigned number) : pins_(pins), number_(number) {
    pins_.ar.size = pins_.aw.size = kLineSize;
    pins_.ar.burst = pins_.aw.burst = 1; // INCR
    pins_.w.last = 1;
    pins_.r.ready = pins_.b.ready = 1;
}

void Channel::read(uint64_t line) {
    request_ = {line, false};
    guest_ = kToOffer;
}

void Channel::write(const LineWrite& write) {
    request_ = {write.line, true};
    lineWrite_ = write;
    guest_ = kToOffer;
}

void Channel::offer(bool accesses) {
    const bool refresh = ++cycle_ % kRefresh == 0;
    if (offered_ == kNothing) { // an offered request stays until it is accepted
        if (guest_ == kToOffer) {
            offered_ = kGuestRequest;
            drive(request_, kGuest);
            pins_.w.strb = lineWrite_.strobe;
            for (unsigned w = 0; w < kLineWords; ++w)
                setWord(pins_.w.data, w, lineWrite_.words[w]);
        } else if (accesses && !refresh && !accesses_.empty()) {
            offered_ = kProgram;
            drive(accesses_.front(), unsigned(accepted_ % kIds));
        }
    }
    pins_.ar.valid = address_ && !write_;
    pins_.aw.valid = address_ && write_;
    pins_.w.valid = data_;
}

// A write's data are the line's address, as the memory model expects (memory.h).
void Channel::drive(const Access& access, unsigned id) {
    AddressPins& request = access.write ? pins_.aw : pins_.ar;
    request.id = SData(id);
    request.addr = access.address;
    pins_.w.strb = ~uint64_t(0);
    setWord(pins_.w.data, 0, lineOf(access.address));
    address_ = true;
    write_ = data_ = access.write;
}

void Channel::take() {
    if (offered_ != kNothing) {
        if (write_ ? pins_.aw.ready : pins_.ar.ready)
            address_ = false;
        if (pins_.w.ready)
            data_ = false;
        if (!address_ && !data_)
            accepted();
    }
    if (pins_.r.valid)
        takeRead();
    if (pins_.b.valid)
        takeWritten();
}

void Channel::withdraw() {
    pins_.ar.valid = pins_.aw.valid = pins_.w.valid = 0;
    address_ = data_ = false;
    offered_ = kNothing;
}

void Channel::accepted() {
    if (offered_ == kGuestRequest) {
        guest_ = kRequested;
    } else {
        const Access& access = accesses_.front();
        const uint64_t line = lineOf(access.address);
        if (access.write)
            writes_[accepted_ % kIds].push_back(line);
        else
            reads_[accepted_ % kIds].push_back({line, written_.count(line) != 0});
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
    std::deque<Read>& asked = reads_[pins_.r.id % kIds];
    const uint64_t holds = word(data, 0);
    const auto its = [&](const Read& read) {
        return holds == read.line || (kRatio && !holds && !read.written);
    };
    if (asked.empty() || !(pins_.r.resp ? errorsAllowed_ : its(asked.front())))
        fail("an answer that is not that of its read");
    asked.pop_front();
    --pending_;
}

void Channel::takeWritten() {
    if (pins_.b.id == kGuest) {
        guest_ = kNone;
        return;
    }
    std::deque<uint64_t>& asked = writes_[pins_.b.id % kIds];
    if (asked.empty() || (pins_.b.resp && !errorsAllowed_))
        fail("a write fails");
    if (kRatio && !pins_.b.resp)
        written_.insert(asked.front());
    asked.pop_front();
    --pending_;
}

void Channel::fail(const char* what) const {
    throw std::runtime_error("channel " + std::to_string(number_) + ": " + what);
}

} // namespace anemone
