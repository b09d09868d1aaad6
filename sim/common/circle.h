// SPDX-License-Identifier: Apache-2.0
// A circular list of lines for a pointer chase. In C, because memo and microbench use it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Links the lines of `line` bytes from `at` on into one random cycle (Sattolo's algorithm): each
// holds the address of the next. `lines` is at least 1 and below 2^32. Returns false when memory
// runs out.
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
