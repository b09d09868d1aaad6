// SPDX-License-Identifier: Apache-2.0
// A host's port to a channel: requests in the order in which they arrive, and the answers to them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "expander.h"

namespace anemone {

struct Request {
    uint64_t arrived, address;
    bool write, message; // message: of what one host sends the other; else of other work
    uint64_t value;      // what a write leaves in the line, and a message's load has to find
};

// What was answered in a cycle, with the cycles that it took since it arrived.
struct Answered {
    const Request* read = nullptr;
    const Request* written = nullptr;
    uint64_t cycles = 0; // of the read
};

class Port {
public:
    explicit Port(AxiPins& pins);

    void arrive(const Request& request) { waiting_.push_back(request); }
    void offer();                  // before settle
    Answered take(uint64_t cycle); // after settle; throws std::runtime_error
    std::size_t waiting() const { return waiting_.size(); }
    uint64_t underWay() const { return underWay_; }
    uint64_t accepted() const { return accepted_; }

private:
    static constexpr unsigned kPortIds = 64;
    void accept();
    const Request& answer(std::deque<Request>& asked, const char* what);

    AxiPins& pins_;
    std::deque<Request> waiting_;
    bool addressed_ = false, filled_ = false; // of the write that is offered: taken already
    unsigned id_ = 0;                         // of what is offered
    std::array<std::deque<Request>, kPortIds> reads_, writes_; // under way, by id
    Request done_[2]{};                                        // what was answered last
    uint64_t underWay_ = 0, accepted_ = 0;
};

} // namespace anemone
