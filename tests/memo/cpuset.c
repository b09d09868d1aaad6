// SPDX-License-Identifier: Apache-2.0
// Prints which of the nodes 0 to 99 memo measures in a cpuset with the memory of nodes 0 and 65.
#include <stdarg.h>
#include <unistd.h>

static long stand_in(long number, ...);
#define syscall stand_in
#include "memory.c"

static long stand_in(long number, ...) {
    va_list words;
    va_start(words, number);
    va_arg(words, void*);
    unsigned long* mask = va_arg(words, unsigned long*);
    mask[0] = 1, mask[1] = 2;
    va_end(words);
    return 0;
}

int main(void) {
    for (int node = 0; node < 100; node++)
        if (allowed(node))
            printf("%d\n", node);
    return 0;
}
