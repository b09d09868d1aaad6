// SPDX-License-Identifier: Apache-2.0
// Shared by the entry points: the layout of the program's memory, and the calls into the filter.
//
// The captured program is a static executable at a fixed address. Its heap and its stack lie at
// addresses chosen here, so that address-space randomisation does not change a trace.
#pragma once

#include <cstddef>
#include <cstdint>

namespace capture {

struct Region {
    std::uint64_t base, bytes;
    bool holds(std::uint64_t address) const { return address - base < bytes; }
};

// 1 TiB apart, and far from where Linux puts an executable, its heap, libraries and stacks.
constexpr Region kProgramHeap{0x2000'0000'0000, 64ull << 30};
constexpr Region kRuntimeHeap{0x2100'0000'0000, 64ull << 30};
constexpr Region kProgramStack{0x2200'0000'0000, 64ull << 20};

// Reserves a region at its address, without its pages. On failure it prints one line on standard
// error and ends the process.
void reserve(const Region& region);

[[noreturn]] void fail(const char* what);

// True while the program itself runs. Its allocations and the runtime's have separate heaps, so
// that the size of the cache model does not shift the program's addresses.
extern bool program_runs;

void* allocate(std::size_t bytes, std::size_t alignment);

// An access and a function call of the program. Ignored before it starts, and on other threads.
void record_access(std::uintptr_t pc, const volatile void* address, std::size_t bytes, bool write);
void saw_call();

} // namespace capture
