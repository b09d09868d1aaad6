// SPDX-License-Identifier: Apache-2.0
// The host at a channel's upstream port: what its programs access, and what the guest reads and
// writes in the telemetry region.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>

#include "expander.h"

namespace anemone {

using Line = std::array<uint64_t, kLineWords>;

// What is written of a line; strobe: its bytes, a bit each.
struct LineWrite {
    uint64_t line;
    Line words;
    uint64_t strobe;
};

class Channel {
public:
    Channel(AxiPins& pins, unsigned number);

    // An access of a program's, offered when those before it were accepted, a cycle each but one of
    // kRefresh.
    void access(uint64_t address, bool write) { accesses_.push_back({address, write}); }
    // The guest's, before any of the programs'; one at a time.
    void read(uint64_t line);
    void write(const LineWrite& write);

    void offer(bool accesses); // before settle; accesses: of programs, too
    void take();               // after settle; throws std::runtime_error
    void withdraw();           // what is offered, for a reset; it is offered again behind it

    // From now on programs' accesses may be refused.
    void doubt() { doubted_ = true; }

    bool guestWaits() const { return guest_ != kNone; }
    // What the guest read last; nothing: it was refused, or its data are poisoned.
    const std::optional<Line>& line() const { return line_; }

    // For answers to programs' accesses, or for the rest of a write: its data may be taken behind
    // its address.
    bool waiting() const { return pending_ != 0 || (write_ && address_ != data_); }
    std::size_t behind() const { return accesses_.size(); } // accesses that wait
    bool idle() const { return accesses_.empty() && !waiting(); }
    uint64_t count() const { return accepted_; } // of programs' accesses that were accepted

private:
    static constexpr unsigned kIds = 64; // of programs' accesses, in turn
    static constexpr unsigned kGuest = kIds;
    // No program gets a channel's every cycle, as DRAM is refreshed: 350 ns each 7.8 us of DDR4.
    // What takes a line away from its counters waits for such cycles.
    static constexpr unsigned kRefresh = 16;

    struct Access {
        uint64_t address;
        bool write;
    };
    enum State { kNone, kToOffer, kAsked };
    enum Offered { kNothing, kProgram, kGuestRequest };

    void drive(const Access& access, unsigned id);
    void accepted();
    void takeRead();
    void takeWritten();
    [[noreturn]] void fail(const char* what) const;

    AxiPins& pins_;
    const unsigned number_;
    std::deque<Access> accesses_;
    Access request_{};      // the guest's
    LineWrite lineWrite_{}; // and of it, if it is one
    State guest_ = kNone;
    unsigned cycle_ = 0;
    Offered offered_ = kNothing;
    bool write_ = false, address_ = false, data_ = false; // what of it is not accepted yet
    std::optional<Line> line_;
    // On their way, by id: addresses; of a read, whether its line was written before it was asked
    // for.
    struct Read {
        uint64_t line;
        bool written;
    };
    std::array<std::deque<Read>, kIds> reads_;
    std::array<std::deque<uint64_t>, kIds> writes_;
    std::unordered_set<uint64_t> written_; // lines, in flat memory mode
    uint64_t pending_ = 0, accepted_ = 0;
    bool doubted_ = false;
};

} // namespace anemone
