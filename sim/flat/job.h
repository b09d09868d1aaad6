// SPDX-License-Identifier: Apache-2.0
// The job of a run: settings of flat memory mode and of the memories below it.
#pragma once

#include <cstdint>
#include <string>

#include "configuration.h"
#include "words.h"

namespace anemone {

constexpr unsigned kRatio = BUILT_RATIO; // far lines per near line
constexpr unsigned kTagBits = BUILT_TAG_BITS;

// In cycles: latency of a read on idle memory, and time between two accesses.
struct Timing {
    uint64_t latency, interval;
};

struct Job {
    // As anemone.flat.FlatConfig; lines of 64 B.
    uint64_t nearLines, dedicatedStart, dedicatedEnd, policy, n;
    Timing near, far;
    // Largest random delay of a response, in cycles. With jitter, responses of different ids may
    // also overtake each other, and concurrent reads and writes take effect in random order.
    uint64_t jitter, seed;
    uint64_t ids; // AXI ids that the host uses in turn

    bool dedicated(uint64_t p) const { return p >= dedicatedStart && p < dedicatedEnd; }
    uint64_t set(uint64_t p) const { return p % nearLines; }
    // The near line of a physical line, when it is near.
    uint64_t nearLine(uint64_t p) const {
        return dedicated(p) ? nearLines + (p - dedicatedStart) : set(p);
    }
};

// Reads a job file, written by anemone.backends.rtl.flat. Throws std::runtime_error if the file is
// no job, or a job for another configuration of the hardware.
Job readJob(const std::string& path);

// An access of a trace: bit 63 is 1 for a write, bits 51..0 are the byte address.
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

// The initial contents of physical line p, in every 8 bytes.
inline uint64_t unwritten(uint64_t p) {
    return ~p;
}

} // namespace anemone
