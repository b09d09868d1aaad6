// SPDX-License-Identifier: Apache-2.0
// The verilated TelemetryEngine behind plain functions, a clock cycle at a time.
//
// A cycle: offer inputs, settle(), look at what is ready and what came out, tick().
// Which ports there are depends on the configuration; configuration.h is generated from the
// params.json of the elaboration (anemone.rtl.builder) and lists channels and pipelines, and the
// macros of engine.cpp name the ports from those lists.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "configuration.h"

class VTelemetryEngine;
class VerilatedContext;

namespace anemone {

constexpr unsigned kPipelines = ANEMONE_PIPELINES;
constexpr unsigned kChannels = ANEMONE_CHANNELS;
constexpr unsigned kStates = ANEMONE_STATES; // words of 64 bits a channel of a pipeline
constexpr unsigned kTable = ANEMONE_TABLE;   // entries of a pipeline's translation table
constexpr unsigned kLineWords = 8;
constexpr unsigned kLines = kStates / kLineWords;
constexpr unsigned kReadLatency = ANEMONE_READ_LATENCY;   // cycles from acceptance to line
constexpr unsigned kEventLatency = ANEMONE_EVENT_LATENCY; // cycles from event to state written

// A rule as the hardware takes it: the fields of anemone.nemo.Rule, as wide as they go.
struct Rule {
    uint64_t reads, writes, start, end, primaryMask, primaryShift, subMask, subShift, op,
        operandSource, operand, counterWidth, notifyOp, notifyOperand, effectKind, effectOp,
        effectOperand;

    bool walks() const { return effectKind == 2; } // a read with effect takes a slot a word
};

struct Line {
    std::array<uint64_t, kLineWords> words;
    bool poison;
};

struct Status {
    uint64_t matched, unmapped, outOfRange, notifications, parityErrors;
    bool notified;
};

class Engine {
public:
    Engine();
    ~Engine();

    // --- what is offered in the coming cycle; stays until something else is offered ---
    void offerEvent(unsigned channel, uint64_t address, bool write);
    void offerRead(unsigned channel, unsigned pipeline, unsigned line, bool effect);
    void offerNothing(unsigned channel);

    // Propagates the inputs to the outputs that depend on them within the cycle.
    void settle();
    bool readReady(unsigned channel) const;
    bool lineValid(unsigned channel) const;
    Line line(unsigned channel) const;
    // Ends the cycle.
    void tick();
    uint64_t cycle() const { return cycle_; }

    // --- set-up: each takes the cycles that it takes, with no events or reads meanwhile ---
    void reset(); // and waits until every pipeline is clear
    void program(unsigned pipeline, const Rule& rule);
    void map(unsigned pipeline, uint64_t key, uint64_t base);
    void idle(unsigned cycles);

    Status status(unsigned pipeline) const;
    // A lane of the engine writes a state word in this cycle (after settle).
    bool writesState() const;

private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<VTelemetryEngine> top_;
    uint64_t cycle_ = 0;
};

} // namespace anemone
