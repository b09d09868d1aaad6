// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <stdexcept>
#include <string>

#include "control.h"

namespace anemone {

Host::Host(AxiPins& pins, unsigned channel, Records& lines)
    : pins_(pins), channel_(channel), lines_(lines), reads_(kIds) {
    pins_.ar.size = pins_.aw.size = kLineSize;
    pins_.ar.burst = pins_.aw.burst = 1; // INCR
    pins_.w.strb = ~uint64_t(0);
    pins_.w.last = 1;
    pins_.r.ready = pins_.b.ready = 1;
}

void Host::offerEvent(unsigned id, uint64_t address, bool write) {
    pins_.ar.valid = !write;
    pins_.aw.valid = pins_.w.valid = write;
    AddressPins& request = write ? pins_.aw : pins_.ar;
    request.id = SData(id);
    request.addr = address;
    if (write)
        setWord(pins_.w.data, 0, lineOf(address)); // the memory model checks it (memory.h)
}

void Host::offerRead(unsigned id, unsigned pipeline, unsigned line, bool effect) {
    offerEvent(id, lineAddress(pipeline, line, channel_, effect), false);
}

void Host::offerNothing() {
    pins_.ar.valid = pins_.aw.valid = pins_.w.valid = 0;
}

void Host::expectEvent() {
    ++pending_;
    if (pins_.ar.valid) {
        reads_[pins_.ar.id].push_back({false, pins_.ar.addr, {}});
        return;
    }
    // The memory is always ready for data, so the expander must not delay them.
    if (!pins_.w.ready)
        throw std::runtime_error("channel " + std::to_string(channel_) +
                                 ": a write is taken without its data");
    ++writes_[pins_.aw.id];
}

void Host::expectLine(const Ask& ask) {
    ++pending_;
    reads_[pins_.ar.id].push_back({true, 0, ask});
}

void Host::take(uint64_t cycle) {
    const char* wrong = nullptr;
    if (pins_.r.valid) {
        std::deque<Read>& asked = reads_[pins_.r.id % kIds];
        if (asked.empty()) {
            wrong = "a read response without a request";
        } else {
            wrong = answered(asked.front());
            asked.pop_front();
            --pending_;
        }
    }
    if (pins_.b.valid) {
        unsigned& asked = writes_[pins_.b.id % kIds];
        if (!asked || pins_.b.resp)
            wrong = asked ? "a write fails" : "a write response without a request";
        --asked;
        --pending_;
    }
    if (wrong)
        throw std::runtime_error("channel " + std::to_string(channel_) + ", cycle " +
                                 std::to_string(cycle) + ": " + wrong);
}

const char* Host::answered(Read& read) {
    const BeatData& data = pins_.r.data;
    if (pins_.r.resp || !pins_.r.last)
        return read.telemetry ? "a telemetry line is refused" : "a memory read fails";
    if (pins_.r.user)
        return read.telemetry ? "a telemetry line is poisoned" : "memory's data are poisoned";
    if (!read.telemetry)
        return word(data, 0) == lineOf(read.address) ? nullptr : "data of another memory read";
    ++taken_;
    Line line;
    for (unsigned w = 0; w < kLineWords; ++w)
        line[w] = word(data, w);
    if (read.ask.snapshots) {
        read.ask.snapshots->put(read.ask.snapshot, channel_, read.ask.line, line);
    } else {
        lines_.put(&read.ask.row, sizeof read.ask.row);
        lines_.put(line.data(), sizeof line);
    }
    return nullptr;
}

} // namespace anemone
