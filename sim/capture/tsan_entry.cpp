// SPDX-License-Identifier: Apache-2.0
// The entry points that code compiled with `-fsanitize=thread` calls at every load, store and
// atomic operation. They replace libtsan, which is not linked.
#include <cstddef>
#include <cstdint>

#include "runtime.hpp"

using capture::record_access;

namespace {
constexpr bool kRead = false, kWrite = true;
}

// The prefetcher identifies an instruction by its call site, which has one access.
#define PC reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

#define ACCESS(bytes)                                                                              \
    void __tsan_read##bytes(void* a) {                                                             \
        record_access(PC, a, bytes, kRead);                                                        \
    }                                                                                              \
    void __tsan_write##bytes(void* a) {                                                            \
        record_access(PC, a, bytes, kWrite);                                                       \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void* a) {                                                   \
        record_access(PC, a, bytes, kRead);                                                        \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void* a) {                                                  \
        record_access(PC, a, bytes, kWrite);                                                       \
    }                                                                                              \
    void __tsan_volatile_read##bytes(void* a) {                                                    \
        record_access(PC, a, bytes, kRead);                                                        \
    }                                                                                              \
    void __tsan_volatile_write##bytes(void* a) {                                                   \
        record_access(PC, a, bytes, kWrite);                                                       \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##bytes(void* a) {                                          \
        record_access(PC, a, bytes, kRead);                                                        \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##bytes(void* a) {                                         \
        record_access(PC, a, bytes, kWrite);                                                       \
    }

// A read-modify-write is a read and a write.
#define EXCHANGE(bits, T, name, operation)                                                         \
    T __tsan_atomic##bits##_##name(volatile T* a, T value, int) {                                  \
        record_access(PC, a, sizeof(T), kRead);                                                    \
        record_access(PC, a, sizeof(T), kWrite);                                                   \
        return operation(a, value, __ATOMIC_SEQ_CST);                                              \
    }

#define COMPARE(bits, T, name, weak)                                                               \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile T* a, T* expected, T desired, int,  \
                                                      int) {                                       \
        record_access(PC, a, sizeof(T), kRead);                                                    \
        const bool done = __atomic_compare_exchange_n(a, expected, desired, weak,                  \
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
        if (done)                                                                                  \
            record_access(PC, a, sizeof(T), kWrite);                                               \
        return done;                                                                               \
    }

#define ATOMIC(bits, T)                                                                            \
    T __tsan_atomic##bits##_load(const volatile T* a, int) {                                       \
        record_access(PC, a, sizeof(T), kRead);                                                    \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile T* a, T value, int) {                                \
        record_access(PC, a, sizeof(T), kWrite);                                                   \
        __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    EXCHANGE(bits, T, exchange, __atomic_exchange_n)                                               \
    EXCHANGE(bits, T, fetch_add, __atomic_fetch_add)                                               \
    EXCHANGE(bits, T, fetch_sub, __atomic_fetch_sub)                                               \
    EXCHANGE(bits, T, fetch_and, __atomic_fetch_and)                                               \
    EXCHANGE(bits, T, fetch_or, __atomic_fetch_or)                                                 \
    EXCHANGE(bits, T, fetch_xor, __atomic_fetch_xor)                                               \
    EXCHANGE(bits, T, fetch_nand, __atomic_fetch_nand)                                             \
    COMPARE(bits, T, strong, false)                                                                \
    COMPARE(bits, T, weak, true)                                                                   \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T* a, T expected, T desired, int, int) { \
        record_access(PC, a, sizeof(T), kRead);                                                    \
        const bool done = __atomic_compare_exchange_n(a, &expected, desired, false,                \
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
        if (done)                                                                                  \
            record_access(PC, a, sizeof(T), kWrite);                                               \
        return expected;                                                                           \
    }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {
    capture::saw_call();
}
void __tsan_func_exit() {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void* a, std::size_t bytes) {
    record_access(PC, a, bytes, kRead);
}
void __tsan_write_range(void* a, std::size_t bytes) {
    record_access(PC, a, bytes, kWrite);
}

void __tsan_vptr_read(void** a) {
    record_access(PC, a, sizeof *a, kRead);
}
void __tsan_vptr_update(void** a, void*) {
    record_access(PC, a, sizeof *a, kWrite);
}

ATOMIC(8, std::uint8_t)
ATOMIC(16, std::uint16_t)
ATOMIC(32, std::uint32_t)
ATOMIC(64, std::uint64_t)
// 16-byte atomics would need libatomic, and no captured program uses them.

void __tsan_atomic_thread_fence(int) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}
}
