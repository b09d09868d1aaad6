// SPDX-License-Identifier: Apache-2.0
// What the core model executes: operations, in program order.
#pragma once

#include <cstdint>

namespace core {

enum class Kind : std::uint8_t {
    compute, // `latency` cycles
    load,
    store,
    branch, // `latency` 0: predicted, 1: mispredicted, 2, 3: not taken, taken, which is predicted
};

struct Op {
    std::uint64_t address; // bytes; of loads and stores
    std::uint32_t pc;      // names the instruction, for the stride prefetcher
    // How many operations back its inputs are; 0: none. Of a store the first is of its data.
    std::uint16_t from[2];
    Kind kind;
    std::uint8_t latency;
    std::uint8_t continues; // 1: of the instruction before
    std::uint8_t hinted;    // of no meaning before a core has it (Core::hint)
};
static_assert(sizeof(Op) == 24);

constexpr unsigned kLineBits = 6, kPageBits = 12;
constexpr std::uint64_t kTables = std::uint64_t{1} << 55; // page table entries live from here up

} // namespace core
