// SPDX-License-Identifier: Apache-2.0
// The order of one channel: its own events of the trace, and the telemetry reads between them.
#pragma once

#include <cstdint>
#include <vector>

#include "job.h"

namespace anemone {

// What a channel is offered next. It stays until it is accepted.
struct Item {
    enum Kind { kEvent, kRead, kDone } kind = kDone;
    Row row{};             // the event
    unsigned pipeline = 0; // the read
    unsigned line = 0;
    bool effect = false;
    bool periodic = false; // one of all lines of a rule, due by read_every; otherwise a row
    uint64_t at = 0;       // periodic: events of the whole trace before it; otherwise its row
};

// Walks the trace for one channel. Channels never meet in the engine but in its counters, so each
// keeps its own place: a periodic read needs this channel's events before it accepted, and no more.
class Feeder {
public:
    Feeder(const Trace& trace, const std::vector<JobRule>& rules, unsigned channel);

    const Item& item() const { return item_; }
    void advance(); // the item was accepted
    // Times the channel has read out what was due.
    uint64_t readouts() const { return readouts_; }

private:
    void find();
    bool readDue();

    const Trace& trace_;
    const std::vector<JobRule>& rules_;
    const unsigned channel_;
    std::size_t at_ = 0;            // next row
    uint64_t events_ = 0;           // events before it, of all channels
    uint64_t due_ = 0;              // events after which a rule is next to be read
    std::vector<unsigned> reading_; // rules being read, the current one at the back
    uint64_t readouts_ = 0;
    Item item_;
};

} // namespace anemone
