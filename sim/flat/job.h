// SPDX-License-Identifier: Apache-2.0
// What a run has to do: how flat memory mode is set, and the memories below it.
#pragma once

#include <cstdint>
#include <string>

#include "configuration.h"
#include "words.h"

namespace anemone {

constexpr unsigned kRatio = BUILT_RATIO; // far lines to a near line
constexpr unsigned kTagBits = BUILT_TAG_BITS;

// In cycles: of a read that finds the memory idle, and between two accesses.
struct Timing {
    uint64_t latency, interval;
};

struct Job {
    // As anemone.flat.FlatConfig; lines of 64 B.
    uint64_t nearLines, dedicatedStart, dedicatedEnd, policy, n;
    Timing near, far;
    // Most cycles by which an answer is late at random; then answers of different ids overtake each
    // other, too, and what a read and a write that are in flight together do is left to chance.
    uint64_t jitter, seed;
    uint64_t ids; // AXI ids that the host uses in turn

    bool dedicated(uint64_t p) const { return p >= dedicatedStart && p < dedicatedEnd; }
    uint64_t set(uint64_t p) const { return p % nearLines; }
    // The near line of a physical line, when it is near.
    uint64_t nearLine(uint64_t p) const {
        return dedicated(p) ? nearLines + (p - dedicatedStart) : set(p);
    }
};

// Reads a job file (anemone.backends.rtl.flat writes it). Throws std::runtime_error if it is not
// one, or one for another configuration of the hardware.
Job readJob(const std::string& path);

// A trace: of an access bit 63 says whether it writes, bits 51..0 are the byte address.
struct Access {
    uint64_t bits;

    bool write() const { return bits >> 63; }
    uint64_t address() const { return bits & 0xF'FFFF'FFFF'FFFF; }
    uint64_t line() const { return address() >> 6; }
};

class Trace : public MappedWords {
public:
    using MappedWords::MappedWords;
    Access operator[](std::size_t i) const { return Access{MappedWords::operator[](i)}; }
};

// What physical line p holds, in every 8 bytes, before anything is written to it.
inline uint64_t unwritten(uint64_t p) {
    return ~p;
}

} // namespace anemone
