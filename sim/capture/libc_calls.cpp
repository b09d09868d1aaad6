// SPDX-License-Identifier: Apache-2.0
// Instrumented wrappers of libc functions that read and write a program's memory. Calls in
// instrumented objects are redirected to them (redirect.syms); libc's internal calls are not.
#include <cstdint>
#include <cstring>

#include "filter.hpp"
#include "runtime.hpp"

using capture::record_access;

namespace {

constexpr bool kRead = false, kWrite = true;

// A copy alternates a load and a store of 64 bytes, from two instructions of the copy loop. Source
// and destination may be aligned differently; the filter splits each side at its line boundaries.
void saw_copy(std::uintptr_t pc, const void* to, const void* from, std::size_t bytes, bool down) {
    constexpr std::size_t kStep = capture::kLineBytes;
    const auto* source = static_cast<const char*>(from);
    const auto* target = static_cast<const char*>(to);
    const std::size_t steps = (bytes + kStep - 1) / kStep;
    for (std::size_t i = 0; i < steps; i++) {
        const std::size_t at = (down ? steps - 1 - i : i) * kStep;
        const std::size_t n = bytes - at < kStep ? bytes - at : kStep;
        record_access(pc, source + at, n, kRead);
        record_access(pc + 1, target + at, n, kWrite);
    }
}

} // namespace

#define PC reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

extern "C" {

void* anemone_memcpy(void* to, const void* from, std::size_t bytes) {
    saw_copy(PC, to, from, bytes, false);
    return std::memcpy(to, from, bytes);
}

void* anemone_memmove(void* to, const void* from, std::size_t bytes) {
    // Downwards when the destination overlaps the end of the source, as libc does.
    const auto ahead =
        reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
    saw_copy(PC, to, from, bytes, ahead < bytes);
    return std::memmove(to, from, bytes);
}

void* anemone_memset(void* to, int value, std::size_t bytes) {
    record_access(PC, to, bytes, kWrite);
    return std::memset(to, value, bytes);
}

// Comparisons and searches read only up to the byte that decides the result.
int anemone_memcmp(const void* a, const void* b, std::size_t bytes) {
    const auto* x = static_cast<const unsigned char*>(a);
    const auto* y = static_cast<const unsigned char*>(b);
    std::size_t n = 0;
    while (n < bytes && x[n] == y[n])
        n++;
    const std::size_t seen = n < bytes ? n + 1 : n;
    record_access(PC, a, seen, kRead);
    record_access(PC + 1, b, seen, kRead);
    return n < bytes ? x[n] - y[n] : 0;
}

void* anemone_memchr(const void* a, int c, std::size_t bytes) {
    void* found = const_cast<void*>(std::memchr(a, c, bytes));
    const auto* start = static_cast<const char*>(a);
    record_access(PC, a, found ? std::size_t(static_cast<char*>(found) - start) + 1 : bytes, kRead);
    return found;
}

std::size_t anemone_strlen(const char* a) {
    const std::size_t n = std::strlen(a);
    record_access(PC, a, n + 1, kRead);
    return n;
}

int anemone_strncmp(const char* a, const char* b, std::size_t bytes) {
    std::size_t n = 0;
    while (n < bytes && a[n] == b[n] && a[n] != 0)
        n++;
    const std::size_t seen = n < bytes ? n + 1 : n;
    record_access(PC, a, seen, kRead);
    record_access(PC + 1, b, seen, kRead);
    return n < bytes ? static_cast<unsigned char>(a[n]) - static_cast<unsigned char>(b[n]) : 0;
}

int anemone_strcmp(const char* a, const char* b) {
    return anemone_strncmp(a, b, SIZE_MAX);
}
}
