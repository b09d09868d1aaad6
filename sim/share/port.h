// SPDX-License-Identifier: Apache-2.0
// A host's port to a channel: it sends requests in order of arrival and checks the responses.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "expander.h"

namespace anemone {

struct Request {
    uint64_t arrived, address;
    bool write, message; // message: part of a message between the hosts, not of other work
    uint64_t value;      // the value that a write stores and that a message's load must return
};

// The requests answered in a cycle.
struct Answered {
    const Request* read = nullptr;
    const Request* written = nullptr;
    uint64_t cycles = 0; // from the read's arrival to its response
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
    bool addressed_ = false, filled_ = false; // AW and W of the offered write are accepted
    unsigned id_ = 0;                         // of the offered request
    std::array<std::deque<Request>, kPortIds> reads_, writes_; // outstanding, by id
    Request done_[2]{};                                        // last answered read and write
    uint64_t underWay_ = 0, accepted_ = 0;
};

} // namespace anemone
