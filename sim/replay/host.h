// SPDX-License-Identifier: Apache-2.0
// The host's side of a channel: a request a cycle, and the answers to them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "expander.h"
#include "readout.h"

namespace anemone {

constexpr unsigned kIds = 1024; // of the AXI ids, those that rows of a trace can name

// Where the line of a telemetry read is to go.
struct Ask {
    unsigned line;
    Snapshots* snapshots; // null: a read that is a row of the trace
    Snapshot* snapshot;
    uint64_t row;
};

class Host {
public:
    // lines: what reads that are rows of the trace are answered, u64 row, 8 x u64 words.
    Host(AxiPins& pins, unsigned channel, Records& lines);

    // Before settle: what is offered in this cycle.
    void offerEvent(unsigned id, uint64_t address, bool write);
    void offerRead(unsigned id, unsigned pipeline, unsigned line, bool effect);
    void offerNothing();

    // After settle: whether it is accepted; if so, expectEvent or expectLine has to be called.
    bool accepted() const {
        return (pins_.ar.valid && pins_.ar.ready) || (pins_.aw.valid && pins_.aw.ready);
    }
    void expectEvent();
    void expectLine(const Ask& ask);

    // After settle, in every cycle: takes answers. Throws std::runtime_error when one is not what
    // was asked for.
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
    std::vector<std::deque<Read>> reads_; // on their way, by id
    std::array<unsigned, kIds> writes_{}; // as many
    uint64_t pending_ = 0, taken_ = 0;
};

} // namespace anemone
