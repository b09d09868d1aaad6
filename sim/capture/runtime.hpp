// SPDX-License-Identifier: Apache-2.0
// What the entry points share: where the program's memory lies, and the way into the filter.
//
// The captured program is one static, fixed-address executable. Its heap and its stack lie at
// addresses chosen here, so that address-space randomisation has no part in a trace.
#pragma once

#include <cstddef>
#include <cstdint>

namespace capture {

struct Region {
    std::uint64_t base, bytes;
    bool holds(std::uint64_t address) const { return address - base < bytes; }
};

// 1 TiB apart and far from where Linux puts an executable, its break, libraries or stacks.
constexpr Region kProgramHeap{0x2000'0000'0000, 64ull << 30};
constexpr Region kRuntimeHeap{0x2100'0000'0000, 64ull << 30};
constexpr Region kProgramStack{0x2200'0000'0000, 64ull << 20};

// Reserves a region at its address (pages come when touched). Ends the process with one line on
// standard error when it cannot.
void reserve(const Region& region);

[[noreturn]] void fail(const char* what);

// True while the program itself runs: an allocation then comes from its heap, else from the
// runtime's own, so that the size of a cache model does not shift the program's addresses.
extern bool program_runs;

void* allocate(std::size_t bytes, std::size_t alignment);

// The program did this. Ignored on any thread but the program's own, and before it has started.
void saw(std::uintptr_t pc, const volatile void* address, std::size_t bytes, bool write);
void saw_call();

} // namespace capture
