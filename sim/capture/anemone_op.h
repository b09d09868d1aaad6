/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that includes this and says where a request begins and ends has, under
 * `anemone capture -- PROGRAM`, the request's number beside each of its accesses (the column op).
 * Without a capture the two functions do nothing: a store to the stack and a no-operation.
 */
#ifndef ANEMONE_OP_H
#define ANEMONE_OP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread works on the request of this number, 1 or more, until it begins another one or
 * ends this one. Any thread may: a request that several work on is one request. The capture finds
 * the number where the store before the no-operation put it. */
static inline void anemone_op_begin(uint64_t number) {
    uint64_t kept;
    __asm__ __volatile__("movq %1, %0\n\tnopl 0x27e10001(%%rax)"
                         : "=m"(kept)
                         : "r"(number)
                         : "memory");
}

/* What the calling thread does from here on belongs to no request. */
static inline void anemone_op_end(void) {
    __asm__ __volatile__("nopl 0x27e10002(%%rax)" ::: "memory");
}

#ifdef __cplusplus
}
#endif
#endif
