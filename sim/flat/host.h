// SPDX-License-Identifier: Apache-2.0
// The host: the accesses of a trace in its order, and the data that reads must return.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "axi.h"
#include "job.h"

namespace anemone {

// One request is offered at a time, a write with its data, so the order of acceptance is the
// trace's. A write's data are its row's number, from 1, in every 8 bytes.
class Host {
public:
    Host(AxiPins& pins, const Trace& trace, const Job& job);

    void offer(); // before settle
    // After settle: what is accepted and what is answered. Throws std::runtime_error when an answer
    // is an error, or none that was asked for.
    void take(uint64_t cycle);

    bool done() const { return accepted_ == trace_.size() && !pending_; }
    uint64_t accepted() const { return accepted_; }
    uint64_t answered() const { return accepted_ - pending_; }
    uint64_t mismatches() const { return mismatches_; }
    // What was last written to a physical line, in every 8 bytes.
    uint64_t expected(uint64_t p) const;

private:
    void accept();
    const char* read();
    const char* wrote();

    AxiPins& pins_;
    const Trace& trace_;
    std::unordered_map<uint64_t, uint64_t> written_;
    std::vector<std::deque<uint64_t>> reads_; // what those on their way must give, by id
    std::vector<unsigned> writes_;            // on their way, by id
    bool addressed_ = false, given_ = false;  // of the write that is offered: AW, W are accepted
    uint64_t accepted_ = 0, pending_ = 0, mismatches_ = 0;
};

} // namespace anemone
