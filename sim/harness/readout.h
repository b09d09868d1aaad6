// SPDX-License-Identifier: Apache-2.0
// Telemetry lines that were asked for: checked as they come, put together, unpacked and written.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine.h"

namespace anemone {

// A file of fixed-size records. Throws std::runtime_error when it cannot be written.
class Records {
public:
    explicit Records(const std::string& path);
    void put(const void* record, std::size_t bytes);
    void finish();

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

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

// Where the line of an accepted read is to go.
struct Ask {
    uint64_t due; // the cycle in which it must come
    unsigned line;
    Snapshots* snapshots; // null: a read that is a row of the trace
    Snapshot* snapshot;
    uint64_t row;
};

// Reads on their way on one channel. Throws std::runtime_error when a line is late, early, not
// asked for or poisoned.
class Answers {
public:
    Answers(unsigned channel, Records& lines) : channel_(channel), lines_(lines) {}

    void expect(const Ask& ask) { asked_.push_back(ask); }
    // To be called in every cycle, after settle.
    void take(const Engine& engine) {
        if (engine.lineValid(channel_) || (!asked_.empty() && asked_.front().due <= engine.cycle()))
            check(engine);
    }
    bool pending() const { return !asked_.empty(); }
    uint64_t lines() const { return count_; }

private:
    void check(const Engine& engine);

    const unsigned channel_;
    Records& lines_; // of reads that are rows: u64 row, 8 x u64 words
    std::deque<Ask> asked_;
    uint64_t count_ = 0;
};

} // namespace anemone
