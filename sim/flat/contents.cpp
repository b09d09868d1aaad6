// SPDX-License-Identifier: Apache-2.0
#include "contents.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "code.h"

namespace anemone {

namespace {

constexpr uint64_t kTags = kRatio + 1; // lines of a set
constexpr uint64_t kTagMask = (1u << kTagBits) - 1;
// The bit above the permutation (anemone.flat.Sideband): a slot of the set once failed.
constexpr unsigned kFailedBit = kRatio * kTagBits;

[[noreturn]] void fail(const char* what, uint64_t line, const std::string& wrong) {
    throw std::runtime_error(std::string(what) + " " + std::to_string(line) + ": " + wrong);
}

// Decodes the tag of each slot, near first (anemone.flat.Permutation). The sideband holds tag XOR
// slot number for all slots but the last, whose tag is the remaining one.
std::array<uint64_t, kTags> tags(uint64_t sideband, uint64_t set) {
    std::array<uint64_t, kTags> tag{};
    uint64_t left = 0, seen = 0;
    for (unsigned slot = 0; slot < kTags; ++slot) {
        left ^= slot;
        if (slot < kRatio) {
            tag[slot] = (sideband >> slot * kTagBits & kTagMask) ^ slot;
            left ^= tag[slot];
        } else {
            tag[slot] = left;
        }
        seen |= uint64_t(1) << tag[slot];
    }
    if (seen != (uint64_t(1) << kTags) - 1)
        fail("set", set, "its sideband is no permutation: " + std::to_string(sideband));
    return tag;
}

// The near lines that the trace accesses, ascending: sets, then dedicated lines.
std::vector<uint64_t> asked(const Job& job, const Trace& trace) {
    std::vector<uint64_t> lines(trace.size());
    for (std::size_t i = 0; i < trace.size(); ++i)
        lines[i] = job.nearLine(trace[i].line());
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines;
}

} // namespace

SetTags checkContents(const Job& job, const Trace& trace, const Host& host, const Memory& near,
                      const Memory& far) {
    SetTags moved;
    const std::vector<uint64_t> lines = asked(job, trace);
    const SidebandCode code;
    for (const uint64_t line : lines) {
        const Line held = near.at(line);
        if (line >= job.nearLines) {
            if (!held.holds(host.expected(line - job.nearLines + job.dedicatedStart)))
                fail("dedicated near line", line, "it does not hold what was last written to it");
            continue;
        }
        if (held.sideband != code.word(line, SidebandCode::payload(held.sideband)))
            fail("set", line, "its sideband is no word of the code");
        const auto tag = tags(held.sideband, line);
        if (held.sideband >> kFailedBit & 1)
            fail("set", line, "it is marked as broken");
        for (unsigned slot = 0; slot < kTags; ++slot) {
            const uint64_t p = tag[slot] * job.nearLines + line;
            // A line hidden by the dedicated range cannot have been written.
            const uint64_t word = job.dedicated(p) ? unwritten(p) : host.expected(p);
            const Line there = slot ? far.at((slot - 1) * job.nearLines + line) : held;
            if (!there.holds(word))
                fail("set", line,
                     "slot " + std::to_string(slot) + " does not hold line " + std::to_string(p) +
                         " as it was last written");
        }
        if (tag[0])
            moved.push_back({line, tag[0]});
    }
    const auto wasAsked = [&](uint64_t line) {
        return std::binary_search(lines.begin(), lines.end(), line);
    };
    for (const auto& entry : near.written())
        if (!wasAsked(entry.first))
            fail("near line", entry.first, "it was written, but the trace does not use its set");
    for (const auto& entry : far.written())
        if (!wasAsked(job.set(entry.first)))
            fail("far line", entry.first, "it was written, but the trace does not use its set");
    return moved;
}

} // namespace anemone
