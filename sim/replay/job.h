// SPDX-License-Identifier: Apache-2.0
// The job of a run (rules and tables) and the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "control.h"
#include "words.h"

namespace anemone {

struct JobRule {
    Rule rule;
    uint64_t readEvery; // events between telemetry reads of all lines; 0: none
    std::vector<std::pair<uint64_t, uint64_t>> map; // key, base index
};

// Reads a job file, written by anemone.backends.rtl.job. Throws std::runtime_error if the file is
// no job, or a job for another configuration of the hardware.
std::vector<JobRule> readJob(const std::string& path);

// One row of a trace, a 64-bit word:
//   event  bit 63 write; bits 51..0 byte address
//   read   bit 62 set; bits 35..34 channel, 32 with effect, 29..24 pipeline, 20..0 line
//   both   bits 61..52 AXI id
struct Row {
    uint64_t bits;

    bool isRead() const { return bits >> 62 & 1; }
    bool write() const { return bits >> 63; }
    uint64_t address() const { return bits & 0xF'FFFF'FFFF'FFFF; }
    unsigned id() const { return bits >> 52 & 0x3FF; }
    unsigned channel() const { return (isRead() ? bits >> 34 : bits >> 6) & (kChannels - 1); }
    bool effect() const { return bits >> 32 & 1; }
    unsigned pipeline() const { return bits >> 24 & 63; }
    unsigned line() const { return bits & 0x1F'FFFF; }
};

class Trace : public MappedWords {
public:
    using MappedWords::MappedWords;
    Row operator[](std::size_t i) const { return Row{MappedWords::operator[](i)}; }
};

} // namespace anemone
