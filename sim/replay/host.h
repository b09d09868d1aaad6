// SPDX-License-Identifier: Apache-2.0
// The host's side of a channel: one request per cycle, and checks of the responses.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "expander.h"
#include "readout.h"

namespace anemone {

constexpr unsigned kIds = 1024; // AXI ids that a row of a trace can name

// The destination of a telemetry read's line.
struct Ask {
    unsigned line;
    Snapshots* snapshots; // null: a read that is a row of the trace
    Snapshot* snapshot;
    uint64_t row;
};

class Host {
public:
    // lines: file of the responses to reads that are rows of the trace: u64 row, 8 x u64 words.
    Host(AxiPins& pins, unsigned channel, Records& lines);

    // Before settle: offers a request in this cycle.
    void offerEvent(unsigned id, uint64_t address, bool write);
    void offerRead(unsigned id, unsigned pipeline, unsigned line, bool effect);
    void offerNothing();

    // After settle: whether the request is accepted. If so, call expectEvent or expectLine.
    bool accepted() const {
        return (pins_.ar.valid && pins_.ar.ready) || (pins_.aw.valid && pins_.aw.ready);
    }
    void expectEvent();
    void expectLine(const Ask& ask);

    // After settle, in every cycle: takes responses. Throws std::runtime_error for a wrong one.
    void take(uint64_t cycle);

    bool pending() const { return pending_ != 0; }
    uint64_t lines() const { return taken_; }

private:
    struct Read {
        bool telemetry;
        uint64_t address; // of memory
        Ask ask;
    };
    const char* answered(Read& read);

    AxiPins& pins_;
    const unsigned channel_;
    Records& lines_;
    std::vector<std::deque<Read>> reads_; // outstanding, by id
    std::array<unsigned, kIds> writes_{}; // number outstanding, by id
    uint64_t pending_ = 0, taken_ = 0;
};

} // namespace anemone
