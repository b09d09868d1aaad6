// SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include <cstdio>
#include <stdexcept>

#include "engine.h"

namespace anemone {

namespace {

constexpr unsigned kLongest = 200; // cycles to wait for anything
constexpr unsigned kReads = 100;

} // namespace

void latency() {
    Engine engine;
    engine.reset();
    Rule rule{};
    rule.reads = rule.writes = 1;
    rule.end = uint64_t(1) << ANEMONE_ADDRESS_BITS;
    rule.primaryShift = 12;
    rule.primaryMask = ~uint64_t(0);
    rule.operand = 1;
    rule.counterWidth = 3;
    rule.notifyOp = 2; // ge 0: always
    engine.program(0, rule);
    engine.map(0, 0, 0);
    engine.idle(kLongest);

    // From the cycle in which an event is at the port to the one in which its state is written,
    // and to the first in which the latch is seen to be set.
    unsigned event = 0, notify = 0;
    engine.offerEvent(0, 0, false);
    for (unsigned i = 0; i < kLongest; ++i) {
        engine.settle();
        if (!event && engine.writesState())
            event = i;
        if (!notify && engine.status(0).notified)
            notify = i;
        engine.tick();
        engine.offerNothing(0);
    }

    // From the acceptance of reads that follow each other without a gap to their lines.
    unsigned read = 0, last = 0, lines = 0;
    for (unsigned i = 0; i < kReads + kLongest; ++i) {
        if (i < kReads)
            engine.offerRead(0, 0, i % kLines, false);
        else
            engine.offerNothing(0);
        engine.settle();
        if (i < kReads && !engine.readReady(0))
            throw std::runtime_error("reads are not accepted a line a cycle");
        if (engine.lineValid(0)) {
            if (lines == 0) {
                read = i;
                if (engine.line(0).words[0] != 1)
                    throw std::runtime_error("a line does not have the event before it");
            }
            ++lines;
            last = i;
        }
        engine.tick();
    }
    if (!event || !notify || lines != kReads)
        throw std::runtime_error("an event or a read came to nothing");
    std::printf("result {\"event_to_state\": %u, \"event_to_notification\": %u, "
                "\"read_to_line\": %u, \"reads\": %u, \"read_to_last_line\": %u}\n",
                event, notify, read, kReads, last);
}

} // namespace anemone
