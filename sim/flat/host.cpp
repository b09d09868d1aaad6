// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <stdexcept>
#include <string>

namespace anemone {

Host::Host(AxiPins& pins, const Trace& trace, const Job& job)
    : pins_(pins), trace_(trace), reads_(job.ids), writes_(job.ids) {
    pins_.ar.size = pins_.aw.size = kLineSize;
    pins_.ar.burst = pins_.aw.burst = 1; // INCR
    pins_.w.strb = ~uint64_t(0);
    pins_.w.last = 1;
    pins_.r.ready = pins_.b.ready = 1;
    pins_.ar.valid = pins_.aw.valid = pins_.w.valid = 0;
}

uint64_t Host::expected(uint64_t p) const {
    const auto found = written_.find(p);
    return found == written_.end() ? unwritten(p) : found->second;
}

void Host::offer() {
    const bool any = accepted_ < trace_.size();
    const Access access = any ? trace_[accepted_] : Access{};
    pins_.ar.valid = any && !access.write();
    pins_.aw.valid = any && access.write() && !addressed_;
    pins_.w.valid = any && access.write() && !given_;
    if (!any)
        return;
    AddressPins& request = access.write() ? pins_.aw : pins_.ar;
    request.addr = access.line() << kLineSize;
    request.id = SData(accepted_ % reads_.size());
    if (access.write())
        for (unsigned w = 0; w < kLineWords; ++w)
            setWord(pins_.w.data, w, accepted_ + 1);
}

void Host::take(uint64_t cycle) {
    const char* wrong = nullptr;
    if (pins_.r.valid)
        wrong = read();
    if (pins_.b.valid && !wrong)
        wrong = wrote();
    if (wrong)
        throw std::runtime_error("host, cycle " + std::to_string(cycle) + ": " + wrong);
    accept();
}

void Host::accept() {
    if (pins_.ar.valid && pins_.ar.ready) {
        reads_[pins_.ar.id].push_back(expected(trace_[accepted_].line()));
    } else {
        addressed_ |= pins_.aw.valid && pins_.aw.ready;
        given_ |= pins_.w.valid && pins_.w.ready;
        if (!addressed_ || !given_)
            return;
        addressed_ = given_ = false;
        const Access access = trace_[accepted_];
        ++writes_[accepted_ % writes_.size()];
        written_[access.line()] = accepted_ + 1;
    }
    ++accepted_;
    ++pending_;
}

const char* Host::read() {
    if (pins_.r.id >= reads_.size() || reads_[pins_.r.id].empty())
        return "read data without a request";
    if (pins_.r.resp || !pins_.r.last || pins_.r.user)
        return "a read fails, or its data are poisoned";
    const uint64_t data = reads_[pins_.r.id].front();
    reads_[pins_.r.id].pop_front();
    --pending_;
    for (unsigned w = 0; w < kLineWords; ++w)
        if (word(pins_.r.data, w) != data) {
            ++mismatches_;
            break;
        }
    return nullptr;
}

const char* Host::wrote() {
    if (pins_.b.id >= writes_.size() || !writes_[pins_.b.id])
        return "a write response without a request";
    if (pins_.b.resp)
        return "a write fails";
    --writes_[pins_.b.id];
    --pending_;
    return nullptr;
}

} // namespace anemone
