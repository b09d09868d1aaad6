// SPDX-License-Identifier: Apache-2.0
// The order of one channel: its own events of the trace, and the telemetry reads between them.
#pragma once

#include <cstdint>
#include <vector>

#include "job.h"

namespace anemone {

// The next request of a channel. It stays until it is accepted.
struct Item {
    enum Kind { kEvent, kRead, kDone } kind = kDone;
    Row row{};             // the event
    unsigned pipeline = 0; // the read
    unsigned line = 0;
    bool effect = false;
    bool periodic = false; // a read due by read_every; otherwise a read that is a row
    uint64_t at = 0;       // periodic: events of the whole trace before it; otherwise its row
};

// Goes through the trace for one channel. The engine's channels share only counters, so each
// channel has its own position: a periodic read needs only this channel's earlier events.
class Feeder {
public:
    Feeder(const Trace& trace, const std::vector<JobRule>& rules, unsigned channel);

    const Item& item() const { return item_; }
    void advance(); // the item was accepted
    // How often the channel has read all due lines.
    uint64_t readouts() const { return readouts_; }

private:
    void find();
    bool readDue();

    const Trace& trace_;
    const std::vector<JobRule>& rules_;
    const unsigned channel_;
    std::size_t at_ = 0;            // next row
    uint64_t events_ = 0;           // events before it, of all channels
    uint64_t due_ = 0;              // events after which the next read is due
    std::vector<unsigned> reading_; // rules being read, the current one at the back
    uint64_t readouts_ = 0;
    Item item_;
};

} // namespace anemone
