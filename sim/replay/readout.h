// SPDX-License-Identifier: Apache-2.0
// Collects telemetry lines, unpacks their counters and writes them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "expander.h"
#include "records.h"

namespace anemone {

using Line = std::array<uint64_t, kLineWords>;

// All lines of a rule on all channels at one point of the trace.
struct Snapshot {
    uint64_t event;              // events before it
    unsigned missing;            // lines that have not arrived
    std::vector<uint64_t> words; // word * channels + channel
};

// The snapshots of one rule, written to a file in the order event, index, channel. Each record is a
// non-zero counter: u64 event, u64 value, u32 index, u32 channel.
class Snapshots {
public:
    Snapshots(const std::string& path, unsigned counterWidth);

    // Finds or creates the snapshot at `event`. Each channel reads its snapshots in order, so they
    // complete in order.
    Snapshot* at(uint64_t event);
    void put(Snapshot* snapshot, unsigned channel, unsigned line, const Line& data);
    void finish();

private:
    void write(const Snapshot& snapshot);

    Records records_;
    const unsigned bits_; // of a counter
    std::deque<std::unique_ptr<Snapshot>> open_;
};

} // namespace anemone
