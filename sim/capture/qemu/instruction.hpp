// SPDX-License-Identifier: Apache-2.0
// What the bytes of an instruction say of it, found once, when QEMU translates it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace capture {

// Sets of registers, one bit each: a part of a register counts as the whole of it.
constexpr unsigned kVectorBit = 16; // 0 to 15: rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15
constexpr unsigned kFlagsBit = 32;  // 16 to 31: vector registers 0 to 15
constexpr unsigned kX87Bit = 33;    // x87 and MMX, all in one
constexpr unsigned kRegisters = 34;
constexpr std::uint64_t kRsp = 1u << 4;

// A request's begin and end (anemone_op.h); what MPI's tracer says (sim/mpi/marks.h).
enum class Mark : std::uint8_t { none, begin, end, mpi_traced, mpi_enters, mpi_leaves, mpi_ends };

struct Instruction {
    std::uint64_t pc;
    // Registers that make its memory addresses; that it reads otherwise (the old value, too, where
    // it writes a part of a register or on a condition); that it writes.
    std::uint64_t address, reads, writes;
    std::uint16_t index; // in its block
    std::uint8_t bytes;
    Mark mark;
    bool branch;
    bool string;   // movs, stos, ...: what it writes are pointers and a count, not what it loads
    bool repeated; // with a rep prefix
    bool loads;    // memory, to a register or to memory
    bool non_temporal; // its stores go past the cache
    bool fence;        // stores before it are done: fences, and locked instructions

    // For the flow of loaded values. The stack pointer never holds one; an address that a string
    // instruction moves on stays what it was.
    std::uint64_t flows_from() const { return reads & ~kNoFlow; }
    std::uint64_t flows_to() const { return string ? 0 : writes & ~kNoFlow; }

private:
    static constexpr std::uint64_t kNoFlow = kRsp | 1ull << kFlagsBit;
};

// What QEMU translates at once: instructions one behind the other, entered at the first.
struct Block {
    std::vector<Instruction> instructions;
    bool repeated; // it is one repeated string instruction, and entered again for each step of it
};

// Reads one instruction of 64-bit code.
Instruction decode(const void* code, std::size_t bytes, std::uint64_t pc);

} // namespace capture
