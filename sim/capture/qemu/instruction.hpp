// SPDX-License-Identifier: Apache-2.0
// A decoded instruction. Each is decoded once, when QEMU translates it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace capture {

// Sets of registers, one bit each. A part of a register counts as the whole register.
constexpr unsigned kVectorBit = 16; // 0 to 15: rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15
constexpr unsigned kFlagsBit = 32;  // 16 to 31: vector registers 0 to 15
constexpr unsigned kX87Bit = 33;    // all x87 and MMX registers
constexpr unsigned kRegisters = 34;
constexpr std::uint64_t kRsp = 1u << 4;

// Begin and end of a request (anemone_op.h), and the marks of MPI's tracer (sim/mpi/marks.h).
enum class Mark : std::uint8_t { none, begin, end, mpi_traced, mpi_enters, mpi_leaves, mpi_ends };

struct Instruction {
    std::uint64_t pc;
    // Registers that form its memory addresses, registers that it reads otherwise, and registers
    // that it writes. A partial or conditional write also reads the old value.
    std::uint64_t address, reads, writes;
    std::uint16_t index; // in its block
    std::uint8_t bytes;
    Mark mark;
    bool branch;
    bool string;       // movs, stos, ...: the registers it writes are pointers and a count
    bool repeated;     // has a rep prefix
    bool loads;        // reads memory
    bool non_temporal; // its stores bypass the cache
    bool fence;        // orders earlier stores: fences and locked instructions

    // For the flow of loaded values. The stack pointer never holds a loaded value. A string
    // instruction advances its pointers; they depend on the same load as before.
    std::uint64_t flows_from() const { return reads & ~kNoFlow; }
    std::uint64_t flows_to() const { return string ? 0 : writes & ~kNoFlow; }

private:
    static constexpr std::uint64_t kNoFlow = kRsp | 1ull << kFlagsBit;
};

// QEMU's translation block: consecutive instructions, entered at the first.
struct Block {
    std::vector<Instruction> instructions;
    bool repeated; // one repeated string instruction; QEMU enters the block for each step
};

Instruction decode(const void* code, std::size_t bytes, std::uint64_t pc);

} // namespace capture
