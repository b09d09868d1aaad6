// SPDX-License-Identifier: Apache-2.0
// A memory below a channel: it takes everything at once and answers in order.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "expander.h"

namespace anemone {

// Cycles from a read to its data, 100 ns at 400 MHz.
constexpr unsigned kMemoryLatency = 40;

// Every line holds its own address in its first 8 bytes, and hosts write nothing else there; so a
// request or an answer that goes astray shows. In flat memory mode lines move: what they hold is
// kept, and is zero before. Where it is asked for, the second 8 bytes are kept, too.
class Memory {
public:
    explicit Memory(MemoryPins& pins, bool keeps = kRatio != 0, uint64_t latency = kMemoryLatency);

    // It answers no read for so many of so many cycles, and none meanwhile; every 0: always.
    void refresh(uint64_t every, uint64_t cycles);

    void offer(uint64_t cycle); // before settle
    void take(uint64_t cycle);  // after settle; throws std::runtime_error

    // Two bits flip beside a line that was written, by its address; throws std::runtime_error where
    // there is none.
    void flipSideband(uint64_t address);

    // What was asked for is forgotten; lines stay.
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
    std::unordered_map<uint64_t, Line> lines_; // by address, where they are kept
    std::deque<Read> asked_;
    std::deque<Write> addressed_; // the data are to come
    std::deque<SData> written_;   // to be answered
    uint64_t reads_ = 0, writes_ = 0;
};

} // namespace anemone
