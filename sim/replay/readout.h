// SPDX-License-Identifier: Apache-2.0
// Telemetry lines put together, unpacked and written.
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
    unsigned missing;            // lines still to come
    std::vector<uint64_t> words; // word * channels + channel
};

// The snapshots of one rule, written to a file in the order of the results: event, index, channel.
// A record is a counter that is not zero: u64 event, u64 value, u32 index, u32 channel.
class Snapshots {
public:
    Snapshots(const std::string& path, unsigned counterWidth);

    // The snapshot at `event`, which a channel begins or joins. A channel goes from one to the
    // next in order, so they complete in order.
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
