// SPDX-License-Identifier: Apache-2.0
// The operations that the core model executes.
#pragma once

#include <cstdint>

namespace core {

enum class Kind : std::uint8_t {
    compute, // `latency` cycles
    load,
    store,
    branch, // `latency` 0: predicted, 1: mispredicted; the model predicts 2: not taken, 3: taken
};

struct Op {
    std::uint64_t address; // of a load or store, in bytes
    std::uint32_t pc;      // identifies the instruction, for the stride prefetcher
    // The inputs, as distances back in operations; 0: none. A store's first input is its data.
    std::uint16_t from[2];
    Kind kind;
    std::uint8_t latency;
    std::uint8_t continues; // 1: belongs to the same instruction as the operation before
    std::uint8_t hinted;    // set by Core::hint
};
static_assert(sizeof(Op) == 24);

constexpr unsigned kLineBits = 6, kPageBits = 12;
constexpr std::uint64_t kTables = std::uint64_t{1} << 55; // address of the page tables

} // namespace core
