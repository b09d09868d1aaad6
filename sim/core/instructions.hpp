// SPDX-License-Identifier: Apache-2.0
// Translates an executed instruction to operations: its loads, then a compute operation, then its
// stores. An operation waits for the two latest writers of the registers that it reads. A compute
// operation takes one cycle, because the trace does not say what the instruction computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "op.hpp"

namespace core {

constexpr unsigned kRegisters = 34; // numbered as in sim/capture/qemu/instruction.hpp

struct Executed {
    std::uint64_t pc;
    std::uint64_t address_registers, reads, writes; // sets of registers
    bool branch, went;                              // went: a taken branch
};

struct Touched {
    std::uint64_t address;
    bool store;
};

class Translator {
public:
    Translator() { writer_.fill(kNoWriter); }

    // Appends up to n + 1 operations to `out`. Returns the end.
    Op* add(const Executed& insn, const Touched* touched, std::size_t n, Op* out);

private:
    using Number = std::int64_t; // of an operation
    static constexpr Number kNoWriter = -1;

    // The two latest of: the writers of `registers`, and `also`.
    std::array<Number, 2> latest(std::uint64_t registers, Number also) const;
    Op* put(Op* out, Kind kind, const Executed& insn, std::uint64_t address, std::uint8_t latency,
            const std::array<Number, 2>& inputs);

    std::array<Number, kRegisters> writer_;
    Number next_ = 0;  // the next operation
    Number began_ = 0; // the first operation of the instruction
};

} // namespace core
