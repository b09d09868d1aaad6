// SPDX-License-Identifier: Apache-2.0
// The memory below a channel. It is always ready and answers in order.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "expander.h"

namespace anemone {

// Cycles from a read to its data: 100 ns at 400 MHz.
constexpr unsigned kMemoryLatency = 40;

// Without flat memory mode every line holds its own address in its first 8 bytes, and hosts write
// only that there. So a misrouted request or response is detected. In flat memory mode lines move,
// so their first 16 bytes are stored (initially zero); `keeps` stores them in both modes.
class Memory {
public:
    explicit Memory(MemoryPins& pins, bool keeps = kRatio != 0, uint64_t latency = kMemoryLatency);

    // Answers no read in the first `cycles` of every `every` cycles; every = 0: no refresh.
    void refresh(uint64_t every, uint64_t cycles);

    void offer(uint64_t cycle); // before settle
    void take(uint64_t cycle);  // after settle; throws std::runtime_error

    // Flips two bits in the sideband of a written line. Throws std::runtime_error if there is none.
    void flipSideband(uint64_t address);

    // Drops all outstanding requests; the contents stay.
    void reset();

    uint64_t reads() const { return reads_; }
    uint64_t writes() const { return writes_; }

private:
    struct Read {
        uint64_t due, address;
        SData id;
    };
    struct Write {
        uint64_t address;
        SData id;
    };

    struct Line {
        uint64_t word = 0, second = 0;
        IData sideband = 0;
    };
    void perform(const Write& write);

    AxiPins& pins_;
    const IData* sidebandWritten_;
    IData* sidebandRead_;
    bool keeps_;
    uint64_t latency_, refreshEvery_ = 0, refreshFor_ = 0;
    std::unordered_map<uint64_t, Line> lines_; // by address, if keeps_
    std::deque<Read> asked_;
    std::deque<Write> addressed_; // writes that wait for data
    std::deque<SData> written_;   // writes that wait for a response
    uint64_t reads_ = 0, writes_ = 0;
};

} // namespace anemone
