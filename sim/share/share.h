// SPDX-License-Identifier: Apache-2.0
// Two hosts on one expander: one writes messages, the other loads them, and both have other work.
#pragma once

#include <cstdint>

namespace anemone {

struct Setting {
    uint64_t messages; // one behind the other
    uint64_t lines;    // of a message
    uint64_t inFlight; // loads of the receiver at a time
    double load;  // other work of both hosts: requests a cycle and channel, of one that it can take
    double reads; // of them
    uint64_t latency;                  // of memory, cycles
    uint64_t refreshEvery, refreshFor; // cycles; every 0: memory is not refreshed
    uint64_t seed;
};

// Prints `progress` lines, and as `result` a JSON object: `latency`, pairs of cycles from a load's
// arrival at the receiver's port to its line and how many loads took them; `other`, the same of the
// other work's reads; `cycles`; `requests`, accepted by all channels. Throws std::runtime_error
// when a load does not find what the message brought.
void share(const Setting& setting);

} // namespace anemone
