// SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include <cstdio>
#include <stdexcept>

#include "control.h"

namespace anemone {

namespace {

constexpr unsigned kLongest = 200; // longest measured latency, in cycles
constexpr unsigned kReads = 100;

// Records the first cycle in which a signal is seen.
struct First {
    unsigned cycle = 0;
    bool seen = false;

    void look(bool now, unsigned i) {
        if (now && !seen) {
            cycle = i;
            seen = true;
        }
    }
};

} // namespace

void latency() {
    Expander expander;
    Control control(expander);
    AxiPins &up = expander.upstream(0), &down = expander.memories()[0].axi;
    down.ar.ready = down.aw.ready = down.w.ready = up.r.ready = up.b.ready = 1;
    up.ar.size = 6;
    expander.reset();
    control.start();
    Rule rule{};
    rule.reads = rule.writes = 1;
    rule.end = uint64_t(1) << kAddressBits;
    rule.primaryShift = 12;
    rule.primaryMask = ~uint64_t(0);
    rule.operand = 1;
    rule.counterWidth = 3;
    rule.notifyOp = 2; // ge 0: always
    control.program(0, rule);
    control.map(0, 0, 0);
    control.wait();
    expander.idle(kLongest);

    // Cycles from the acceptance of a memory read to the memory's port, to the event's state write
    // and to the interrupt message; and from the memory's response to the host.
    First request, state, message, answer;
    up.ar.valid = 1;
    for (unsigned i = 0; i < kLongest; ++i) {
        down.r.valid = down.r.last = i == kLongest / 2;
        expander.settle();
        if (i == 0 && !up.ar.ready)
            throw std::runtime_error("a memory read is not accepted at once");
        request.look(down.ar.valid, i);
        state.look(expander.writesState(), i);
        answer.look(up.r.valid, i - kLongest / 2);
        expander.tick();
        message.look(expander.messages()[1], i);
        up.ar.valid = 0;
    }

    // Cycles from the acceptance of back-to-back telemetry reads to their lines.
    First engine, line;
    unsigned last = 0, lines = 0;
    for (unsigned i = 0; i < kReads + kLongest; ++i) {
        up.ar.valid = i < kReads;
        up.ar.addr = lineAddress(0, i % kLines, 0, false);
        expander.settle();
        if (up.ar.valid && !up.ar.ready)
            throw std::runtime_error("telemetry reads are not accepted a line a cycle");
        engine.look(expander.linesCome(), i);
        line.look(up.r.valid, i);
        if (up.r.valid) {
            if (lines == 0 && word(up.r.data, 0) != 1)
                throw std::runtime_error("a line does not have the event before it");
            ++lines;
            last = i;
        }
        expander.tick();
    }
    if (!request.seen || !state.seen || !message.seen || !answer.seen || lines != kReads)
        throw std::runtime_error("an event, a request or a read came to nothing");
    std::printf("result {\"request_through\": %u, \"answer_through\": %u, \"event_to_state\": %u, "
                "\"event_to_interrupt\": %u, \"read_to_engine_line\": %u, \"read_to_line\": %u, "
                "\"reads\": %u, \"read_to_last_line\": %u}\n",
                request.cycle, answer.cycle, state.cycle, message.cycle, engine.cycle, line.cycle,
                kReads, last);
}

} // namespace anemone
