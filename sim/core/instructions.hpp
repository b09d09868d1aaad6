// SPDX-License-Identifier: Apache-2.0
// Executed instructions as operations: an instruction's loads, then what it computes, then its
// stores. Operations wait for the last writers of the registers they read, the two latest of them.
// What an instruction computes takes one cycle: its kind is not known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "op.hpp"

namespace core {

constexpr unsigned kRegisters = 34; // as sim/capture/qemu/instruction.hpp numbers them

struct Executed {
    std::uint64_t pc;
    std::uint64_t address_registers, reads, writes; // sets of registers
    bool branch, went; // went: the next instruction is not the one behind it
};

struct Touched {
    std::uint64_t address;
    bool store;
};

class Translator {
public:
    Translator() { writer_.fill(kNobody); }

    // Appends to `out`, which has room for n + 1 operations; behind the last of them.
    Op* add(const Executed& insn, const Touched* touched, std::size_t n, Op* out);

private:
    using Number = std::int64_t; // of an operation
    static constexpr Number kNobody = -1;

    // The two latest among the writers of some registers and one more operation.
    std::array<Number, 2> latest(std::uint64_t registers, Number also) const;
    Op* put(Op* out, Kind kind, const Executed& insn, std::uint64_t address, std::uint8_t latency,
            const std::array<Number, 2>& inputs);

    std::array<Number, kRegisters> writer_;
    Number next_ = 0;  // operation
    Number began_ = 0; // the instruction's first
};

} // namespace core
