// SPDX-License-Identifier: Apache-2.0
// A circle of lines for a pointer chase, in C for programs that need nothing else.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Put lines of `line` bytes from `at` on in one circle without a pattern (Sattolo), each with the
// address of the next. lines: at least 1, below 2^32. False: no memory to do it.
static inline bool circle_of_lines(char* at, size_t lines, size_t line) {
    uint32_t* order = malloc(lines * sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    uint64_t state = 1;
    for (size_t i = lines - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const size_t other = (size_t)(((state >> 32) * i) >> 32);
        const uint32_t swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    for (size_t i = 0; i < lines; i++)
        *(void**)(at + (size_t)order[i] * line) = at + (size_t)order[(i + 1) % lines] * line;
    free(order);
    return true;
}
