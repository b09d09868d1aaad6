// SPDX-License-Identifier: Apache-2.0
// What the plugin leaves behind: files that are mapped and shared, so that a program that is killed
// loses nothing and the command can watch how far it is. sw-model/anemone/capture/program.py reads
// them with the same layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace capture {

constexpr std::size_t kErrorBytes = 240;

// The first page of the file of rows. Counts are of what was recorded, `instructions` and `threads`
// of all that ran.
struct RunTotals {
    std::uint64_t phase; // as in filter.hpp
    std::uint64_t rows;
    std::uint64_t instructions, recorded_instructions;
    std::uint64_t threads;
    std::uint64_t loads, stores; // by the programs' instructions, a line each
    std::uint64_t prefetches_used, prefetches_unused, streamed_partial;
    std::uint64_t pages;
    std::uint64_t instruction_rows, operation_rows;
    std::uint64_t children; // forks, which are not traced
    std::uint64_t replaced; // 1: it executed another program in its place, which is not traced
    std::uint64_t hold;     // the command's: while it is set nothing is recorded
    char error[kErrorBytes];
};
constexpr std::size_t kFirstRow = 4096;
static_assert(sizeof(RunTotals) <= kFirstRow, "one page");

// A line that moved.
struct Row {
    std::uint64_t address, time_ns;
    double gap_ns;
    std::uint64_t op;
    std::uint16_t thread;
    std::uint8_t kind, dep;
    std::uint32_t unused;
};
static_assert(sizeof(Row) == 40, "as the command reads it");

// An instruction that was executed, and what it did with memory: operations [first, first + n).
struct InstructionRow {
    std::uint64_t pc, address_registers, reads, writes, first;
    std::uint32_t n;
    std::uint16_t thread;
    std::uint8_t bytes, branch;
};
static_assert(sizeof(InstructionRow) == 48, "as the command reads it");

struct Operation {
    std::uint64_t address;
    std::uint32_t bytes, store;
};
static_assert(sizeof(Operation) == 16, "as the command reads it");

// A file of `bytes` bytes, mapped; holes take no space. Throws std::runtime_error.
void* map_file(const std::string& path, std::size_t bytes);

} // namespace capture
