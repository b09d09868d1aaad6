// SPDX-License-Identifier: Apache-2.0
// Marks from the tracer to a capture of the program's loads (sim/capture/qemu/loads.cpp). A mark is
// a no-operation that the capture recognises by its displacement; a mark with a value stores it
// just before. Without a capture a mark costs a store and a no-operation.
#ifndef ANEMONE_MPI_MARKS_H
#define ANEMONE_MPI_MARKS_H

#include <stdint.h>

#ifdef __x86_64__
#define ANEMONE_MARK(displacement) __asm__ __volatile__("nopl " displacement "(%%rax)" ::: "memory")
#define ANEMONE_MARK_VALUE(displacement, value)                                                    \
    do {                                                                                           \
        uint64_t kept_;                                                                            \
        __asm__ __volatile__("movq %1, %0\n\tnopl " displacement "(%%rax)"                         \
                             : "=m"(kept_)                                                         \
                             : "r"((uint64_t)(value))                                              \
                             : "memory");                                                          \
    } while (0)
#else // captures need x86-64
#define ANEMONE_MARK(displacement)
#define ANEMONE_MARK_VALUE(displacement, value) ((void)(value))
#endif

// The trace of the rank starts.
#define MARK_TRACED(rank) ANEMONE_MARK_VALUE("0x27e10003", rank)
// The thread enters MPI; it returns, and the rank has this many complete records.
#define MARK_ENTERS() ANEMONE_MARK("0x27e10004")
#define MARK_LEAVES(records) ANEMONE_MARK_VALUE("0x27e10005", records)
#define MARK_ENDS() ANEMONE_MARK("0x27e10006")

#endif
