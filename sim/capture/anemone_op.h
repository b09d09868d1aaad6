/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks where a program's requests begin and end. `anemone capture -- PROGRAM` then writes the
 * request's number with each access (column op). Without a capture the marks cost a store to the
 * stack and a no-operation.
 */
#ifndef ANEMONE_OP_H
#define ANEMONE_OP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread works on request `number` (1 or more) until it begins another one or ends this
 * one. Several threads may work on one request. The capture reads the number from the address of
 * the last store before the no-operation. */
static inline void anemone_op_begin(uint64_t number) {
    uint64_t kept;
    __asm__ __volatile__("movq %1, %0\n\tnopl 0x27e10001(%%rax)"
                         : "=m"(kept)
                         : "r"(number)
                         : "memory");
}

/* The calling thread works on no request from here on. */
static inline void anemone_op_end(void) {
    __asm__ __volatile__("nopl 0x27e10002(%%rax)" ::: "memory");
}

#ifdef __cplusplus
}
#endif
#endif
