// SPDX-License-Identifier: Apache-2.0
// The plugin's output files. They are mapped and shared, so that a killed program loses nothing and
// the command can watch the progress. sw-model/anemone/capture/program.py has the same layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace capture {

constexpr std::size_t kErrorBytes = 240;

// The first page of the file of rows. `instructions` and `threads` count the whole run, the other
// counts only the recorded part.
struct RunTotals {
    std::uint64_t phase; // as in filter.hpp
    std::uint64_t rows;
    std::uint64_t instructions, recorded_instructions;
    std::uint64_t threads;
    std::uint64_t loads, stores; // accesses by the program's instructions, one per line
    std::uint64_t prefetches_used, prefetches_unused, streamed_partial;
    std::uint64_t pages;
    std::uint64_t instruction_rows, operation_rows;
    std::uint64_t children; // forks, which are not traced
    std::uint64_t replaced; // 1: execve replaced the program; the new one is not traced
    std::uint64_t hold;     // set by the command: while it is set nothing is recorded
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

// An executed instruction and its memory operations, [first, first + n).
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

// Maps a sparse file of `bytes` bytes. Throws std::runtime_error.
void* map_file(const std::string& path, std::size_t bytes);

} // namespace capture
