// SPDX-License-Identifier: Apache-2.0
// Two hosts share an expander: one writes messages, the other loads them, and both do other work.
#pragma once

#include <cstdint>

namespace anemone {

struct Setting {
    uint64_t messages; // sent one after another
    uint64_t lines;    // per message
    uint64_t inFlight; // concurrent loads of the receiver
    double load;       // other work of both hosts: requests per cycle and channel, up to 1
    double reads;      // share of reads in it
    uint64_t latency;  // of memory, cycles
    uint64_t refreshEvery, refreshFor; // cycles; refreshEvery 0: no refresh
    uint64_t seed;
};

// Prints `progress` lines, and `result` with a JSON object: `latency`, a histogram of the message
// loads as pairs [cycles from arrival at the port to the line, count]; `other`, the same for the
// reads of the other work; `cycles`; `requests`, accepted by all channels. Throws
// std::runtime_error when a load does not return the message.
void share(const Setting& setting);

} // namespace anemone
