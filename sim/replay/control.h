// SPDX-License-Identifier: Apache-2.0
// Software at the control port: registers, and what is made of them (docs/expander.md).
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "expander.h"

namespace anemone {

// A rule as the hardware takes it: the fields of anemone.nemo.Rule, as wide as they go.
struct Rule {
    uint64_t reads, writes, start, end, primaryMask, primaryShift, subMask, subShift,
        hashMultiplier, hashSize, op, operandSource, operand, counterWidth, notifyOp, notifyOperand,
        effectKind, effectOp, effectOperand;

    bool walks() const { return effectKind == 2; } // a read with effect takes a slot a word
};

struct Status {
    uint64_t matched, unmapped, outOfRange, notifications, parityErrors;
    bool notified;
};

// Each call takes the cycles that it takes, with nothing on the memory ports meanwhile. All throw
// std::runtime_error when the port is stuck or answers with an error.
class Control {
public:
    explicit Control(Expander& expander) : expander_(expander) {}

    uint64_t read(uint32_t offset);
    void write(uint32_t offset, uint64_t value);
    // A write that is not waited for; any number follow each other, a cycle each.
    void post(uint32_t offset, uint64_t value);
    void wait(); // until all that was posted is answered

    // After a reset: makes sure that this is the hardware this program was built for, waits until
    // every pipeline is clear, opens the telemetry windows and enables all interrupts.
    void start();
    void program(unsigned pipeline, const Rule& rule);
    void map(unsigned pipeline, uint64_t key, uint64_t base);
    Status status(unsigned pipeline);
    // No error stands, no write was dropped, no telemetry read was refused.
    void expectNoErrors();

private:
    void expect(uint32_t offset, uint64_t value, const char* what);
    void step(); // a cycle
    [[noreturn]] void fail(uint32_t offset, const std::string& what) const;

    Expander& expander_;
    std::deque<uint32_t> posted_; // not answered yet
};

// Where a telemetry line is in the address space of the memory ports: the windows are just above
// what an event can be.
uint64_t lineAddress(unsigned pipeline, unsigned line, unsigned channel, bool effect);

} // namespace anemone
