// SPDX-License-Identifier: Apache-2.0
// The host: it sends the accesses of a trace in order and checks the data of the reads.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "axi.h"
#include "job.h"

namespace anemone {

// It offers one request at a time, a write together with its data, so requests are accepted in the
// trace's order. A write's data are its row number, from 1, in every 8 bytes.
class Host {
public:
    Host(AxiPins& pins, const Trace& trace, const Job& job);

    void offer(); // before settle
    // After settle: takes acceptances and responses. Throws std::runtime_error at an error response
    // or a response without a request.
    void take(uint64_t cycle);

    bool done() const { return accepted_ == trace_.size() && !pending_; }
    uint64_t accepted() const { return accepted_; }
    uint64_t answered() const { return accepted_ - pending_; }
    uint64_t mismatches() const { return mismatches_; }
    // The value last written to a physical line, in every 8 bytes.
    uint64_t expected(uint64_t p) const;

private:
    void accept();
    const char* read();
    const char* wrote();

    AxiPins& pins_;
    const Trace& trace_;
    std::unordered_map<uint64_t, uint64_t> written_;
    std::vector<std::deque<uint64_t>> reads_; // expected data of outstanding reads, by id
    std::vector<unsigned> writes_;            // outstanding writes, by id
    bool addressed_ = false, given_ = false;  // AW and W of the offered write are accepted
    uint64_t accepted_ = 0, pending_ = 0, mismatches_ = 0;
};

} // namespace anemone
