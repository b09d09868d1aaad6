// SPDX-License-Identifier: Apache-2.0
// Software at the control port: registers, rules, tables and counters (docs/expander.md).
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "expander.h"

namespace anemone {

// A rule in the hardware's encoding: the fields of anemone.nemo.Rule, each as a 64-bit number.
struct Rule {
    uint64_t reads, writes, start, end, primaryMask, primaryShift, subMask, subShift,
        hashMultiplier, hashSize, op, operandSource, operand, counterWidth, notifyOp, notifyOperand,
        effectKind, effectOp, effectOperand;

    // A read whose effect is an update op takes one slot per state word.
    bool serialEffect() const { return effectKind == 2; }
};

struct Status {
    uint64_t matched, unmapped, outOfRange, notifications, parityErrors;
    bool notified;
};

// Each call runs the clock until it is done, with idle memory ports. All throw std::runtime_error
// when the port is stuck or answers with an error.
class Control {
public:
    explicit Control(Expander& expander) : expander_(expander) {}

    uint64_t read(uint32_t offset);
    void write(uint32_t offset, uint64_t value);
    // Writes without waiting for the response. Writes may follow each other in every cycle.
    void post(uint32_t offset, uint64_t value);
    void wait(); // until all posted writes are answered

    // After a reset: checks that the program was built for this hardware, waits until every
    // pipeline is clear, opens the telemetry windows and enables all interrupts.
    void start();
    void program(unsigned pipeline, const Rule& rule);
    void map(unsigned pipeline, uint64_t key, uint64_t base);
    Status status(unsigned pipeline);
    // Throws if an error is reported, a write was dropped or a telemetry read was refused.
    void expectNoErrors();

private:
    void expect(uint32_t offset, uint64_t value, const char* what);
    void step(); // one cycle
    [[noreturn]] void fail(uint32_t offset, const std::string& what) const;

    Expander& expander_;
    std::deque<uint32_t> posted_; // not answered yet
};

// The address of a telemetry line at the memory ports. The windows are just above the memory.
uint64_t lineAddress(unsigned pipeline, unsigned line, unsigned channel, bool effect);

} // namespace anemone
