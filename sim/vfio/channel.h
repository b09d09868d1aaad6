// SPDX-License-Identifier: Apache-2.0
// The host at a channel's upstream port: accesses of programs, and the guest's reads and writes of
// the telemetry region.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>

#include "expander.h"

namespace anemone {

using Line = std::array<uint64_t, kLineWords>;

// A write to a line; strobe has one bit per byte.
struct LineWrite {
    uint64_t line;
    Line words;
    uint64_t strobe;
};

class Channel {
public:
    Channel(AxiPins& pins, unsigned number);

    // A program's access. Accesses are offered in order, one per cycle, except in every kRefresh-th
    // cycle.
    void access(uint64_t address, bool write) { accesses_.push_back({address, write}); }
    // The guest's access, which goes before programs' accesses; one at a time.
    void read(uint64_t line);
    void write(const LineWrite& write);

    void offer(bool accesses); // before settle; accesses: also those of programs
    void take();               // after settle; throws std::runtime_error
    void withdraw(); // drops the offered request for a reset; it is offered again afterwards

    // From now on programs' accesses may be answered with an error.
    void allowErrors() { errorsAllowed_ = true; }

    bool guestWaits() const { return guest_ != kNone; }
    // The line that the guest read last; empty if it was refused or poisoned.
    const std::optional<Line>& line() const { return line_; }

    // Whether a program's access is unanswered, or a write is accepted in part; its data may be
    // accepted after its address.
    bool waiting() const { return pending_ != 0 || (write_ && address_ != data_); }
    std::size_t queued() const { return accesses_.size(); } // accesses not offered yet
    bool idle() const { return accesses_.empty() && !waiting(); }
    uint64_t count() const { return accepted_; } // programs' accesses that were accepted

private:
    static constexpr unsigned kIds = 64; // ids for programs' accesses, used in order
    static constexpr unsigned kGuest = kIds;
    // A program does not get every cycle of a channel, because DRAM is refreshed: 350 ns of every
    // 7.8 us for DDR4. An acknowledge of telemetry waits for such cycles.
    static constexpr unsigned kRefresh = 16;

    struct Access {
        uint64_t address;
        bool write;
    };
    enum State { kNone, kToOffer, kRequested };
    enum Offered { kNothing, kProgram, kGuestRequest };

    void drive(const Access& access, unsigned id);
    void accepted();
    void takeRead();
    void takeWritten();
    [[noreturn]] void fail(const char* what) const;

    AxiPins& pins_;
    const unsigned number_;
    std::deque<Access> accesses_;
    Access request_{};      // the guest's access
    LineWrite lineWrite_{}; // its data, if it is a write
    State guest_ = kNone;
    unsigned cycle_ = 0;
    Offered offered_ = kNothing;
    bool write_ = false, address_ = false, data_ = false; // what is not accepted yet
    std::optional<Line> line_;
    // Addresses in flight, by id; for a read, whether its line had been written before the request.
    struct Read {
        uint64_t line;
        bool written;
    };
    std::array<std::deque<Read>, kIds> reads_;
    std::array<std::deque<uint64_t>, kIds> writes_;
    std::unordered_set<uint64_t> written_; // lines, in flat memory mode
    uint64_t pending_ = 0, accepted_ = 0;
    bool errorsAllowed_ = false;
};

} // namespace anemone
